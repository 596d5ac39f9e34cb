//! Commands in comments: each takes effect once, and its comment shows that.

use hob_domain::State;
use http::Method;
use serde_json::{Value, json};

use crate::harness::{Gate, World, run};

/// A world with one issue in review.
async fn in_review() -> (World, u64) {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    (world, issue)
}

/// The texts of Hob's replies, and the reactions on the comments with commands.
async fn receipts(world: &World, issue: u64) -> (Vec<String>, Vec<String>) {
    let said = world.said(issue).await;
    let replies = said.into_iter().filter(|said| said.text.starts_with("<!-- hob:reply ")).map(|said| said.text);
    let comments = world.look(&format!("/issues/{issue}/comments?per_page=100")).await;
    let mut reactions = Vec::new();
    for comment in comments.as_array().unwrap() {
        let on = world.look(&format!("/issues/comments/{}/reactions", comment["id"])).await;
        reactions.extend(on.as_array().unwrap().iter().map(|one| one["content"].as_str().unwrap().to_owned()));
    }
    (replies.collect(), reactions)
}

#[tokio::test]
async fn a_pause_and_a_resume_hold_an_issue_and_let_it_go() {
    let (world, issue) = in_review().await;
    world.comments("ann", issue, "/hob pause until Monday").await;
    world.run().await;
    assert!(world.status(issue).await.contains("**Paused** by `ann` (until Monday)"), "{}", world.status(issue).await);
    world.comments("ann", issue, "/hob resume").await;
    world.run().await;
    world.run().await;
    assert_eq!(world.record(issue).await.unwrap().paused, None);
    assert_eq!(receipts(&world, issue).await, (vec![], vec!["eyes".to_owned(), "eyes".to_owned()]));
    let history = world.history(issue).await;
    assert_eq!(history.iter().filter(|line| line.starts_with("paused by ann")).count(), 1, "{history:?}");
    world.finish().await;
}

#[tokio::test]
async fn a_pause_interrupts_a_running_agent() {
    let script = Gate::before("echo done > done.txt");
    let world = World::fixing().script("fixer", &script).set("poll.interval", "20ms").start().await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "").await;
    let worker = world.worker("busy").await;
    tokio::join!(run(&worker), async {
        gate.reached().await;
        world.comments("out", issue, "/hob pause").await;
        world.comments("ann", issue, "/hob pause").await;
    });
    let record = world.record(issue).await.unwrap();
    assert!(record.state == State::Ready && record.paused.is_some_and(|pause| pause.by.as_str() == "ann"));
    assert_eq!(receipts(&world, issue).await, (vec![], vec!["eyes".to_owned()]));
    world.finish().await;
}

#[tokio::test]
async fn what_cannot_be_followed_and_a_call_for_help_are_answered_once() {
    let (world, issue) = in_review().await;
    for said in ["/hob retyr", "/hob help", "/hob approve"] {
        world.comments("ann", issue, said).await;
    }
    world.run().await;
    world.run().await;
    let (replies, reactions) = receipts(&world, issue).await;
    assert_eq!(reactions, ["confused", "eyes", "confused"]);
    for (reply, says) in
        replies.iter().zip(["did you mean `/hob retry`?", "- `/hob pause TEXT`", "Nothing waits for approval"])
    {
        assert!(reply.contains(says), "{replies:?}");
    }
    assert_eq!(replies.len(), 3);
    world.finish().await;
}

#[tokio::test]
async fn quotes_code_edits_and_strangers_command_nothing() {
    let (world, issue) = in_review().await;
    let before = world.writes().len();
    for (login, said) in
        [("ann", "> /hob cancel"), ("ann", "```\n/hob cancel\n```"), ("out", "/hob cancel"), ("out", "/hob typo")]
    {
        world.comments(login, issue, said).await;
    }
    world.comments("ann", issue, "Fine.").await;
    let comments = world.look(&format!("/issues/{issue}/comments")).await;
    let id = comments.as_array().unwrap().last().unwrap()["id"].clone();
    world.forge.advance(std::time::Duration::from_secs(2));
    world.call("wil", Method::PATCH, &format!("/issues/comments/{id}"), json!({"body": "/hob cancel"})).await;
    world.run().await;
    assert_eq!(world.writes().len(), before);
    assert_eq!(receipts(&world, issue).await, (vec![], vec![]));
    assert_ne!(world.look(&format!("/issues/{issue}")).await["labels"], Value::Null);
    world.finish().await;
}
