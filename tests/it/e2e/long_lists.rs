//! Lists longer than the part that is read: a part is never taken for the whole.

use hob_domain::{IssueNumber, State};
use hob_forge::Access;
use http::Method;
use serde_json::json;

use crate::harness::World;

/// Adds this many labels to the issue and removes them again.
async fn busy(world: &World, issue: u64, rounds: u64) {
    let names: Vec<String> = (0..100).map(|n| format!("noise-{n}")).collect();
    let own = world.labels(issue).await;
    for _ in 0..rounds {
        for labels in [[&own[..], &names[..]].concat(), own.clone()] {
            world.call("wil", Method::PUT, &format!("/issues/{issue}/labels"), json!({ "labels": labels })).await;
        }
    }
}

#[tokio::test]
async fn who_labels_after_thousands_of_events_is_the_one_who_is_judged() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    busy(&world, issue, 26).await;
    world.labels_off("tess", issue, "code").await;
    world.labels_on("tess", issue, "code").await;
    assert_eq!(world.run().await.worked, 0);
    let status = world.status(issue).await;
    assert!(status.contains("**Refused**") && status.contains("`tess` has triage permission"), "{status}");
    world.finish().await;
}

#[tokio::test]
async fn a_label_event_older_than_what_is_read_is_not_decided_on() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    busy(&world, issue, 26).await;
    let summary = world.run().await;
    assert_eq!((summary.worked, summary.failed), (0, 1));
    let failures = world.failures();
    assert!(failures[0].contains("remove the label `code` from the issue and add it again"), "{failures:?}");
    assert!(world.record(issue).await.is_none());

    world.labels_off("ann", issue, "code").await;
    world.labels_on("ann", issue, "code").await;
    world.run().await;
    assert_eq!(world.record(issue).await.unwrap().state, State::InReview, "{:?}", world.failures());
    world.finish().await;
}

#[tokio::test]
async fn a_page_that_was_full_and_the_last_is_read_again_when_the_list_grows() {
    let world = World::fixing().start().await;
    let issue = world.opens("out", "A talk", "", &[]).await;
    let reader = world.worker_with("reader", world.settings.clone(), Access::ReadOnly).await;
    for written in 1..=101 {
        world.comments("out", issue, "Me too.").await;
        let read = reader.forge().comments().of(IssueNumber(issue)).await.unwrap().len();
        assert_eq!(read, written);
    }
    world.finish().await;
}
