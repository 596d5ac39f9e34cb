//! Attempts are tasks of their own: what one of them does to its thread is not the others' trouble.

use std::{
    collections::HashMap,
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
        WorkEvent::Progress { issue: IssueNumber(number), text } if text.starts_with("the agent") => act(*number),
        _other => {}
    })
}

/// That a blocked thread delays nothing else follows from this, as far as tokio promises it. To block one here and to wait
/// for the others would not do: what the blocked thread woke last, and the events of the system that it was about to wait
/// for, are not taken over by another thread in every case.
#[tokio::test]
async fn an_attempt_is_a_task_of_its_own() {
    let world = World::fixing().set("limits.jobs", "2").start().await;
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

#[tokio::test]
async fn an_attempt_that_panics_fails_alone() {
    let world = World::fixing().set("limits.jobs", "2").start().await;
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
