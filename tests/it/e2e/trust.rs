//! Who may set Hob to work.

use std::time::Duration;

use hob::domain::State;
use http::Method;
use serde_json::json;

use crate::harness::World;

async fn refused(world: &World, issue: u64, reason: &str) {
    let summary = world.run().await;
    assert_eq!((summary.worked, summary.failed), (0, 0), "{:?}", world.failures());
    let status = world.status(issue).await;
    assert!(status.contains("**Refused**") && status.contains(reason), "{status}");
    assert_eq!(world.labels(issue).await, ["code"]);
    assert!(world.history(issue).await.iter().any(|line| line.starts_with("refused: ")));
    let before = world.writes().len();
    world.run().await;
    assert_eq!(world.writes().len(), before, "a refusal is said once");
    assert!(world.briefs(issue).is_empty());
}

#[tokio::test]
async fn a_label_by_a_triager_is_refused_once_until_a_trusted_person_labels_anew() {
    let world = World::fixing().start().await;
    let issue = world.opens("out", "Evil", "x", &[]).await;
    world.labels_on("tess", issue, "code").await;
    refused(&world, issue, "`tess` has triage permission here, and write is needed").await;

    world.labels_off("ann", issue, "code").await;
    world.labels_on("ann", issue, "code").await;
    world.run().await;
    assert_eq!(world.record(issue).await.unwrap().state, State::InReview, "{:?}", world.history(issue).await);
    world.pull().await;
    world.finish().await;
}

#[tokio::test]
async fn a_bot_that_is_not_listed_is_refused_and_a_listed_one_is_not() {
    let world = World::fixing().set("trust.bots", "renovate[bot]").start().await;
    let issue = world.opens("out", "By a bot", "", &[]).await;
    world.labels_on("robo[bot]", issue, "code").await;
    refused(&world, issue, "`robo[bot]` is a bot that `trust.bots` does not list").await;
    let other = world.opens("out", "By a listed bot", "", &[]).await;
    world.labels_on("renovate[bot]", other, "code").await;
    world.run().await;
    assert_eq!(world.labels(other).await, ["code", "in-review"]);
    world.finish().await;
}

#[tokio::test]
async fn the_latest_labeled_event_decides() {
    let world = World::fixing().start().await;
    let issue = world.asks("Taken over", "").await;
    world.labels_off("tess", issue, "code").await;
    world.labels_on("tess", issue, "code").await;
    refused(&world, issue, "`tess`").await;
    world.finish().await;
}

#[tokio::test]
async fn the_event_that_decides_is_found_on_the_fourth_page() {
    let world = World::fixing().start().await;
    let issue = world.asks("Many events", "").await;
    for n in 0..160 {
        let path = format!("/issues/{issue}/labels");
        let label = format!("l{}", n % 2);
        world.call("ann", Method::POST, &path, json!({"labels": [label]})).await;
        world.call("ann", Method::DELETE, &format!("{path}/{label}"), json!(null)).await;
    }
    world.labels_off("tess", issue, "code").await;
    world.labels_on("tess", issue, "code").await;
    world.forge.advance(Duration::from_secs(1));
    refused(&world, issue, "`tess`").await;
    world.finish().await;
}
