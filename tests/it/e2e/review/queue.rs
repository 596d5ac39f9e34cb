//! Bases that move below a pull request: a branch that must be up to date, and a merge queue.

use github_emulator::{BranchRules, RemovalReason, RequiredChecks};
use hob_domain::State;
use http::Method;
use serde_json::json;

use super::merges_when_green;
use crate::harness::{World, repo_on_forge};

#[tokio::test]
async fn a_branch_that_must_be_up_to_date_gets_its_base_without_an_agent() {
    let world = World::with_agent("echo $n > done.txt").check("test -f done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    let first = world.head(pull).await;
    world.pushes_onto("ann", "main", "more.txt", "more").await;
    assert_eq!(world.run().await.worked, 0, "a base that moved starts nothing by itself");
    let checks = RequiredChecks { strict: true, ..RequiredChecks::named(&["test"]) };
    let rules = BranchRules { required_status_checks: Some(checks), ..BranchRules::default() };
    world.forge.protect_branch(&repo_on_forge(), "main", rules).unwrap();
    world.pushes_onto("ann", "main", "more.txt", "more still").await;
    let passed = json!({"state": "success", "context": "test"});
    world.call("wil", Method::POST, &format!("/statuses/{first}"), passed.clone()).await;
    assert_eq!(world.look(&format!("/pulls/{pull}")).await["mergeable_state"], "behind");
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    let head = world.head(pull).await;
    world.call("wil", Method::POST, &format!("/statuses/{head}"), passed).await;
    assert_eq!(world.look(&format!("/pulls/{pull}")).await["mergeable_state"], "clean");
    assert_eq!(world.look(&format!("/commits/{head}")).await["parents"][0]["sha"], json!(first), "merged, not rebased");
    assert_eq!(world.briefs(issue).len(), 1, "no agent was needed");
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.review.begun, record.review.base_rounds, record.state), (1, 0, State::InReview));
    assert_eq!(world.run().await.worked, 0, "{:?}", world.failures());
    merges_when_green(world, issue, pull, "test").await;
}

/// Case c55: six moves of a base with strict protection, none with a conflict.
#[tokio::test]
async fn a_base_that_moves_without_a_conflict_is_followed_for_ever() {
    let world = World::fixing().set("limits.rounds", "1").start().await;
    let issue = world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    let checks = RequiredChecks { strict: true, ..RequiredChecks::named(&["test"]) };
    let rules = BranchRules { required_status_checks: Some(checks), ..BranchRules::default() };
    world.forge.protect_branch(&repo_on_forge(), "main", rules).unwrap();
    for round in 0..6 {
        world.pushes_onto("ann", "main", "more.txt", &format!("more {round}")).await;
        let passed = json!({"state": "success", "context": "test"});
        let head = world.head(pull).await;
        world.call("wil", Method::POST, &format!("/statuses/{head}"), passed).await;
        assert_eq!(world.run().await.worked, 1, "{round}: {:?}", world.failures());
        assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    }
    assert_eq!(
        (world.briefs(issue).len(), world.said(issue).await.len()),
        (1, 1),
        "no agent ran, and nobody was asked"
    );
    merges_when_green(world, issue, pull, "test").await;
}

#[tokio::test]
async fn what_the_merge_queue_takes_out_for_a_failure_is_worked_on_once() {
    // It does not pass together with the newest base.
    let script = "echo $n > done.txt; test ! -f more.txt || echo fits > fits.txt";
    let world = World::with_agent(script).check("test ! -f more.txt || test -f fits.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    world.pushes_onto("ann", "main", "more.txt", "more").await;
    for reason in [None, Some(RemovalReason::Manual), Some(RemovalReason::QueueCleared)] {
        world.forge.note_merge_queue(&repo_on_forge(), pull, reason).unwrap();
        assert_eq!(world.run().await.worked, 0, "{reason:?} asks for nothing");
    }
    world.forge.note_merge_queue(&repo_on_forge(), pull, Some(RemovalReason::CiFailure)).unwrap();
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    let head = world.head(pull).await;
    assert_eq!(world.look(&format!("/contents/more.txt?ref={head}")).await["name"], "more.txt");
    assert_eq!(world.record(issue).await.unwrap().review.base_rounds, 1);
    assert_eq!(world.run().await.worked, 0, "{:?}", world.failures());
    world.finish().await;
}
