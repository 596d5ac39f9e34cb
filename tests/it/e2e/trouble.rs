//! A forge in trouble, and people in the way.

use std::time::Duration;

use hob_domain::State;
use http::Method;
use serde_json::json;

use crate::harness::{Gate, World, in_virtual_time, run};

/// The agent's work is published when the limit is over: it is not paid for twice.
#[test]
fn a_rate_limit_that_is_used_up_in_an_attempt_is_waited_out() {
    in_virtual_time(Box::pin(async {
        let turnstile = std::sync::Arc::default();
        let script = Gate::before("echo done > done.txt");
        let world = World::fixing().script("fixer", &script).inside(&turnstile).start().await;
        let mut gate = Gate::of(&world);
        let issue = world.asks("Make done.txt", "").await;
        let meanwhile = async {
            gate.reached().await;
            world.forge.limit_rate(1);
            gate.open().await;
            tokio::time::sleep(Duration::from_secs(600)).await;
            world.forge.limit_rate(1_000_000);
        };
        tokio::join!(world.run(), meanwhile);
        assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
        assert_eq!(world.briefs(issue).len(), 1);
        world.pull().await;
        world.finish().await;
    }));
}

#[tokio::test]
async fn a_branch_that_somebody_moved_meanwhile_is_not_overwritten() {
    let script = format!(
        "case $n in 0) echo half > half.txt; echo '{{\"outcome\":\"question\",\"question\":\"Go on?\"}}';; *) {} ;; esac",
        Gate::before("echo done > done.txt")
    );
    let world = World::fixing().script("fixer", &script).start().await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    world.comments("ann", issue, "/hob retry").await;
    let theirs = world.pushes("wil", "elsewhere", "theirs.txt", "mine").await;
    let at = format!("/git/refs/heads/hob/{issue}-make-done-txt");
    let meanwhile = async {
        gate.reached().await;
        world.call("wil", Method::PATCH, &at, json!({"sha": theirs, "force": true})).await;
        gate.open().await;
    };
    tokio::join!(world.run(), meanwhile);
    let tip = world.call("wil", Method::GET, &at.replace("/refs/", "/ref/"), json!(null)).await;
    assert_eq!(tip["object"]["sha"], theirs, "their work is still there");
    assert!(world.pulls().await.is_empty());
    let record = world.record(issue).await.unwrap();
    assert!(matches!(record.state, State::Blocked | State::Ready), "{record:?}");
    world.finish().await;
}

#[tokio::test]
async fn an_issue_that_is_gone_does_not_stop_the_others() {
    let world = World::fixing().start().await;
    let first = world.asks("Make done.txt", "").await;
    let second = world.asks("Make it again", "").await;
    world.edits("ann", first, json!({"state": "closed"})).await;
    assert_eq!(world.run().await.worked, 1);
    assert!(world.record(first).await.is_none());
    assert_eq!(world.labels(second).await, ["code", "in-review"]);
    world.finish().await;
}

#[tokio::test]
async fn a_ledger_that_cannot_be_read_stops_its_own_issue_only() {
    let world = World::fixing().start().await;
    let bad = world.asks("Spoiled", "").await;
    let good = world.asks("Make done.txt", "").await;
    let main = world.call("ann", Method::GET, "/git/ref/heads/main", json!(null)).await;
    let spoiled = json!({"ref": format!("refs/hob/issues/{bad}"), "sha": main["object"]["sha"]});
    world.call("ann", Method::POST, "/git/refs", spoiled).await;
    assert_eq!(world.run().await.worked, 1);
    assert_eq!(world.labels(good).await, ["code", "in-review"]);
    assert!(world.failures()[0].contains("no readable record"), "{:?}", world.failures());
    world.call("ann", Method::DELETE, &format!("/git/refs/hob/issues/{bad}"), json!(null)).await;
    assert_eq!(world.run().await.worked, 1);
    world.finish().await;
}

#[tokio::test]
async fn ledgers_of_finished_issues_are_not_asked_for_again() {
    let world = World::fixing().start().await;
    let worker = world.worker("w1").await;
    for n in 0..3 {
        let issue = world.asks(&format!("Chore {n}"), "").await;
        run(&worker).await;
        world.edits("ann", issue, json!({"state": "closed"})).await;
    }
    run(&worker).await;
    run(&worker).await;
    let before = worker.forge().connection().call_counts();
    run(&worker).await;
    let after = worker.forge().connection().call_counts();
    assert_eq!(after.reads - before.reads, 0, "all is as it was");
    assert_eq!(after.unchanged - before.unchanged, 3, "the default branch, the list of issues and the list of ledgers");
    world.finish().await;
}
