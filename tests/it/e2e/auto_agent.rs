//! `agent = "auto"`: what came of earlier work chooses the agent, without a call of its own, and a person's choice wins.

use serde_json::Value;

use crate::harness::{Builder, World};

/// An agent that makes a file and reports its cost in US dollars.
fn costing(usd: &str) -> String {
    format!(
        "echo done > work-$HOB_ISSUE.txt\n\
         echo '{{\"outcome\":\"done\",\"summary\":\"Did it.\",\"usd\":{usd},\"input_tokens\":100}}'"
    )
}

/// Two agents, of which the second one costs less.
fn two_agents() -> Builder {
    World::with_agent(&costing("2.0")).script("zed", &costing("0.5")).check("true")
}

/// Who worked on the issue, and why outcomes chose it.
async fn worked(world: &World, issue: u64) -> (String, Option<String>) {
    let work = world.record(issue).await.unwrap().work;
    (work.by.unwrap().agent, work.auto.map(|auto| auto.why))
}

async fn merged(world: &World, issue: u64) {
    let pull = world.record(issue).await.unwrap().pull.number.unwrap();
    world.merges(pull.0).await;
    world.run().await;
}

#[tokio::test]
async fn the_agent_whose_merges_cost_the_least_works_and_says_why() {
    let world = two_agents().set("agent", "auto").start().await;
    let first = world.asks("First", "Please.").await;
    world.run().await;
    let unknown = "no pull request of such issues was merged yet";
    assert_eq!(worked(&world, first).await, ("fixer".to_owned(), Some(unknown.to_owned())), "{:?}", world.failures());
    let status = world.status(first).await;
    assert!(status.contains(&format!("agent `fixer`, by outcomes: {unknown}")), "{status}");

    let second = world.opens("ann", "Second", "Please.", &["code", "agent:zed"]).await;
    world.run().await;
    assert_eq!(worked(&world, second).await, ("zed".to_owned(), None), "a person's choice wins");
    merged(&world, first).await;
    merged(&world, second).await;

    let third = world.asks("Third", "Please.").await;
    let why = "the least for a merged pull request, $0.50: 1 of 1 such issues";
    let explained = world.hob(&["explain", &third.to_string(), "--json"]).await.result();
    assert_eq!(explained["agent"], format!("`zed`, by outcomes: {why}"), "{explained:#}");
    world.run().await;
    assert_eq!(worked(&world, third).await, ("zed".to_owned(), Some(why.to_owned())));
    // Another process has only what it reads of the ledgers.
    let fourth = world.asks("Fourth", "Please.").await;
    let ran = world.hob(&["run", "--once"]).await;
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("outcomes choose the agent `zed`"), "{ran:?}");
    let (agent, why) = worked(&world, fourth).await;
    assert_eq!(agent, "zed");
    assert!(why.unwrap().ends_with("1 of 2 such issues"), "one waits for its merge");

    let routing = world.hob(&["agent", "routing", "--json"]).await.result();
    let choices = routing["choices"].as_array().unwrap();
    let of = |issue: u64| choices.iter().find(|one| one["issue"] == issue).map(|one| one["auto"]["agent"].clone());
    // Where a person named the agent, nothing was routed.
    assert_eq!([first, second, third].map(of), [Some(Value::from("fixer")), None, Some(Value::from("zed"))]);
    let table = world.hob(&["agent", "routing"]).await.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(table.contains("; agent zed: the least for a merged pull request, $0.50"), "{table}");
    world.finish().await;
}

#[tokio::test]
async fn the_flag_wins_the_repository_may_say_auto_and_it_costs_no_call() {
    let mut requests = Vec::new();
    for (of_process, file) in
        [("fixer", "checks = ['true']"), ("auto", "checks = ['true']"), ("fixer", "agent = 'auto'\nchecks = ['true']")]
    {
        let world = two_agents().file(".github/hob.toml", file).set("agent", of_process).start().await;
        let issue = world.asks("First", "Please.").await;
        let before = world.forge.requests().len();
        world.run().await;
        requests.push(world.forge.requests().len() - before);
        let (agent, why) = worked(&world, issue).await;
        assert_eq!((agent.as_str(), why.is_some()), ("fixer", requests.len() > 1), "{of_process} {file}");
        let named = world.asks("Second", "Please.").await;
        assert_eq!(world.hob(&["run", "--once", "--agent", "zed"]).await.code, 0);
        assert_eq!(worked(&world, named).await, ("zed".to_owned(), None));
        let doctor = world.hob(&["doctor"]).await;
        assert!(doctor.stdout.contains("`fixer` is ready"), "{doctor:?}");
        world.finish().await;
    }
    assert_eq!(requests, [requests[0]; 3]);
}

#[tokio::test]
async fn a_later_attempt_stays_with_the_agent_that_was_chosen() {
    let asks = r#"[ $n = 0 ] && [ $HOB_ISSUE = 1 ] && echo '{"outcome":"question","question":"Which?"}' && exit"#;
    let asking = format!("{asks}\n{}", costing("2.0"));
    let world = two_agents().script("fixer", &asking).set("agent", "auto").start().await;
    let first = world.asks("First", "Please.").await;
    world.run().await;
    let second = world.opens("ann", "Second", "Please.", &["code", "agent:zed"]).await;
    world.run().await;
    merged(&world, second).await;
    world.comments("ann", first, "The green one.").await;
    world.run().await;
    assert_eq!(worked(&world, first).await.0, "fixer", "{:?}", world.failures());
    assert!(world.record(first).await.unwrap().pull.number.is_some(), "{:?}", world.history(first).await);
    let third = world.asks("Third", "Please.").await;
    world.run().await;
    assert_eq!(worked(&world, third).await.0, "zed");
    world.finish().await;
}
