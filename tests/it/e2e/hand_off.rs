//! Rows M3, M5, M8, M9, M10: profiles hand the work off to one another.

use hob_domain::{BlockCode, ChainLink, State};
use hob_worker::WorkEvent;
use serde_json::{Value, json};

use crate::harness::{Builder, World, redacted};

/// A profile that runs the agent of its own name and may hand off to others.
fn profile(name: &str, to: &[&str]) -> String {
    let to = to.join(", ");
    format!(
        "---\nname: {name}\ndescription: Knows {name}\nhob: {{ backend: {name}-agent, hand_off_to: [{to}] }}\n---\nMind {name}.\n"
    )
}

/// The last line of an agent that hands off.
fn line(hand_off: &Value) -> String {
    let line = hand_off.to_string();
    assert!(!line.contains('\''), "it is part of a script: {line}");
    format!("echo '{line}'")
}

fn to(name: &str, left: &str) -> String {
    let reason = format!("{left} belongs to {name}");
    let said = json!({
        "outcome": "hand_off", "to": name, "reason": reason, "done": "did my part", "left": left,
        "context": "the zone is example.org", "evidence": ["zone.txt"], "usd": 0.25,
    });
    line(&said)
}

/// A world whose repository names the profile `dns`, with these profiles: name, targets, script.
fn world(profiles: &[(&str, &[&str], &str)]) -> Builder {
    let rules = "agent = \"dns\"\nchecks = [\"test -f zone.txt\"]\n";
    let mut world = World::with_agent("echo base > base.txt").file(".github/hob.toml", rules);
    for (name, targets, script) in profiles {
        world = world
            .file(&format!(".github/agents/{name}.md"), &profile(name, targets))
            .script(&format!("{name}-agent"), script);
    }
    world
}

impl World {
    /// The files of the one pull request.
    async fn changes(&self) -> Vec<String> {
        let mut files = self.changed(self.pull().await["number"].as_u64().unwrap()).await;
        files.sort();
        files
    }

    /// The progress so far.
    pub(super) fn told(&self) -> Vec<String> {
        let notices = self.notices.lock().unwrap();
        let lines = notices.iter().filter_map(|notice| match notice {
            WorkEvent::Progress { text, .. } => Some(text.clone()),
            _other => None,
        });
        lines.collect()
    }

    /// The hand-offs in the ledger: from whom, and to whom.
    async fn handed_over(&self, issue: u64) -> Vec<(String, String)> {
        let pair = |link: &ChainLink| (link.from.to_string(), link.to.to_string());
        self.record(issue).await.unwrap().chain.links().iter().map(pair).collect()
    }
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect()
}

/// Scenario 2: each of three sees the work before, the last one's end counts, and the chain can be read afterwards.
#[tokio::test]
async fn three_profiles_work_in_one_chain() {
    let dns = format!("echo private words; echo zone > zone.txt; {}", to("cloud", "the load balancer"));
    let cloud = format!("test -f zone.txt && echo lb > lb.txt; {}", to("security", "the rules"));
    let security = "test -f zone.txt && test -f lb.txt && echo rules > rules.txt; \
                    echo '{\"outcome\":\"done\",\"title\":\"Set the zone up\",\"summary\":\"All three are there.\",\"usd\":0.25}'";
    let world = world(&[("dns", &["cloud"], &dns), ("cloud", &["security"], &cloud), ("security", &[], security)]);
    let world = world.start().await;
    let issue = world.asks("Set up the zone", "").await;
    let summary = world.run().await;
    assert_eq!((summary.worked, summary.failed), (1, 0), "{:?}", world.failures());

    let pull = world.pull().await;
    let _redacted = redacted();
    insta::assert_snapshot!(pull["body"].as_str().unwrap(), @"
    Fixes #1

    ## What changed

    All three are there.

    3 files changed, 3 lines added, 0 removed:

    - `lb.txt` (+1 −0)
    - `rules.txt` (+1 −0)
    - `zone.txt` (+1 −0)

    ## Evidence

    **Proven**, by check and not by test: `test -f zone.txt` fails without this change and passes with it, and with the old tests, too.

    | check | base | head |
    |---|---|---|
    | `test -f zone.txt` | failed (exit code 1) | passed ([duration]) |

    ## Open

    Only the review.

    To ask Hob for a change, submit a review, comment on a line, or begin a comment with `/hob`. `/hob cancel` ends the work.

    <details><summary>Why, cost and limits</summary>

    `ann` asked Hob to work on the issue “Set up the zone”.

    Cost: $0.75, [duration] over 1 attempt, by the agent `security`. An attempt may take 30m, an issue $5.00 and 3 attempts between two answers. Agent and checks ran in a sandbox of the tier `fence`.

    The work went from one profile to another:

    - `dns` handed off to `cloud`, 97% likely, after $0.25, [duration]: the load balancer belongs to cloud
    - `cloud` handed off to `security`, 96% likely, after $0.25, [duration]: the rules belongs to security

    `hob explain 1 --history` prints each step.

    </details>
    ");
    let names = world.changes().await;
    assert_eq!(names, ["lb.txt", "rules.txt", "zone.txt"]);

    let briefs = world.briefs(issue);
    assert_eq!(briefs.len(), 3);
    let heads = ["You work here as `dns`", "You work here as `cloud`", "You work here as `security`"];
    for (brief, head) in briefs.iter().zip(heads) {
        assert!(brief.contains(head), "{brief}");
    }
    assert!(!briefs[0].contains("handed it off") && briefs[0].contains("- `cloud`: Knows cloud"), "{}", briefs[0]);
    for part in
        ["The profile `dns` worked on this before you", "Left: the load balancer", "To know: the zone is example.org"]
    {
        assert!(briefs[1].contains(part), "{part}\n{}", briefs[1]);
    }
    assert!(!briefs[1].contains("private words"), "what the other said stays its own: {}", briefs[1]);
    assert!(briefs[2].contains("hand-off from cloud") && !briefs[2].contains("hand-off from dns"), "{}", briefs[2]);
    assert!(!briefs[2].contains("\"hand_off\""), "it can hand off to nobody: {}", briefs[2]);

    let record = world.record(issue).await.unwrap();
    assert_eq!(world.handed_over(issue).await, pairs(&[("dns", "cloud"), ("cloud", "security")]));
    let links = record.chain.links();
    assert!(links.iter().all(|link| link.spend.usd_micros == 250_000 && link.percent.is_some()), "{links:?}");
    assert_ne!(links[0].head, links[1].head);
    assert_eq!((record.spend.usd_micros, record.route.unwrap().profile.unwrap().as_str()), (750_000, "dns"));
    assert!(record.session.unwrap().as_str().ends_with("-h2"), "each has its own session");
    let told = "`dns` handed off to `cloud`: the load balancer belongs to cloud";
    assert!(world.history(issue).await.iter().any(|line| line == told), "{:?}", world.history(issue).await);
    let durations = world.repository_record().await.unwrap().durations;
    let timed = [durations.loads, durations.hand_offs, durations.pull_requests];
    assert_eq!(timed.map(|times| times.percentiles().samples), [3, 2, 1]);
    world.finish().await;
}

/// Requirement M9, scenario 9: decisions, loads and chains can be seen in the logs, the counters and the ledger.
#[tokio::test]
async fn a_chain_is_in_the_logs_the_counters_and_the_ledger() {
    let dns = format!("echo zone > zone.txt; {}", to("cloud", "the load balancer"));
    let cloud = format!("echo lb > lb.txt; {}", to("gone", "the rules"));
    let world = world(&[("dns", &["cloud"], &dns), ("cloud", &["gone"], &cloud)]).start().await;
    let issue = world.asks("Set up the zone", "").await;
    let args = ["run", "--once", "--metrics", "hob.prom"];
    let ended = world.hob_with(&args, &[("RUST_LOG", "hob=info"), ("HOB_LOG", "json")]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let counters = std::fs::read_to_string(world.dir().join("hob.prom")).unwrap();
    for line in [
        "hob_profile_reads_total{result=\"ok\"} 1",
        "hob_routing_decisions_total{by=\"repository\"} 1",
        "hob_hand_offs_total{from=\"dns\",to=\"cloud\"} 1",
        "hob_hand_offs_total{from=\"cloud\",to=\"gone\"} 1",
        "hob_hand_off_seconds_count 2",
        "hob_profile_loads_total{agent=\"dns\",result=\"ok\"} 1",
        "hob_profile_load_seconds_count 3",
        "hob_profile_load_errors_total{agent=\"gone\",reason=\"missing\"} 1",
        "hob_profile_loads_total{agent=\"gone\",result=\"failed\"} 1",
        "hob_degradations_total{reason=\"profile\"} 1",
        "hob_issue_moves_total{state=\"in-review\"} 1",
    ] {
        assert!(counters.lines().any(|written| written == line), "{line}\n{counters}");
    }
    let spent: Vec<_> = counters.lines().filter(|line| line.starts_with("hob_cost_usd_total{")).collect();
    assert_eq!(spent, ["hob_cost_usd_total{repository=\"acme/site\",agent=\"dns-agent\",model=\"unknown\"} 0.5"]);
    let events: Vec<Value> = ended.stderr.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let links: Vec<_> = events.iter().filter(|event| event["span"]["name"] == "hand_off").collect();
    let passed =
        |event: &&&Value| event["fields"]["message"].as_str().unwrap_or_default().contains("handed off issue 1 to");
    let link = links.iter().find(passed).unwrap_or_else(|| panic!("{}", ended.stderr));
    assert_eq!(
        (&link["span"]["from"], &link["span"]["to"], &link["span"]["number"]),
        (&json!("dns"), &json!("cloud"), &json!(1))
    );
    assert_eq!(link["spans"][0]["name"], "attempt");
    assert!(link["span"]["bytes"].as_u64().is_some_and(|bytes| (50..500).contains(&bytes)), "{link}");
    assert!(events.iter().any(|event| event["fields"]["message"] == "`dns` is chosen"), "{}", ended.stderr);
    let loads: Vec<&Value> =
        events.iter().map(|event| &event["fields"]).filter(|fields| fields["event"] == "agent_loaded").collect();
    let agents: Vec<&Value> = loads.iter().map(|load| &load["agent"]).collect();
    assert_eq!(agents, ["dns", "cloud", "fixer"], "{}", ended.stderr);
    for load in &loads {
        let known = load["repo"] == "acme/site" && load["issue"] == issue && load["load_ms"].is_u64();
        assert!(known && load["session"].as_str().is_some_and(|session| !session.is_empty()), "{load}");
    }
    assert!(
        loads[0]["domain"] == "dns" && loads[0]["confidence"].as_f64().is_some_and(|sure| sure <= 1.0),
        "{loads:?}"
    );
    assert_eq!(world.handed_over(issue).await, pairs(&[("dns", "cloud"), ("cloud", "gone")]));
    let shown = world.hob(&["session", "show", &issue.to_string()]).await.stdout;
    for link in ["chain    dns → cloud, after $0.25", "|        cloud → gone, after $0.25"] {
        assert!(shown.contains(link), "{link}\n{shown}");
    }
    assert_eq!(world.record(issue).await.unwrap().route.unwrap().profile.unwrap().as_str(), "dns");
    world.finish().await;
}

#[tokio::test]
async fn metrics_that_cannot_be_written_are_told_before_any_work() {
    let world = world(&[]).start().await;
    let ended = world.hob(&["run", "--once", "--metrics", "no/such/folder/hob.prom"]).await;
    assert_eq!((ended.code, ended.stderr.lines().count()), (2, 1), "{ended:?}");
    assert!(ended.stderr.contains("the metrics cannot be written to `no/such/folder/hob.prom`: "), "{ended:?}");
    world.finish().await;
}

/// Scenario 5: two that hand off to each other with new work each time end at the cap, with the last valid output.
#[tokio::test]
async fn a_circle_with_new_work_ends_at_the_cap() {
    let turn = |other: &str| format!("echo $n > zone.txt; {}", to(other, "the rest"));
    let (dns, cloud) = (turn("cloud"), turn("dns"));
    let world = world(&[("dns", &["cloud"], &dns), ("cloud", &["dns"], &cloud)]).start().await;
    let issue = world.asks("Set up the zone", "").await;
    world.run().await;
    let there = [("dns", "cloud"), ("cloud", "dns")];
    assert_eq!(world.handed_over(issue).await, pairs(&[there[0], there[1], there[0], there[1], there[0]]));
    assert_eq!(world.briefs(issue).len(), 6);
    assert_eq!(world.changes().await, ["zone.txt"]);
    assert_eq!(world.record(issue).await.unwrap().state, State::InReview, "{:?}", world.failures());
    world.finish().await;
}

/// Row M3: one in which nothing is new ends at once.
#[tokio::test]
async fn a_circle_without_new_work_ends_where_it_closes() {
    let dns = format!("echo zone > zone.txt; {}", to("cloud", "the rest"));
    let cloud = to("dns", "the rest");
    let world = world(&[("dns", &["cloud"], &dns), ("cloud", &["dns"], &cloud)]).start().await;
    let issue = world.asks("Set up the zone", "").await;
    world.run().await;
    assert_eq!(world.handed_over(issue).await, pairs(&[("dns", "cloud")]));
    assert_eq!((world.briefs(issue).len(), world.pulls().await.len()), (2, 1), "{:?}", world.failures());
    world.finish().await;
}

/// Row M10 and bad input: a refused hand-off ends the chain with the work so far, and no part of a secret is shown.
#[tokio::test]
async fn a_hand_off_that_is_refused_ends_the_chain_with_the_work_so_far() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let secret = line(&json!({"outcome": "hand_off", "to": "cloud", "reason": token, "done": token, "left": token}));
    let large = line(&json!({"outcome": "hand_off", "to": "cloud", "reason": "x", "left": "y".repeat(20_000)}));
    for (last, why) in [
        (to("dns", "all"), "`dns` cannot hand off to itself"),
        (to("sales", "all"), "a hand-off to `sales` is not allowed here: only to `cloud`"),
        (to("../cloud", "all"), "is not a profile name"),
        (secret, "the hand-off holds a GitHub token"),
        (large, "a hand-off may have at most 16384 bytes"),
    ] {
        let dns = format!("echo zone > zone.txt; {last}");
        let world = world(&[("dns", &["cloud"], &dns), ("cloud", &[], "echo no > no.txt")]).start().await;
        let issue = world.asks("Set up the zone", "").await;
        world.run().await;
        assert_eq!((world.briefs(issue).len(), world.handed_over(issue).await.len()), (1, 0), "{why}");
        let pull = world.pull().await;
        assert_eq!(world.changes().await, ["zone.txt"], "{why}");
        assert!(world.told().iter().any(|line| line.contains(why)), "{why}: {:?}", world.told());
        let shown = format!("{} {}", pull, world.status(issue).await);
        assert!(!shown.contains("a1B2a1B2"), "{shown}");
        world.finish().await;
    }
}

/// Requirement M5: a target that is gone, or that cannot work, leaves the base agent, with a warning.
#[tokio::test]
async fn a_target_that_is_gone_leaves_the_base_agent() {
    let damaged = "---\nname: cloud\nhob: { approve: everything }\n---\nMind.\n";
    let comments = "---\nname: cloud\ndescription: Reviews\nhob: { deliverable: comment }\n---\nMind.\n";
    for (file, why) in [
        (None, "no agent `cloud`: there are "),
        (Some(damaged), ".github/agents/cloud.md cannot be used: line 3: `approve` is `everything`"),
        (Some(comments), "the profile `cloud` brings no change"),
    ] {
        let dns = format!("echo zone > zone.txt; {}", to("cloud", "the rest"));
        let mut world = world(&[("dns", &["cloud"], &dns)]);
        if let Some(file) = file {
            world = world.file(".github/agents/cloud.md", file);
        }
        let world = world.start().await;
        let issue = world.asks("Set up the zone", "").await;
        world.run().await;
        assert_eq!(world.changes().await, ["base.txt", "zone.txt"], "{why}");
        assert!(world.told().iter().any(|line| line.contains(why)), "{why}: {:?}", world.told());
        let status = world.status(issue).await;
        assert_eq!(status.matches("**Warning**: the base agent works: ").count(), 1, "{status}");
        if file == Some(damaged) {
            let lost = format!("`dns` cannot hand off to all the profiles that it names: {why}");
            assert!(world.told().iter().any(|line| line.starts_with(&lost)), "{:?}", world.told());
        }
        let briefs = world.briefs(issue);
        assert!(!briefs[1].contains("You work here as") && briefs[1].contains("hand-off from dns"), "{}", briefs[1]);
        world.finish().await;
    }
}

/// Rows M3, M5: the profile that had the work continues after a failure, and after an answer to its question.
#[tokio::test]
async fn the_profile_that_had_the_work_goes_on_with_it() {
    let dns = format!("echo zone > zone.txt; {}", to("cloud", "the load balancer"));
    let cloud = "case $n in 1) kill -9 $$ ;; 2) echo '{\"outcome\":\"question\",\"question\":\"Which one?\"}' ;; \
                 *) echo lb > lb.txt ;; esac";
    let world = world(&[("dns", &["cloud"], &dns), ("cloud", &["dns"], cloud)])
        .set("testing.limits.retry_delay", "1s")
        .start()
        .await;
    let issue = world.asks("Set up the zone", "").await;
    world.run().await;
    world.forge.advance(std::time::Duration::from_secs(3_600));
    world.run().await;
    assert_eq!(world.record(issue).await.unwrap().state, State::Blocked, "{:?}", world.failures());
    world.comments("ann", issue, "The second.").await;
    world.run().await;
    let briefs = world.briefs(issue);
    assert_eq!(briefs.len(), 4, "{:?}", world.failures());
    for brief in &briefs[1..] {
        assert!(brief.contains("You work here as `cloud`") && brief.contains("hand-off from dns"), "{brief}");
    }
    assert_eq!(world.changes().await, ["lb.txt", "zone.txt"]);
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.chain.links().len(), record.chain.chain().len()), (1, 0), "an answer begins anew");
    world.finish().await;
}

/// A profile's paths bind its own changes, not those it was handed; and each part is held to its own.
#[tokio::test]
async fn each_part_of_a_chain_keeps_to_its_own_paths() {
    let limited = |name: &str, path: &str, to: &str| {
        format!(
            "---\nname: {name}\ndescription: Knows {name}\nhob: {{ backend: {name}-agent, hand_off_to: [{to}], paths: ['{path}'] }}\n---\nMind.\n"
        )
    };
    let dns = format!("echo zone > zone.txt; {}", to("cloud", "the load balancer"));
    for (script, state) in [("echo lb > lb.txt", State::InReview), ("echo x >> zone.txt", State::Blocked)] {
        let world = world(&[("dns", &["cloud"], &dns), ("cloud", &[], script)])
            .file(".github/agents/dns.md", &limited("dns", "zone.txt", "cloud"))
            .file(".github/agents/cloud.md", &limited("cloud", "lb.txt", ""));
        let world = world.start().await;
        let issue = world.asks("Set up the zone", "").await;
        world.run().await;
        let record = world.record(issue).await.unwrap();
        assert_eq!((record.state, record.chain.links().len()), (state, 1), "{script}: {:?}", record.blocked);
        let kind = record.blocked.map(|blocked| blocked.reason);
        assert_eq!(kind, (state == State::Blocked).then_some(BlockCode::PolicyViolated), "{script}");
        world.finish().await;
    }
}

/// Row M5: a chain whose time is over delivers the work so far.
#[tokio::test]
async fn a_chain_that_runs_out_of_time_gives_what_there_is() {
    let dns = format!("echo zone > zone.txt; {}", to("cloud", "the load balancer"));
    let world = world(&[("dns", &["cloud"], &dns), ("cloud", &[], "mkfifo {DIR}/never; read a < {DIR}/never")])
        .set("limits.attempt_time", "5s");
    let world = world.start().await;
    let issue = world.asks("Set up the zone", "").await;
    world.run().await;
    assert_eq!(world.changes().await, ["zone.txt"], "{:?}", world.failures());
    assert_eq!(world.handed_over(issue).await.len(), 1);
    world.finish().await;
}
