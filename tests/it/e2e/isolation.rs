//! Attempts are tasks of their own: one that harms its thread does not harm the others.

use std::{
    collections::HashMap,
    os::unix::fs::PermissionsExt,
    sync::{Arc, Mutex},
    time::Duration,
};

use hob_domain::{IssueNumber, RepoName};
use hob_worker::{EventSink, Repositories, RunLimits, WorkEvent};
use tokio_util::sync::CancellationToken;

use crate::harness::{World, repo};

/// A sink that calls `act` with the issue, in the attempt's own task, when its agent is about to work.
fn when_an_agent_starts(act: impl Fn(u64) + Send + Sync + 'static) -> EventSink {
    Arc::new(move |_: &RepoName, event: &WorkEvent| match event {
        WorkEvent::Progress { issue: IssueNumber(number), text } if text.starts_with("running agent") => act(*number),
        _other => {}
    })
}

/// Tokio then promises, within limits, that a blocked thread delays nothing else. Blocking one here and waiting for the
/// others would not work: the task that the blocked thread woke last, and the system's events that it was about to wait
/// for, are not always taken over by another thread.
#[tokio::test]
async fn an_attempt_is_a_task_of_its_own() {
    let world = World::fixing().set("jobs", "2").start().await;
    let issues = [world.asks("Make done.txt", "").await, world.asks("Make it again", "").await];
    let tasks = Arc::new(Mutex::new(HashMap::new()));
    let seen = Arc::clone(&tasks);
    let events = when_an_agent_starts(move |issue| {
        seen.lock().unwrap().insert(issue, tokio::task::id());
    });
    let connection = world.as_bot(&world.settings);
    let only = Repositories::Named(vec![repo()]);
    let pool = world.pool_until(&connection, only, &world.settings, (CancellationToken::new(), Some(events)));
    let (of_the_pool, summary) =
        tokio::spawn(async move { (tokio::task::id(), pool.run_once(RunLimits::default()).await.unwrap()) })
            .await
            .unwrap();
    assert_eq!((summary.worked, summary.failed), (2, 0), "{:?}", world.failures());
    let of_attempts = issues.map(|issue| tasks.lock().unwrap()[&issue]);
    assert_ne!(of_attempts[0], of_attempts[1]);
    assert!(!of_attempts.contains(&of_the_pool), "an attempt runs in the scheduler's task");
    world.finish().await;
}

/// Requirement G5.
#[tokio::test]
async fn an_attempt_that_panics_fails_alone() {
    let world = World::fixing().set("jobs", "2").start().await;
    let (bad, good) = (world.asks("Panic", "").await, world.asks("Make done.txt", "").await);
    let events = when_an_agent_starts(move |issue| assert_ne!(issue, bad, "a fault of the attempt"));
    let connection = world.as_bot(&world.settings);
    let only = Repositories::Named(vec![repo()]);
    let pool = world.pool_until(&connection, only, &world.settings, (CancellationToken::new(), Some(events)));
    let summary = pool.run_once(RunLimits::default()).await.unwrap();
    assert_eq!((summary.worked, summary.failed), (1, 1));
    assert_eq!(world.labels(good).await, ["code", "in-review"]);
    // Its lease expires, and another worker takes the issue over.
    assert_eq!(world.labels(bad).await, ["code", "in-progress"]);
    world.forge.advance(world.settings.lease.duration + world.settings.lease.skew + Duration::from_secs(2));
    world.run().await;
    assert_eq!(world.labels(bad).await, ["code", "in-review"], "{:?}", world.failures());
    world.finish().await;
}

/// Attack corpus K150: in a fence the modes of files outside can be changed. Root reads what is locked, so that the modes are
/// looked at, too.
#[tokio::test]
async fn an_agent_that_locks_the_state_folder_stops_no_later_run() {
    let lock = "cd {DIR}/state-w1/acme && chmod 000 site/issues/1/git site/issues/1 site/issues site/mirror.git/objects \
                site/mirror.git site . ..";
    let world =
        World::with_agent(&format!("echo done > done.txt; [ $HOB_ISSUE != 1 ] || {{ {lock}; true; }}")).start().await;
    let first = world.asks("Lock it", "").await;
    world.run().await;
    assert_eq!(world.labels(first).await, ["code", "in-review"], "{:?}", world.notices.lock().unwrap());
    let second = world.asks("Make done.txt", "").await;
    world.run().await;
    assert_eq!(world.labels(second).await, ["code", "in-review"], "{:?}", world.notices.lock().unwrap());
    let state = world.state_dir("w1");
    for folder in
        ["", "acme", "acme/site", "acme/site/mirror.git", "acme/site/mirror.git/objects", "acme/site/issues/1/git"]
    {
        let mode = std::fs::metadata(state.join(folder)).unwrap().permissions().mode();
        assert_eq!(mode & 0o700, 0o700, "{folder}: {mode:o}");
    }
    world.finish().await;
}
