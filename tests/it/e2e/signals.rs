//! The real program, stopped and killed in the middle of its work.

use std::time::Duration;

use hob_domain::State;
use hob_worker::RunLimits;
use rustix::process::Signal;

use crate::harness::{Gate, World};

#[tokio::test]
async fn a_program_that_is_asked_to_end_puts_its_issue_back() {
    let world = World::fixing().script("fixer", &Gate::before("echo done > done.txt")).start().await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "").await;
    let hob = world.starts_hob(&["run"]).await;
    gate.reached().await;
    let ended = hob.ends_by(Signal::TERM).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stderr.contains("saving work in progress"), "{ended:?}");
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.state, record.attempt, record.holder), (State::Ready, 0, None));
    assert_eq!(world.labels(issue).await, ["code"]);
    world.finish().await;
}

#[tokio::test]
async fn a_run_whose_time_is_over_puts_its_issue_back() {
    let world = World::fixing().script("fixer", &Gate::before("echo done > done.txt")).start().await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "").await;
    let worker = world.worker("w1").await;
    let limits = RunLimits { max_issues: None, max_runtime: Some(Duration::from_secs(6)) };
    let (done, ()) = tokio::join!(hob_worker::run_forever(&worker, limits), gate.reached());
    assert_eq!((done.worked, done.failed), (1, 0), "{:?}", world.failures());
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.state, record.attempt, record.holder), (State::Ready, 0, None));
    assert_eq!(world.labels(issue).await, ["code"]);
    world.finish().await;
}

#[tokio::test]
async fn after_a_program_was_killed_another_goes_on() {
    let script = format!("[ $n -gt 0 ] || echo half > half.txt; {}", Gate::before("echo done > done.txt"));
    let world = World::fixing().script("fixer", &script).start().await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "").await;
    let hob = world.starts_hob(&["run", "--once"]).await;
    gate.reached().await;
    hob.ends_by(Signal::KILL).await;
    assert_eq!(world.labels(issue).await, ["code", "in-progress"]);

    world.forge.advance(world.settings.lease.duration + world.settings.lease.skew + Duration::from_secs(2));
    // The same state folder: the agent that outlived its worker is ended, and what it had made is gone on from.
    let opens = async {
        gate.reached().await;
        gate.open().await;
    };
    let (ended, ()) = tokio::join!(world.hob(&["run", "--once"]), opens);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{ended:?}");
    assert_eq!(world.changed(world.pull().await["number"].as_u64().unwrap()).await, ["done.txt", "half.txt"]);
    world.finish().await;
}
