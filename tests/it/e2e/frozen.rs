//! A process that is frozen (SIGSTOP) while one of its writes is under way, for longer than its lease: the write reaches the forge when
//! another worker has done the work.

use std::time::Duration;

use hob_domain::State;
use rustix::process::Signal;

use crate::harness::{Builder, Faulty, World};

/// Freezes a process at its write number `index`; `false` if it does not make so many.
async fn frozen_at(index: usize, builder: Builder) -> bool {
    let world = builder.start().await;
    let door = Faulty::before(&world).await;
    let issue = world.asks("Make done.txt", "").await;
    let mut held = door.hold(index);
    let addresses = [("GITHUB_API_URL", door.api_url.as_str()), ("GITHUB_SERVER_URL", door.server_url())];
    let mut frozen = world.starts_hob_with(&["run", "--once"], &addresses).await;
    let is_frozen = tokio::select! {
        () = held.reached() => true,
        () = frozen.ends() => false,
    };
    if !is_frozen {
        world.finish().await;
        return false;
    }
    frozen.gets(Signal::STOP);
    world.forge.advance(world.settings.lease.duration + world.settings.lease.skew + Duration::from_secs(2));
    world.run().await;
    let (record, pull) = (world.record(issue).await.unwrap(), world.pull().await);
    assert_eq!(record.state, State::InReview, "write {index}: {:?}", world.failures());

    held.goes_on();
    frozen.gets(Signal::CONT);
    frozen.ends().await;
    let (after, pulls) = (world.record(issue).await.unwrap(), world.pulls().await);
    assert_eq!((after.generation, after.nonce), (record.generation, record.nonce), "write {index}: the ledger moved");
    assert_eq!(pulls.len(), 1, "write {index}");
    assert_eq!(pulls[0]["head"]["sha"], pull["head"]["sha"], "write {index}: the branch moved");
    // Labels have no fencing: they are as the ledger says after the next poll. A comment that was new stays beside the other worker's.
    world.an_hour_later().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "write {index}: {:?}", world.failures());
    world.leave();
    true
}

#[tokio::test]
async fn a_process_that_is_frozen_at_any_of_its_writes_moves_neither_ledger_nor_branch_afterwards() {
    let mut index = 0;
    while frozen_at(index, World::fixing().pushing_ledgers()).await {
        index += 1;
    }
    assert!(index > 8, "only {index} writes were held");
}
