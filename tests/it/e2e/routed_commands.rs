//! Profiles in commands, the circuit breaker of routing, and `hob agent routing`.

use std::time::Duration;

use hob_domain::{ChosenBy, FailedLoads, RouteChoice};
use hob_forge::Access;
use serde_json::Value;

use crate::harness::{Builder, World, run};

/// A profile that the router finds, and its keywords.
const DNS: &str = "---
name: dns
description: DNS zones, records, resolvers and nameservers
hob:
  match:
    labels: [dns]
    words: [nameserver, resolver, zone file, CNAME, MX record]
---
Look at the zone first.
";
const TITLE: &str = "DNS: the resolver does not find our CNAME and MX record";
const BODY: &str = "Since the nameserver was moved, the zone file has stale records:\n\n- `www` has a CNAME that no resolver \
    finds\n- the MX record of `mail.example.org` is gone\n- the TTL of the zone is a week\n- the secondary nameserver still has \
    the old zone\n\n```\n;; SERVFAIL for www.example.org\n```\n\nPlease correct `zones/example.org.zone` and \
    `zones/internal.zone`, review the DNS records of both zones, and write down how the nameserver is migrated.";

fn world() -> Builder {
    World::with_agent("echo done > done.txt").file(".github/agents/dns.md", DNS)
}

/// A person asks for work on DNS.
async fn asks(world: &World) -> u64 {
    world.opens("ann", TITLE, BODY, &["code", "dns"]).await
}

async fn route(world: &World, issue: u64) -> Option<RouteChoice> {
    world.record(issue).await.unwrap().route
}

/// The agents or profiles that worked so far, in order.
async fn worked(world: &World, issue: u64) -> Vec<String> {
    let history = world.history(issue).await;
    let started = history.iter().filter_map(|line| line.strip_prefix("the agent `")?.split_once('`'));
    started.map(|(agent, _)| agent.to_owned()).collect()
}

/// Hob's replies on an issue.
async fn replies(world: &World, issue: u64) -> Vec<String> {
    let said = world.said(issue).await.into_iter().map(|said| said.text);
    said.filter(|text| text.starts_with("<!-- hob:reply ")).collect()
}

async fn overview(world: &World) -> Value {
    let ended = world.hob(&["agent", "routing", "--json"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    ended.objects().pop().unwrap()["result"].clone()
}

#[tokio::test]
async fn a_command_chooses_a_profile_wherever_it_comes_from() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ours.md"), "---\nname: ours\ndescription: Ours\n---\nBe brief.").unwrap();
    let world = world()
        .file(".claude/agents/zone.agent.md", "---\ndescription: Zones\n---\nCount the zones.")
        .file(".claude/agents/named.md", "---\nname: other\ndescription: By another name\n---\nx")
        .file(".github/agents/damaged.md", "---\nname: damaged\nhob: {limits: 3}\n---\nx")
        .set("profiles.folder", &folder.path().display().to_string())
        .start()
        .await;
    for name in ["dns", "zone", "ours", "writer"] {
        let issue = world.asks("Make done.txt", "").await;
        world.comments("ann", issue, &format!("/hob agent {name}")).await;
        world.run().await;
        assert_eq!(replies(&world, issue).await, Vec::<String>::new(), "{name}");
        assert_eq!(worked(&world, issue).await, [name], "{:?}", world.failures());
        let choice = route(&world, issue).await.unwrap();
        assert_eq!((choice.by, choice.profile.unwrap().as_str()), (ChosenBy::Command, name));
    }
    let issue = world.asks("Make done.txt", "").await;
    for (name, offered) in [("zoen", "there are `zone`, `"), ("named", "`writer`"), ("../dns", "`dns`")] {
        world.comments("ann", issue, &format!("/hob agent {name}")).await;
        world.run().await;
        let said = replies(&world, issue).await.pop().unwrap_or_default();
        assert!(
            said.contains(&format!("`{name}` is neither an agent nor a profile here: there are `")),
            "{name}: {said}"
        );
        assert!(said.contains(offered), "{name}: {said}");
    }
    world.comments("ann", issue, "/hob agent damaged").await;
    world.run().await;
    let said = replies(&world, issue).await.pop().unwrap_or_default();
    let fault =
        "The profile `damaged` is damaged: .github/agents/damaged.md cannot be used: line 3: `limits` is not a map";
    assert!(said.contains(fault), "{said}");
    assert_eq!(worked(&world, issue).await, ["fixer"], "it was worked on without any of them");
    world.finish().await;
}

/// Requirement M4: "Load X agent" in an answer or a review chooses as `/hob agent` does, if X exists. The newest one
/// counts.
#[tokio::test]
async fn plain_words_of_authorized_people_choose_a_profile() {
    let script = r#"case $n in
        0) echo '{"outcome":"question","question":"Which zone?"}' ;;
        *) echo "$n" > done.txt; echo '{"outcome":"done","summary":"Set it up."}' ;;
    esac"#;
    // The router alone is never sure enough.
    let world = World::with_agent(script)
        .file(".github/agents/dns.md", DNS)
        .set("testing.routing.confidence", "1")
        .start()
        .await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    world.comments("out", issue, "Switch to writer").await;
    world.comments("ann", issue, "The internal one.\n\nLoad the DNS agent, please.\nUse the sales profile.").await;
    world.run().await;
    assert_eq!(worked(&world, issue).await, ["fixer"; 2], "there is no `sales`: {:?}", world.failures());
    let pull = world.pull().await["number"].as_u64().unwrap();
    let review = async |words: &str| {
        world.forge.advance(Duration::from_secs(2));
        let review = serde_json::json!({"event": "REQUEST_CHANGES", "body": words});
        world.call("ann", http::Method::POST, &format!("/pulls/{pull}/reviews"), review).await;
        world.run().await;
    };
    review("Load the DNS agent.\n\nCount the zones, too.").await;
    let choice = route(&world, issue).await.unwrap();
    assert_eq!((choice.by, choice.profile.unwrap().as_str()), (ChosenBy::Command, "dns"));
    let history = world.history(issue).await;
    assert!(history.iter().any(|line| line == "ann chose the agent `dns`"), "{history:?}");
    review("Switch to writer").await;
    let brief = world.briefs(issue).pop().unwrap();
    assert!(
        brief.contains("The profile `dns` worked on this before you") && brief.contains("Done: Set it up."),
        "{brief}"
    );
    world.forge.advance(Duration::from_secs(2));
    world.comments("ann", pull, "/hob agent fixer").await;
    world.run().await;
    review("Count them once more.").await;
    assert_eq!(worked(&world, issue).await, ["fixer", "fixer", "dns", "writer", "fixer"], "{:?}", world.failures());
    world.finish().await;
}

#[tokio::test]
async fn the_forge_is_asked_for_profiles_only_where_a_command_names_an_unknown_one() {
    let world = world().start().await;
    let looks = |world: &World| {
        let requests = world.forge.requests();
        requests.iter().filter(|request| request.path.contains("/contents/.github/agents")).count()
    };
    let issue = world.asks("Make done.txt", "").await;
    for name in ["fixer", "claude", "writer"] {
        world.comments("ann", issue, &format!("/hob agent {name}")).await;
    }
    world.comments("ann", issue, "/hob agent fixer").await;
    world.run().await;
    assert_eq!(looks(&world), 0, "{:?}", world.failures());
    world.comments("ann", issue, "/hob agent dns").await;
    world.run().await;
    assert_eq!(looks(&world), 2, "the folder, and the file in it");
    world.finish().await;
}

/// Rows M5 and M6.
#[tokio::test]
async fn three_failed_loads_turn_routing_off_for_all_workers_and_it_comes_back_by_itself() {
    let world = world().start().await;
    let mut broken = world.settings.clone();
    broken.profiles.folder = "/no/such/folder".to_owned();
    let mut issues = Vec::new();
    for (name, settings) in [("w1", &broken), ("w2", &broken), ("w1", &broken)] {
        let before = world.repository_record().await.map(|record| record.failed_loads).unwrap_or_default();
        assert_eq!(before.off_until(world.forge.now()), None);
        issues.push(asks(&world).await);
        let worker = world.worker_with(name, settings.clone(), Access::ReadWrite).await;
        assert_eq!(run(&worker).await.worked, 1, "{:?}", world.failures());
    }
    for issue in &issues {
        assert_eq!(worked(&world, *issue).await, ["dns"], "what could be read is used");
    }
    let until = world.repository_record().await.unwrap().failed_loads.off_until(world.forge.now()).unwrap();
    // A worker that could read all of them does without, too.
    let off = asks(&world).await;
    world.run().await;
    assert_eq!((worked(&world, off).await, route(&world, off).await), (vec!["fixer".to_owned()], None));
    let chosen = asks(&world).await;
    world.comments("ann", chosen, "/hob agent dns").await;
    world.run().await;
    assert_eq!(worked(&world, chosen).await, ["dns"], "a person's word counts all the same");
    let says = format!("routing is off until {}", until.format("%Y-%m-%d %H:%M:%S UTC"));
    let shown = world.hob(&["status"]).await.stdout;
    assert!(shown.contains(&says), "{shown}");
    let status: Value = world.hob(&["status", "--json"]).await.objects().pop().unwrap();
    assert!(status["result"]["repositories"][0]["routing_off_until"].is_string(), "{status}");
    let doctor = world.hob(&["doctor"]).await;
    assert!(doctor.stdout.contains(&format!("note routing      {says}")), "{doctor:?}");
    world.forge.advance(Duration::from_secs(600));
    let back = asks(&world).await;
    world.run().await;
    assert_eq!(worked(&world, back).await, ["dns"], "{:?}", world.failures());
    assert_eq!(world.repository_record().await.unwrap().failed_loads, FailedLoads::default());
    let shown = world.hob(&["status"]).await.stdout;
    assert!(!shown.contains("routing is off"), "{shown}");
    world.finish().await;
}

/// Row M5: a profile that the repository names and does not have.
#[tokio::test]
async fn a_profile_that_is_gone_is_a_failed_load_and_the_base_agent_works() {
    let world = World::with_agent("echo done > done.txt").file(".github/hob.toml", "agent = \"gone\"\n").start().await;
    for expected in [1, 2, 3, 3] {
        let issue = world.asks("Make done.txt", "").await;
        world.run().await;
        assert_eq!(worked(&world, issue).await, ["fixer"], "{:?}", world.failures());
        let loads = world.repository_record().await.unwrap().failed_loads;
        let times = serde_json::to_value(&loads).unwrap();
        assert_eq!(times.as_array().unwrap().len(), expected);
        assert_eq!(loads.off_until(world.forge.now()).is_some(), expected == 3);
    }
    world.finish().await;
}

/// Row M4.
#[tokio::test]
async fn overrides_are_counted_from_the_ledgers_of_closed_issues_too() {
    let world = world().start().await;
    let nothing = world.hob(&["agent", "routing"]).await;
    assert_eq!(
        (nothing.code, nothing.stdout.trim()),
        (0, "No issue was routed yet: the first attempt at an issue does that.")
    );
    assert_eq!(overview(&world).await["accuracy"], Value::Null);
    let (kept, changed, agent) = (asks(&world).await, asks(&world).await, asks(&world).await);
    let simple = world.asks("Make done.txt", "").await;
    while world.run().await.worked > 0 {}
    for (issue, name) in [(changed, "writer"), (agent, "fixer"), (simple, "dns")] {
        world.comments("ann", issue, &format!("/hob agent {name}")).await;
    }
    world.run().await;
    let pulls = world.pulls().await;
    for issue in [changed, agent, simple] {
        let of = |pull: &&Value| pull["head"]["ref"].as_str().unwrap().contains(&format!("/{issue}-"));
        let pull = pulls.iter().find(of).unwrap()["number"].as_u64().unwrap();
        world.comments("ann", pull, "/hob please write it once more").await;
    }
    while world.run().await.worked > 0 {}
    world.edits("ann", kept, serde_json::json!({"state": "closed"})).await;
    world.run().await;
    let found = overview(&world).await;
    let counts = ["routed", "overridden", "missed"].map(|field| found[field].as_u64().unwrap());
    assert_eq!(counts, [3, 2, 1], "{found}");
    assert!((found["accuracy"].as_f64().unwrap() - 1.0 / 3.0).abs() < 1e-9, "{found}");
    let said = serde_json::json!({"(none)": {"dns": 1}, "dns": {"(none)": 1, "dns": 1, "writer": 1}});
    assert_eq!(found["confusion"], said);
    let choices = found["choices"].as_array().unwrap();
    let of = |issue: u64| choices.iter().find(|choice| choice["issue"] == issue).unwrap();
    assert_eq!((&of(kept)["state"], &of(kept)["by"]), (&Value::from("done"), &Value::from("router")));
    assert_eq!((&of(changed)["profile"], &of(changed)["overridden"]), (&Value::from("writer"), &Value::from("dns")));
    let shown = world.hob(&["agent", "routing"]).await.stdout;
    assert!(shown.contains("instead of dns: `/hob agent` says so"), "{shown}");
    assert!(shown.contains("chose a profile for 3 issues, 33.3% of them were kept"), "{shown}");
    world.finish().await;
}
