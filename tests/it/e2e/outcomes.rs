//! `hob outcomes`: what came of the work, by the ledgers alone.

use hob_domain::{IssueNumber, OutcomeKind, Record, Spend, State};
use hob_worker::ledgers;
use http::Method;
use serde_json::{Value, json};

use crate::harness::{AT_THE_GATE, Ended, Gate, World, billed};

/// A world in which one pull request is merged, one is closed and one waits.
async fn merged_rejected_and_waiting() -> World {
    let script = format!("echo done > done.txt; {}", billed(r#""outcome":"done","summary":"Made it.""#));
    let world = World::with_agent(&script).check("test -f done.txt").start().await;
    for (title, labels) in
        [("First", vec!["code", "bug"]), ("Second", vec!["code"]), ("Third", vec!["code", "bug", "ui"])]
    {
        world.opens("ann", title, "", &labels).await;
    }
    world.run().await;
    let pulls = world.pulls().await;
    let pull_of = |issue: &str| pulls.iter().find(|pull| pull["title"] == issue).unwrap()["number"].as_u64().unwrap();
    world.forge.advance(std::time::Duration::from_secs(2 * 3_600));
    world.merges(pull_of("First")).await;
    world.call("ann", Method::PATCH, &format!("/pulls/{}", pull_of("Second")), json!({ "state": "closed" })).await;
    world.forge.advance(std::time::Duration::from_secs(60));
    world.run().await;
    world
}

#[tokio::test]
async fn one_is_merged_one_is_rejected_and_one_waits() {
    let world = merged_rejected_and_waiting().await;
    let shown = world.hob(&["outcomes"]).await;
    let says = "1 of 2 finished pull requests was merged (50%)";
    assert!(shown.code == 0 && shown.stdout.starts_with(says), "{shown:?} {:?}", world.failures());
    assert!(shown.stdout.contains("in 2 h at the median; 1 waits, for 2 h."), "{shown:?}");
    let row = shown.stdout.lines().last().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(row, "fixer 1 1 1 0 1 0.0 3 2 h $0.00 $0.00", "{}", shown.stdout);

    let told = world.hob(&["outcomes", "--by", "label", "--json"]).await.result();
    let total = &told["total"];
    let counts = ["issues", "pull_requests", "merged", "rejected", "waiting", "zero_touch"].map(|name| &total[name]);
    assert_eq!(counts, [3, 3, 1, 1, 1, 1].map(|count: u64| json!(count)).each_ref());
    assert_eq!((&total["spend"]["usd_micros"], &total["usd_per_merged"]), (&json!(3), &json!(3e-6)));
    let of = |name: Value| {
        let groups = told["groups"].as_array().unwrap();
        groups.iter().find(|group| group["name"] == name).unwrap_or_else(|| panic!("{name}: {told:#}")).clone()
    };
    assert_eq!((&of(json!("bug"))["issues"], &of(json!("ui"))["waiting"]), (&json!(2), &json!(1)));
    assert_eq!(of(Value::Null)["rejected"], 1);
    let kinds: Vec<_> = told["issues"].as_array().unwrap().iter().map(|one| one["outcome"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["merged", "rejected", "waiting"]);

    let csv = world.hob(&["outcomes", "--csv"]).await.stdout;
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 4, "{csv}");
    let cells = lines[0].split(',').count();
    assert!(lines.iter().all(|line| line.split(',').count() == cells), "{csv}");
    assert!(
        lines[1].starts_with("\"acme/site\",1,merged,") && lines[1].contains(",\"fixer\",\"\",\"\",\"bug\","),
        "{csv}"
    );
    world.finish().await;
}

/// What the command tells programs of work with a quote.
pub(super) async fn tells() -> Ended {
    let world = merged_rejected_and_waiting().await;
    let like: Vec<Value> = (11..=15).map(|issue| json!([issue, null, 0, 1_000_000])).collect();
    let route = world.record(1).await.unwrap().route;
    let kind = |mut bill: Value| {
        if let Some(route) = &route {
            (bill[1], bill[2]) = (json!(route.profile), json!(route.complexity));
        }
        bill
    };
    world.writes_record("ann", "bills", &like.into_iter().map(kind).collect()).await;
    world.asks("First", "").await;
    world.run().await;
    let told = world.hob(&["outcomes", "--json"]).await;
    world.finish().await;
    told
}

#[tokio::test]
async fn a_repository_without_work_has_no_outcomes() {
    let world = World::fixing().start().await;
    let shown = world.hob(&["outcomes"]).await;
    assert_eq!((shown.code, shown.stdout.as_str()), (0, "No attempt at an issue has begun yet.\n"), "{shown:?}");
    world.finish().await;
}

/// Once five like issues have their bills, the next one has a quote before its agent runs, and afterwards it is judged.
#[tokio::test]
async fn a_quote_comes_before_the_work_and_is_judged_by_the_bill() {
    let works = r#"echo done > done-$HOB_ISSUE.txt; echo '{"outcome":"done","summary":"Made it.","usd":1.2}'"#;
    let script = format!("if test -e {{DIR}}/closed; then {AT_THE_GATE}fi; {works}");
    let world = World::with_agent(&script).check("true").start().await;
    let mut gate = Gate::of(&world);
    for _ in 0..4 {
        world.asks("Make done.txt", "").await;
    }
    world.run().await;
    let fifth = world.asks("Make done.txt", "").await;
    let explained = async |issue: u64| world.hob(&["explain", &issue.to_string()]).await.stdout;
    let said = explained(fifth).await;
    assert!(said.contains("cost      cap $5.00\n"), "{said}");
    world.run().await;
    assert_eq!(world.record(fifth).await.unwrap().work.quote, None, "four were known");

    let sixth = world.asks("Make done.txt", "").await;
    let says = "probably $1.20–1.20 (8 in 10 of 5 similar issues); cap $5.00";
    let said = explained(sixth).await;
    assert!(said.contains(&format!("cost      {says}\n")), "{said}");
    std::fs::write(world.dir().join("closed"), "").unwrap();
    let (_, status) = tokio::join!(world.run(), async {
        gate.reached().await;
        let status = world.status(sixth).await;
        gate.open().await;
        status
    });
    assert!(status.contains(&format!("cost: {says}")), "{status}");
    let quote = world.record(sixth).await.unwrap().work.quote.unwrap();
    assert_eq!((quote.low, quote.high, quote.of), (1_200_000, 1_200_000, 5), "{:?}", world.failures());
    let judged = async || {
        let total = world.hob(&["outcomes", "--json"]).await.result()["total"].clone();
        [total["quoted"].clone(), total["within_quote"].clone()]
    };
    assert_eq!(judged().await, [0, 0].map(|count: u64| json!(count)), "its bill may grow");
    let pull = world.record(sixth).await.unwrap().pull.number.unwrap();
    world.merges(pull.0).await;
    world.run().await;
    assert_eq!(judged().await, [1, 1].map(|count: u64| json!(count)), "{:?}", world.failures());
    let shown = world.hob(&["outcomes"]).await.stdout;
    assert!(shown.ends_with("The bill was within the quote for 1 of 1 finished issues that had one.\n"), "{shown}");
    world.finish().await;
}

/// The counted calls of the bot to the API.
fn calls(world: &World) -> Vec<String> {
    let own = |login: Option<&str>| login == Some("hob");
    let made = world
        .forge
        .requests()
        .into_iter()
        .filter(|call| own(call.login.as_ref().map(|login| login.as_str())) && call.path.starts_with("/api/"));
    made.map(|call| format!("{} {}", call.method, call.path)).collect()
}

#[tokio::test]
async fn a_thousand_issues_take_three_calls() {
    let world = merged_rejected_and_waiting().await;
    let record = world.record(1).await.unwrap();
    let tree = world.look("/commits/main").await["commit"]["tree"]["sha"].clone();
    for number in 1_001..=1_997 {
        let spend = Spend { usd_micros: number, ..Spend::default() };
        let record = Record { issue: IssueNumber(number), spend, ..record.clone() };
        assert_eq!(record.state, State::Done);
        let commit = json!({ "message": record.to_message("finished").unwrap(), "tree": tree, "parents": [] });
        let commit = world.call("ann", Method::POST, "/git/commits", commit).await;
        let place = json!({ "ref": format!("refs/hob/issues/{number}"), "sha": commit["sha"] });
        world.call("ann", Method::POST, "/git/refs", place).await;
    }
    let before = calls(&world).len();
    let told = world.hob(&["outcomes", "--json"]).await.result();
    let made = calls(&world).split_off(before);
    assert_eq!((&told["total"]["issues"], &told["total"]["merged"]), (&json!(1_000), &json!(998)));
    assert!(made.len() <= 3, "{made:?}");
    world.leave();
}

#[tokio::test]
async fn a_ledger_that_cannot_be_read_is_named_and_hides_no_other() {
    let world = merged_rejected_and_waiting().await;
    let tree = world.look("/commits/main").await["commit"]["tree"]["sha"].clone();
    let commit = json!({ "message": "no record", "tree": tree, "parents": [] });
    let commit = world.call("ann", Method::POST, "/git/commits", commit).await;
    world.call("ann", Method::POST, "/git/refs", json!({ "ref": "refs/hob/issues/77", "sha": commit["sha"] })).await;
    let told = world.hob(&["outcomes", "--json"]).await.result();
    assert_eq!(told["total"]["issues"], 3);
    let bad = told["unreadable"][0].as_str().unwrap();
    assert!(bad.starts_with("the ledger of issue 77 of acme/site is left out: "), "{bad}");
    let reader = world.worker("w2").await;
    assert_eq!(ledgers(&reader).await.unwrap().unreadable.len(), 1);
    world.leave();
}

/// The record says when its pull request was opened and merged, whoever reads it later.
#[tokio::test]
async fn the_ledger_knows_when_it_was_opened_and_merged() {
    let world = merged_rejected_and_waiting().await;
    let record = world.record(1).await.unwrap();
    let (opened, merged) = (record.pull.opened_at.unwrap(), record.pull.merged_at.unwrap());
    assert!((merged - opened).num_hours() == 2, "{opened} {merged}");
    assert_eq!(record.trigger.unwrap().labels, ["bug"]);
    assert_eq!(hob_domain::IssueOutcome::of(&world.record(2).await.unwrap()).unwrap().kind, OutcomeKind::Rejected);
    world.finish().await;
}
