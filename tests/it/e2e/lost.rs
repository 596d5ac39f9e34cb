//! Lost requests and answers: at any write, the issue gets its one pull request and its one comment.

use hob_domain::State;

use crate::harness::{Faulty, Lost, World};

/// More than the writes of one issue, so that the loop ends.
const WRITES_MAX: usize = 60;

/// One issue after another; each loses one write more than the one before.
async fn every_write_may_be_lost(lost: Lost) {
    let builder = World::with_agent("echo done > done-$HOB_ISSUE.txt");
    let world = builder.set("limits.issues_per_hour", "1000").start().await;
    let door = Faulty::before(&world).await;
    // Makes the labels, which later issues find there.
    world.asks("Nothing is lost", "").await;
    world.run().await;
    for index in 0..WRITES_MAX {
        let issue = world.asks(&format!("Without write {index}"), "").await;
        let is_lost = door.run_without(&world, index, lost).await;
        // Everything lost after the claim is made up for under the lease.
        if let Some(record) = world.record(issue).await {
            let (now, told) = ((record.state, record.attempts.ever), world.history(issue).await);
            assert_eq!(now, (State::InReview, 1), "{lost:?} {index}: {told:?} {:?}", world.failures());
        }
        world.comes_to(issue, State::InReview, 3).await;
        let said = world.said(issue).await;
        assert_eq!(said.len(), 1, "{lost:?} {index}: {said:?} {:?}", world.failures());
        assert_eq!(world.labels(issue).await, ["code", "in-review"], "{lost:?} {index}");
        if !is_lost {
            assert!(index > 15, "an issue takes more than {index} writes");
            assert_eq!(world.pulls().await.len(), index + 2);
            world.an_hour_later().await;
            return world.finish().await;
        }
    }
    panic!("an issue takes less than {WRITES_MAX} writes");
}

#[tokio::test]
async fn any_answer_may_be_lost() {
    every_write_may_be_lost(Lost::Answer).await;
}

#[tokio::test]
async fn any_request_may_be_lost() {
    every_write_may_be_lost(Lost::Request).await;
}
