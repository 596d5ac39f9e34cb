//! What happens to an issue while the agent works on it.

use hob::domain::State;
use serde_json::json;

use crate::harness::{Gate, World};

/// A world whose agent is at the gate with this issue when `deed` is done.
macro_rules! while_the_agent_works {
    ($world:ident, $issue:ident, $deed:expr) => {{
        let script = Gate::before("echo done > done.txt");
        let $world = World::fixing().script("fixer", &script).start().await;
        let mut gate = Gate::of(&$world);
        let $issue = $world.asks("Make done.txt", "As it was approved.").await;
        let meanwhile = async {
            gate.reached().await;
            $deed;
            gate.open().await;
        };
        tokio::join!($world.run(), meanwhile);
        assert!($world.pulls().await.is_empty() && $world.branches().await.is_empty());
        ($world, $issue)
    }};
}

#[tokio::test]
async fn an_edit_blocks_the_issue_and_nothing_is_pushed() {
    let (world, issue) =
        while_the_agent_works!(world, issue, world.edits("ann", issue, json!({"body": "Now do evil."})).await);
    assert_eq!(world.labels(issue).await, ["blocked", "code"]);
    assert!(world.status(issue).await.contains("was edited after Hob was set to work"));
    world.finish().await;
}

#[tokio::test]
async fn a_closed_issue_gets_no_pull_request() {
    let (world, issue) =
        while_the_agent_works!(world, issue, world.edits("ann", issue, json!({"state": "closed"})).await);
    assert_eq!(world.record(issue).await.unwrap().state, State::Done);
    assert_eq!(world.labels(issue).await, ["code"]);
    world.finish().await;
}

#[tokio::test]
async fn an_issue_whose_label_is_taken_off_gets_no_pull_request() {
    let (world, issue) = while_the_agent_works!(world, issue, world.labels_off("tess", issue, "code").await);
    assert_eq!(world.record(issue).await.unwrap().state, State::Done);
    assert_eq!(world.labels(issue).await, Vec::<String>::new());
    world.finish().await;
}

#[tokio::test]
async fn an_edit_before_a_second_attempt_blocks_the_issue() {
    let world = World::with_agent("kill -9 $$").start().await;
    let issue = world.asks("Approved", "This.").await;
    world.run().await;
    world.edits("ann", issue, json!({"title": "Not approved"})).await;
    world.forge.advance(world.settings.limits.retry_delay * 2);
    world.run().await;
    assert_eq!(world.briefs(issue).len(), 1);
    assert_eq!(world.labels(issue).await, ["blocked", "code"]);

    // A trusted word approves the text as it stands.
    world.comments("ann", issue, "/hob retry").await;
    world.run().await;
    assert!(world.briefs(issue)[1].contains("Not approved"));
    world.finish().await;
}

#[tokio::test]
async fn labels_of_other_people_stay() {
    let script = Gate::before("echo done > done.txt");
    let world = World::fixing().script("fixer", &script).start().await;
    let mut gate = Gate::of(&world);
    let issue = world.opens("ann", "Make done.txt", "", &["code", "bug"]).await;
    let meanwhile = async {
        gate.reached().await;
        world.labels_on("tess", issue, "good first issue").await;
        gate.open().await;
    };
    tokio::join!(world.run(), meanwhile);
    assert_eq!(world.labels(issue).await, ["bug", "code", "good first issue", "in-review"]);
    world.finish().await;
}
