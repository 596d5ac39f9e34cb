//! What people have begun on an issue: Hob waits for it before an agent costs anything.

use http::Method;
use serde_json::{Value, json};

use crate::harness::World;

/// wil opens a pull request whose text is this, with one more file.
async fn opens_pull(world: &World, branch: &str, text: &str) -> u64 {
    world.pushes("wil", branch, "fix.txt", "x").await;
    let pull = json!({"title": "By hand", "head": branch, "base": "main", "body": text});
    world.call("wil", Method::POST, "/pulls", pull).await["number"].as_u64().unwrap()
}

/// Case c22: the tracker of another tool had two pull requests for one issue.
#[tokio::test]
async fn an_issue_waits_for_a_persons_pull_request_and_goes_on_when_that_is_closed() {
    let world = World::fixing().start().await;
    let issue = world.opens("ann", "Make done.txt", "", &[]).await;
    let pull = opens_pull(&world, "wil/fix", &format!("Fixes #{issue}")).await;
    world.labels_on("ann", issue, "code").await;
    world.run().await;
    assert!(world.briefs(issue).is_empty());
    assert_eq!(world.labels(issue).await, ["code"]);
    insta::assert_snapshot!(world.status(issue).await, @"
    <!-- hob:status -->
    **Waiting**: wil's pull request #2 closes this issue. Hob begins when #2 is closed without a merge; `/hob retry` in a comment begins now.
    ");
    let before = world.history(issue).await;
    world.run().await;
    assert_eq!(world.history(issue).await, before, "nothing has changed");
    let why = hob_worker::explain::all(&*world.worker("w1").await).await.unwrap().remove(0).why;
    assert!(why.starts_with("wil's pull request #2 closes this issue. Hob begins when #2 is closed"), "{why}");
    world.call("wil", Method::PATCH, &format!("/pulls/{pull}"), json!({"state": "closed"})).await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    world.finish().await;
}

#[tokio::test]
async fn a_retry_begins_beside_what_people_have_begun() {
    let world = World::fixing().start().await;
    let issue = world.opens("ann", "Make done.txt", "", &["code"]).await;
    world.edits("ann", issue, json!({"assignees": ["tess"]})).await;
    world.run().await;
    let status = world.status(issue).await;
    assert!(
        status.contains("**Waiting**: tess is assigned to this issue. Hob begins when tess is unassigned;"),
        "{status}"
    );
    world.comments("wil", issue, "/hob retry").await;
    world.run().await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    world.finish().await;
}

#[tokio::test]
async fn a_linked_branch_and_then_an_assignee_are_each_waited_for() {
    let world = World::fixing().start().await;
    let issue = world.opens("ann", "Make done.txt", "", &["code"]).await;
    let id = world.look(&format!("/issues/{issue}")).await["node_id"].clone();
    let oid = world.look("/git/ref/heads/main").await["object"]["sha"].clone();
    let query = "mutation($issue: ID!, $oid: GitObjectID!) { createLinkedBranch(input: {issueId: $issue, oid: $oid, name: \"wil/x\"}) { \
        linkedBranch { id } } }";
    let made = world.ask_graphql("wil", json!({"query": query, "variables": {"issue": id, "oid": oid}})).await;
    world.run().await;
    let status = world.status(issue).await;
    assert!(status.contains("**Waiting**: the branch `wil/x` is linked to this issue. Hob begins when"), "{status}");
    world.edits("ann", issue, json!({"assignees": ["wil"]})).await;
    let query = "mutation($id: ID!) { deleteLinkedBranch(input: {linkedBranchId: $id}) { issue { number } } }";
    let id = &made["data"]["createLinkedBranch"]["linkedBranch"]["id"];
    world.ask_graphql("wil", json!({"query": query, "variables": {"id": id}})).await;
    world.run().await;
    let status = world.status(issue).await;
    assert!(status.contains("**Waiting**: wil is assigned to this issue."), "{status}");
    assert!(world.briefs(issue).is_empty());
    world.edits("ann", issue, json!({"assignees": []})).await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    world.finish().await;
}

/// Case fullsend-ai/fullsend#6295: a mention links nothing.
#[tokio::test]
async fn a_mention_a_bots_pull_request_and_an_assignment_on_the_label_hold_nothing() {
    let world = World::fixing().start().await;
    let issue = world.opens("ann", "Make done.txt", "", &["code"]).await;
    opens_pull(&world, "wil/fix", &format!("See #{issue}, which this does not solve.")).await;
    world.pushes("robo[bot]", "robo/fix", "robo.txt", "x").await;
    let pull = json!({"title": "By a bot", "head": "robo/fix", "base": "main", "body": format!("Fixes #{issue}")});
    world.call("robo[bot]", Method::POST, "/pulls", pull).await;
    let assigned = json!({"assignees": ["wil"]});
    world.call("robo[bot]", Method::POST, &format!("/issues/{issue}/assignees"), assigned).await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    world.finish().await;
}

#[tokio::test]
async fn a_merge_of_the_persons_pull_request_ends_the_wait_without_an_agent() {
    let world = World::fixing().start().await;
    let issue = world.opens("ann", "Make done.txt", "", &["code"]).await;
    let pull = opens_pull(&world, "wil/fix", &format!("Closes #{issue}")).await;
    world.run().await;
    world.merges(pull).await;
    world.run().await;
    assert_eq!(world.look(&format!("/issues/{issue}")).await["state"], Value::from("closed"));
    assert!(world.briefs(issue).is_empty());
    world.finish().await;
}
