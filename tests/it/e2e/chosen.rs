//! `hob run ISSUE…`: just these issues, through the real binary.

use hob_domain::{IssueNumber, State};
use hob_forge::Access;
use http::Method;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::harness::{Ended, Gate, World, claim};

/// Issue by issue: state and why.
fn told(ended: &Ended) -> Vec<(u64, String, String)> {
    let value = ended.result();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let one = |value: &Value| (value["issue"].as_u64().unwrap(), text(&value["state"]), text(&value["why"]));
    value.as_array().unwrap().iter().map(one).collect()
}

/// The states alone.
fn states(ended: &Ended) -> Vec<(u64, String)> {
    told(ended).into_iter().map(|(issue, state, _)| (issue, state)).collect()
}

fn as_states(wanted: &[(u64, &str)]) -> Vec<(u64, String)> {
    wanted.iter().map(|(issue, state)| (*issue, (*state).to_owned())).collect()
}

#[tokio::test]
async fn just_these_issues_are_worked_on() {
    let world = World::fixing().start().await;
    let first = world.asks("Not this one", "").await;
    let second = world.asks("This one", "").await;
    let third = world.asks("And this one", "").await;
    let (b, c) = (second.to_string(), format!("#{third}"));
    let ended = world.hob(&["run", &c, &b, &c, "--jobs", "2"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let rows: Vec<&str> = ended.stdout.lines().collect();
    assert_eq!(rows.len(), 3, "the number that was given twice counts once: {ended:?}");
    assert!(rows[0].starts_with("issue  state      pull request  cost  why"), "{ended:?}");
    assert!(rows[1].starts_with(&format!("#{third}     completed  #")), "{ended:?}");
    assert!(rows[2].contains("waits for a review"), "{ended:?}");
    assert!(ended.stderr.contains("running agent `fixer`") && ended.stderr.contains("2 issues worked on"));
    assert_eq!((world.labels(first).await, world.record(first).await), (vec!["code".to_owned()], None));
    assert_eq!(world.pulls().await.len(), 2);

    let again = world.hob(&["run", &b, "--json"]).await;
    assert_eq!((again.code, states(&again)), (0, as_states(&[(second, "completed")])), "in review already: {again:?}");
    assert_eq!(world.briefs(second).len(), 1);
    world.finish().await;
}

/// Requirement G6.
#[tokio::test]
async fn in_turn_it_stops_at_the_first_that_fails() {
    let script = "case $HOB_ISSUE in 2) echo '{\"outcome\":\"question\",\"question\":\"Which colour?\"}' ;; *) echo done > done.txt ;; esac";
    let world = World::fixing().script("fixer", script).start().await;
    for n in 1..=3 {
        assert_eq!(world.asks(&format!("Chore {n}"), "").await, n);
    }
    let ended = world.hob(&["run", "--sequential", "3", "2", "1", "--json"]).await;
    assert_eq!(ended.code, 8, "{ended:?}");
    let all = told(&ended);
    assert_eq!(states(&ended), as_states(&[(3, "completed"), (2, "blocked"), (1, "pending")]));
    assert!(all[1].2.ends_with("Which colour?"), "{all:?}");
    assert_eq!(all[2].2, "not started: #2 before it failed");
    assert_eq!(world.record(1).await, None);
    let side_by_side = world.hob(&["run", "1", "2", "--json"]).await;
    assert_eq!(states(&side_by_side), as_states(&[(1, "completed"), (2, "blocked")]), "{side_by_side:?}");
    let why = &told(&side_by_side)[1].2;
    let explained = world.hob(&["explain", "2"]).await.stdout;
    assert!(explained.contains(why.as_str()), "one sentence for both: {why} / {explained}");
    world.finish().await;
}

#[tokio::test]
async fn what_cannot_be_taken_up_says_why_and_is_not_waited_for() {
    let world = World::fixing().start().await;
    let done = world.asks("Work", "").await;
    assert_eq!(world.hob(&["run", &done.to_string()]).await.code, 0);
    let pull = world.pull().await["number"].as_u64().unwrap();
    let bare = world.opens("ann", "No label", "", &["bug"]).await;
    let outsiders = world.opens("tess", "Not hers to give", "", &["code"]).await;
    let blocker = world.opens("ann", "First", "", &[]).await;
    let waiting = world.asks("Second", "").await;
    let id = world.look(&format!("/issues/{blocker}")).await["id"].clone();
    let path = format!("/issues/{waiting}/dependencies/blocked_by");
    world.call("ann", Method::POST, &path, json!({ "issue_id": id })).await;
    let numbers = [pull, bare, outsiders, waiting, 99].map(|number| number.to_string());
    let mut args = vec!["run", "--json"];
    args.extend(numbers.iter().map(String::as_str));
    let ended = world.hob(&args).await;
    assert_eq!(ended.code, 8, "{ended:?}");
    assert!(ended.stderr.contains("5 of 5 issues did not get a pull request"), "{ended:?}");
    for ((issue, state, why), wanted) in told(&ended).into_iter().zip([
        format!("issue {pull} does not exist, or is a pull request"),
        "it does not have the label `code` (it has: bug)".to_owned(),
        "its label was refused".to_owned(),
        format!("it is blocked by #{blocker}, still open"),
        "issue 99 does not exist, or is a pull request".to_owned(),
    ]) {
        assert_eq!(state, "failed");
        assert!(why.starts_with(&wanted), "{issue}: {why}");
    }
    assert_eq!(world.hob(&["pause", "--all"]).await.code, 0);
    let fresh = world.asks("Fresh", "").await;
    let switched = world.hob(&["run", &fresh.to_string(), "--json"]).await;
    assert!(told(&switched)[0].2.starts_with("hob paused the repository"), "{switched:?}");
    assert_eq!(world.record(fresh).await, None);
    world.finish().await;
}

#[tokio::test]
async fn an_issue_that_another_worker_holds_is_left_to_it() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    let forge = world.bot(Access::ReadWrite);
    let base = forge.repository().base_branch().await.unwrap();
    let other = world.claimant("other");
    let claim = forge.ledger().acquire(IssueNumber(issue), None, &other, &base.tree, claim("Make done.txt"));
    let _lease = claim.await.unwrap();
    let ended = world.hob(&["run", &issue.to_string(), "--json"]).await;
    // Field note N93: nothing failed, because the other worker does it.
    assert_eq!((ended.code, states(&ended)), (0, as_states(&[(issue, "held")])), "{ended:?}");
    assert!(told(&ended)[0].2.starts_with("worker other works on it, its lease lasts until"), "{ended:?}");
    assert!(world.briefs(issue).is_empty());
    world.leave();
}

#[tokio::test]
async fn an_attempt_that_is_put_off_is_a_failure_with_its_reason() {
    let script = "echo '{\"outcome\":\"quota\",\"reset_after\":600,\"reason\":\"no quota\"}'";
    let world = World::fixing().script("fixer", script).start().await;
    let issue = world.asks("Make done.txt", "").await.to_string();
    let ended = world.hob(&["run", &issue, "--json"]).await;
    assert_eq!((ended.code, told(&ended)[0].1.as_str()), (8, "failed"), "{ended:?}");
    assert!(told(&ended)[0].2.contains("no quota"), "{ended:?}");
    world.finish().await;
}

#[tokio::test]
async fn labels_that_stand_in_the_way_are_mended_and_the_work_begins() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let pull = world.pull().await["number"].as_u64().unwrap();
    world.call("ann", Method::PUT, &format!("/pulls/{pull}/merge"), json!({})).await;
    world.run().await;
    world.edits("ann", issue, json!({ "state": "open" })).await;
    world.labels_on("ann", issue, "code").await;
    world.labels_on("ann", issue, "in-review").await;
    let ended = world.hob(&["run", &issue.to_string(), "--json"]).await;
    // The file is there already, so the agent has nothing to change: what counts is that it was asked.
    assert_eq!(states(&ended), as_states(&[(issue, "blocked")]), "{ended:?}");
    assert_eq!(world.briefs(issue).len(), 2);
    world.finish().await;
}

/// Requirement A13, requirement G4, requirement G8: each stage is an event with a time, a run and a percentage; the last line is
/// the result, with what the run brought and cost.
#[tokio::test]
async fn programs_hear_each_stage_and_what_the_run_came_to() {
    let script = r#"echo '{"checklist":[{"step":"Write","state":"done"},{"step":"Check","state":"doing"}]}'
        echo done > done.txt; echo '{"outcome":"done","summary":"It is done.","usd":0.25,"input_tokens":100}'"#;
    let world = World::with_agent(script).check("test -f done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    let ended = world.hob(&["run", &issue.to_string(), "--json"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stderr.contains("claimed, generation 1"), "people see it, too: {ended:?}");
    let mut objects = ended.objects();
    assert_eq!(objects.pop().unwrap()["event"], "result");
    let told = |event: &Value| Some((event["event"].as_str()?.to_owned(), event["percent"].as_u64()?));
    let stages: Vec<(String, u64)> = objects.iter().filter_map(told).collect();
    assert!(stages.is_sorted_by_key(|(_, percent)| *percent), "{stages:?}");
    for stage in [
        ("moved", 5),
        ("checked", 15),
        ("agent_started", 20),
        ("activity", 45),
        ("checked", 80),
        ("published", 95),
        ("moved", 100),
    ] {
        assert!(stages.contains(&(stage.0.to_owned(), stage.1)), "{stage:?}: {stages:?}");
    }
    assert!(objects.iter().all(|event| event["time"].as_str().is_some_and(|time| time.ends_with('Z'))), "{ended:?}");
    let result = ended.result();
    let runs: Vec<&Value> = objects.iter().map(|event| &event["run_id"]).filter(|run| !run.is_null()).collect();
    assert!(runs.len() > 3 && runs.iter().all(|run| **run == result[0]["run_id"]), "{runs:?}");
    let pull = world.pull().await["html_url"].clone();
    let brought = [&result[0]["summary"], &result[0]["usd"], &result[0]["url"], &result[0]["confidence"]];
    assert_eq!(brought, [&json!("It is done."), &json!(0.25), &pull, &Value::Null]);
    assert_eq!(result[0]["spend"]["input_tokens"], 100, "{result}");
    // Nothing began here.
    let again = world.hob(&["run", &issue.to_string(), "--json"]).await.result();
    assert_eq!([&again[0]["run_id"], &again[0]["usd"], &again[0]["summary"]], [&Value::Null, &json!(0.0), brought[0]]);

    let totals = world.hob(&["session", "list", "--json"]).await.objects()[0]["totals"].clone();
    let of_agent = ["agent", "sessions", "runs", "done", "failed"].map(|key| totals[0][key].clone());
    assert_eq!(json!(of_agent), json!(["fixer", 1, 1, 1, 0]), "{totals}");
    assert_eq!(totals[0]["spend"]["usd_micros"], 250_000);
    let people = world.hob(&["session", "list"]).await;
    assert!(people.stdout.contains("minutes") && people.stdout.contains("$0.25"), "{people:?}");
    world.finish().await;
}

/// Requirement A12.
#[tokio::test]
async fn a_dry_run_writes_nothing() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await.to_string();
    let ended = world.hob(&["run", &issue, "99", "--dry-run"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stdout.contains("it would be claimed") && ended.stdout.contains("does not exist"), "{ended:?}");
    let json = world.hob(&["run", &issue, "99", "--dry-run", "--json"]).await;
    let json = &json.objects()[0]["result"];
    assert_eq!((&json[0]["place"], &json[1]["issue"]), (&1.into(), &99.into()));
    assert_eq!(world.writes(), []);
    world.finish().await;
}

#[tokio::test]
async fn a_command_line_that_makes_no_sense_is_told() {
    let world = World::fixing().start().await;
    for args in [
        vec!["run", "--sequential"],
        vec!["run", "1", "--once"],
        vec!["run", "0"],
        vec!["run", "twelve"],
        vec!["run", "1", "--jobs", "0"],
        vec!["run", "1", "--jobs", "2", "--sequential"],
        vec!["run", "1", "--repo", "acme/site", "--repo", "acme/docs"],
    ] {
        let ended = world.hob(&args).await;
        assert_eq!(ended.code, 2, "{args:?}: {ended:?}");
    }
    assert_eq!(world.writes(), []);
    world.finish().await;
}

#[tokio::test]
async fn a_signal_puts_the_work_back_and_begins_no_more() {
    let world = World::fixing().script("fixer", &Gate::before("echo done > done.txt")).start().await;
    let mut gate = Gate::of(&world);
    let (first, second) = (world.asks("One", "").await, world.asks("Two", "").await);
    let hob = world.starts_hob(&["run", &first.to_string(), &second.to_string(), "--json"]).await;
    gate.reached().await;
    let ended = hob.ends_by(Signal::TERM).await;
    assert_eq!(ended.code, 8, "{ended:?}");
    assert_eq!(states(&ended), as_states(&[(first, "failed"), (second, "pending")]), "{ended:?}");
    assert!(told(&ended)[0].2.contains("the worker was stopped"), "{ended:?}");
    let record = world.record(first).await.unwrap();
    assert_eq!((record.state, record.attempts.now, record.lease), (State::Ready, 0, None));
    assert_eq!(world.record(second).await, None);
    world.finish().await;
}
