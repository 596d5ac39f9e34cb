//! Attempts are tasks of their own: what one of them does to its thread is not the others' trouble.

use std::{
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use hob_domain::{IssueNumber, RepoName};
use hob_worker::{EventSink, Repositories, RunLimits, WorkEvent};
use tokio::{sync::oneshot, time::timeout};
use tokio_util::sync::CancellationToken;

use crate::harness::{Gate, World, repo};

/// Nothing here takes so long unless it hangs.
const PATIENCE: Duration = Duration::from_secs(60);
/// Looks of the other heartbeat that are waited for.
const LOOKS: usize = 3;

/// A sink that calls `act` in the attempt's own task when the agent of `issue` is about to work.
fn when_the_agent_starts(issue: u64, act: impl Fn() + Send + Sync + 'static) -> EventSink {
    Arc::new(move |_: &RepoName, event: &WorkEvent| match event {
        WorkEvent::Progress { issue: IssueNumber(number), text }
            if *number == issue && text.starts_with("the agent") =>
        {
            act();
        }
        _other => {}
    })
}

/// Waits until the heartbeat of an issue has looked at its ledger some times more.
async fn heartbeats(world: &World, issue: u64) {
    let ledger = format!("/git/ref/hob/issues/{issue}");
    let looks = || world.forge.requests().iter().filter(|request| request.path.ends_with(&ledger)).count();
    let (before, forge) = (looks(), world.bot(hob_forge::Access::ReadOnly));
    while looks() < before + LOOKS {
        // Another call, so that this does not spin.
        forge.repository().base_branch().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn an_attempt_that_blocks_its_thread_delays_no_other_heartbeat() {
    let world = World::fixing()
        .script("fixer", &Gate::before("echo done > done.txt"))
        .set("limits.jobs", "2")
        .set("poll.interval", "1s")
        .start()
        .await;
    let mut gate = Gate::of(&world);
    let (blocking, other) = (world.asks("Block", "").await, world.asks("Make done.txt", "").await);
    let (release, released) = mpsc::channel::<()>();
    let (blocks, blocked) = oneshot::channel::<()>();
    let (blocks, released) = (Mutex::new(Some(blocks)), Mutex::new(released));
    let events = when_the_agent_starts(blocking, move || {
        if let Some(blocks) = blocks.lock().unwrap().take() {
            blocks.send(()).unwrap();
            // The thread stands still here, as it would in blocking code, until the test has seen enough.
            released.lock().unwrap().recv().unwrap();
        }
    });
    let connection = world.as_bot(&world.settings);
    let only = Repositories::Named(vec![repo()]);
    let pool = world.pool_until(&connection, only, &world.settings, (CancellationToken::new(), Some(events)));
    let run = tokio::spawn(async move { pool.run_once(RunLimits::default()).await.unwrap() });
    timeout(PATIENCE, blocked).await.unwrap().unwrap();
    gate.reached().await;
    timeout(PATIENCE, heartbeats(&world, other)).await.expect("no heartbeat while another attempt blocks");
    release.send(()).unwrap();
    gate.open().await;
    gate.reached().await;
    gate.open().await;
    let summary = timeout(PATIENCE, run).await.unwrap().unwrap();
    assert_eq!((summary.worked, summary.failed), (2, 0), "{:?}", world.failures());
    world.finish().await;
}

#[tokio::test]
async fn an_attempt_that_panics_fails_alone() {
    let world = World::fixing().set("limits.jobs", "2").start().await;
    let (bad, good) = (world.asks("Panic", "").await, world.asks("Make done.txt", "").await);
    let events = when_the_agent_starts(bad, || panic!("a fault of the attempt"));
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
