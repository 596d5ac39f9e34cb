//! Pause, resume, terminate and the kill switch, from another process, through the forge.

use std::sync::Arc;

use hob_domain::{IssueNumber, State};
use hob_forge::Access;
use hob_worker::{Requested, Worker};
use serde_json::json;

use crate::harness::{Gate, World, run};

/// A world whose agent stops at a gate, and whose workers poll often.
async fn gated() -> (World, Gate) {
    let script = format!("echo half > half.txt\n{}", Gate::before("echo done > done.txt"));
    let world = World::fixing().script("fixer", &script).set("poll.interval", "20ms").start().await;
    let gate = Gate::of(&world);
    (world, gate)
}

async fn operator(world: &World) -> Arc<Worker> {
    world.worker_with("operator", world.settings.clone(), Access::ReadWrite).await
}

#[tokio::test]
async fn a_pause_reaches_a_running_worker_and_keeps_its_work() {
    let (world, mut gate) = gated().await;
    let issue = world.asks("Make done.txt", "").await;
    let worker = world.worker("busy").await;
    let paused = async {
        gate.reached().await;
        hob_worker::pause(&*operator(&world).await, IssueNumber(issue), "after the release").await.unwrap()
    };
    let (_, asked) = tokio::join!(run(&worker), paused);
    assert_eq!(asked, Requested::Passed);
    let record = world.record(issue).await.unwrap();
    assert_eq!(
        (record.state, record.attempts.now, record.attempts.ever),
        (State::Ready, 0, 0),
        "it counts as no attempt"
    );
    assert_eq!(record.request(), None);
    assert_eq!(world.branches().await.len(), 1, "the work so far is on the branch");
    assert!(world.status(issue).await.contains("**Paused** by `hob` (after the release)"));

    world.run().await;
    assert_eq!(world.briefs(issue).len(), 1, "nobody takes it");
    let why = hob_worker::explain::all(&*operator(&world).await).await.unwrap().remove(0).why;
    assert_eq!(
        why,
        "hob paused it (after the release); `/hob resume` in a comment, or `hob resume` with its number, resumes it"
    );

    hob_worker::resume(&*operator(&world).await, IssueNumber(issue)).await.unwrap();
    let worker = world.worker("next").await;
    tokio::join!(run(&worker), async {
        gate.reached().await;
        gate.open().await;
    });
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    let mut changed = world.changed(world.pull().await["number"].as_u64().unwrap()).await;
    changed.sort();
    assert_eq!(changed, ["done.txt", "half.txt"]);
    world.finish().await;
}

#[tokio::test]
async fn terminate_ends_a_running_worker_for_good() {
    let (world, mut gate) = gated().await;
    let issue = world.asks("Make done.txt", "").await;
    let worker = world.worker("busy").await;
    let (_, asked) = tokio::join!(run(&worker), async {
        gate.reached().await;
        hob_worker::terminate(&*operator(&world).await, IssueNumber(issue)).await.unwrap()
    });
    assert_eq!(asked, Requested::Passed);
    assert_eq!(world.record(issue).await.unwrap().state, State::Done);
    assert!(world.labels(issue).await.is_empty());
    world.run().await;
    assert_eq!(world.briefs(issue).len(), 1);
    world.finish().await;
}

#[tokio::test]
async fn a_cancel_in_a_comment_ends_a_running_worker() {
    let (world, mut gate) = gated().await;
    let issue = world.asks("Make done.txt", "").await;
    let worker = world.worker("busy").await;
    tokio::join!(run(&worker), async {
        gate.reached().await;
        world.comments("out", issue, "/hob cancel").await;
        world.comments("ann", issue, "/hob cancel").await;
    });
    let history = world.history(issue).await;
    assert!(history.iter().any(|line| line.contains("finished: ann ended the work")), "{history:?}");
    assert!(world.labels(issue).await.is_empty() && world.pulls().await.is_empty());
    world.finish().await;
}

#[tokio::test]
async fn an_issue_that_is_closed_ends_a_running_worker() {
    let (world, mut gate) = gated().await;
    let issue = world.asks("Make done.txt", "").await;
    let worker = world.worker("busy").await;
    tokio::join!(run(&worker), async {
        gate.reached().await;
        world.edits("ann", issue, json!({"state": "closed"})).await;
    });
    assert_eq!(world.record(issue).await.unwrap().state, State::Done);
    assert_eq!(world.labels(issue).await, ["code"]);
    world.finish().await;
}

#[tokio::test]
async fn a_request_to_a_worker_that_died_is_obeyed_by_the_next() {
    let (world, mut gate) = gated().await;
    let issue = world.asks("Make done.txt", "").await;
    let dead = world.worker("dead").await;
    tokio::select! {
        _ = run(&dead) => unreachable!("the gate is shut"),
        () = gate.reached() => {}
    }
    drop(dead);
    let operator = operator(&world).await;
    assert_eq!(hob_worker::pause(&operator, IssueNumber(issue), "").await.unwrap(), Requested::Passed);
    world.forge.advance(world.settings.lease.duration + world.settings.lease.skew + std::time::Duration::from_secs(2));
    world.run().await;
    let record = world.record(issue).await.unwrap();
    assert!(record.pause().is_some() && record.state == State::Ready, "{record:?}");
    hob_worker::terminate(&operator, IssueNumber(issue)).await.unwrap();
    assert!(world.labels(issue).await.is_empty());
    world.finish().await;
}

#[tokio::test]
async fn a_cancel_in_a_comment_ends_an_issue_in_review() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    world.comments("out", issue, "/hob cancel").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    world.comments("ann", issue, "/hob cancel").await;
    world.run().await;
    assert_eq!((world.record(issue).await.unwrap().state, world.labels(issue).await), (State::Done, vec![]));
    world.finish().await;
}

/// Attack corpus I103.
#[tokio::test]
async fn the_kill_switch_stops_every_claim_and_is_taken_back() {
    let world = World::fixing().start().await;
    let first = world.asks("Make done.txt", "").await;
    let operator = operator(&world).await;
    hob_worker::kill_switch(&operator, Some("too dear")).await.unwrap();
    for name in ["one", "another"] {
        assert_eq!(run(&world.worker(name).await).await.worked, 0);
    }
    assert!(world.record(first).await.is_none() && world.labels(first).await == ["code"]);
    let status = world.hob(&["status"]).await.stdout;
    assert!(status.contains("hob paused the repository (too dear)") && status.contains("Today: 0 s"), "{status}");
    let why = hob_worker::explain::all(&operator).await.unwrap().remove(0).why;
    assert_eq!(why, "hob paused the repository (too dear); `hob resume --all` resumes it");
    hob_worker::kill_switch(&operator, None).await.unwrap();
    world.run().await;
    assert_eq!(world.labels(first).await, ["code", "in-review"], "{:?}", world.failures());
    world.finish().await;
}

#[tokio::test]
async fn the_commands_say_what_they_did() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    let number = issue.to_string();
    let strange = world.hob(&["pause", &number]).await;
    assert_eq!(strange.code, 4, "{strange:?}");
    assert!(strange.stderr.contains("Hob never claimed it"), "{strange:?}");
    world.run().await;
    let paused = world.hob(&["pause", &number, "-m", "later"]).await;
    assert!(paused.stdout.contains(&format!("`hob resume {issue}`")), "{paused:?}");
    let resumed = world.hob(&["resume", &number, "--json"]).await;
    assert!(resumed.objects()[0]["result"]["done"] == true, "{resumed:?}");
    assert_eq!(world.hob(&["resume", &number]).await.code, 4);
    assert_eq!(world.hob(&["pause"]).await.code, 2, "one issue, or --all");
    let all = world.hob(&["pause", "--all", "--json"]).await;
    assert_eq!((all.code, &all.objects()[0]["result"]["asked"]), (0, &"paused".into()), "{all:?}");
    assert_eq!(world.hob(&["resume", "--all"]).await.code, 0);
    let ended = world.hob(&["cancel", &number]).await;
    assert!(ended.stdout.contains("has ended"), "{ended:?}");
    assert!(world.labels(issue).await.is_empty());
    world.finish().await;
}
