//! Order and fairness: what waits for what, and that nothing waits behind what cannot go on.

use http::Method;
use serde_json::json;

use crate::harness::{World, run};

/// `issue` waits for `blocker`.
async fn depends(world: &World, issue: u64, blocker: u64) {
    let id = world.look(&format!("/issues/{blocker}")).await["id"].clone();
    let path = format!("/issues/{issue}/dependencies/blocked_by");
    world.call("ann", Method::POST, &path, json!({ "issue_id": id })).await;
}

#[tokio::test]
async fn an_issue_waits_for_its_blocker_and_goes_on_by_itself() {
    let world = World::fixing().start().await;
    let blocker = world.opens("ann", "First this", "", &[]).await;
    let issue = world.asks("Make done.txt", "").await;
    depends(&world, issue, blocker).await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code"]);
    let why = world.hob(&["explain", &issue.to_string()]).await.stdout;
    assert!(
        why.contains(&format!("it is blocked by #{blocker}, still open; it is claimed when that is closed")),
        "{why}"
    );
    world.edits("ann", blocker, json!({"state": "closed"})).await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    world.finish().await;
}

#[tokio::test]
async fn an_urgent_issue_goes_before_an_older_one() {
    let world = World::fixing().set("labels.priority", "urgent").start().await;
    let older = world.asks("Later", "").await;
    let urgent = world.asks("At once", "").await;
    world.labels_on("ann", urgent, "urgent").await;
    let listed = world.hob(&["list", "--json"]).await.stdout;
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let order: Vec<u64> =
        listed["result"].as_array().unwrap().iter().map(|issue| issue["issue"].as_u64().unwrap()).collect();
    assert_eq!(order, [urgent, older]);
    world.hob(&["run", "--once", "--max-issues", "1"]).await;
    assert_eq!(world.labels(older).await, ["code"]);
    assert!(world.labels(urgent).await.contains(&"in-review".to_owned()));
    world.finish().await;
}

#[tokio::test]
async fn open_pull_requests_that_nobody_reviews_keep_new_work_away() {
    let script = "echo done > done.txt; echo work > $HOB_ISSUE.txt";
    let world = World::fixing().script("fixer", script).set("limits.open_pulls", "2").start().await;
    let mut issues = Vec::new();
    for n in 0..4 {
        issues.push(world.asks(&format!("Issue {n}"), "").await);
    }
    world.run().await;
    world.run().await;
    assert_eq!(world.pulls().await.len(), 2, "{:?}", world.failures());
    let why = world.hob(&["explain", &issues[2].to_string()]).await.stdout;
    assert!(why.contains("2 pull requests are open or being made, the limit"), "{why}");
    let first = world.pulls().await[0]["number"].as_u64().unwrap();
    world.call("ann", Method::PUT, &format!("/pulls/{first}/merge"), json!({})).await;
    world.run().await;
    world.run().await;
    assert_eq!(world.pulls().await.len(), 3, "{:?}", world.failures());
    world.finish().await;
}

#[tokio::test]
async fn what_cannot_go_on_starves_nobody() {
    let world = World::fixing().set("limits.issues_per_hour", "1").start().await;
    let refused = world.opens("out", "Refused", "", &[]).await;
    world.labels_on("tess", refused, "code").await;
    let by_hand = world.opens("ann", "By hand", "", &["code", "blocked"]).await;
    let waiting = world.asks("Waits", "").await;
    depends(&world, waiting, by_hand).await;
    let free = world.asks("Make done.txt", "").await;
    let worker = world.worker("one").await;
    for _ in 0..3 {
        run(&worker).await;
    }
    assert_eq!(world.labels(free).await, ["code", "in-review"], "{:?}", world.failures());
    assert!(world.status(refused).await.contains("**Refused**"));
    world.finish().await;
}

impl World {
    async fn assigns(&self, issue: u64, method: Method, login: &str) {
        let assignees = json!({ "assignees": [login] });
        self.call("ann", method, &format!("/issues/{issue}/assignees"), assignees).await;
    }
}

/// Row A1: whose issues are begun, the settings say; what is under way goes on.
#[tokio::test]
async fn an_issue_of_somebody_else_waits_until_it_is_assigned() {
    let world = World::fixing().set("issues.assignee", "Wil").start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.assigns(issue, Method::POST, "ann").await;
    world.run().await;
    assert!(world.record(issue).await.is_none());
    let why = world.hob(&["explain", &issue.to_string()]).await.stdout;
    assert!(why.contains("it is not assigned to `Wil`, as `issues.assignee` wants"), "{why}");
    world.assigns(issue, Method::POST, "wil").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    world.assigns(issue, Method::DELETE, "wil").await;
    let pull = world.pull().await["number"].clone();
    world.call("ann", Method::PUT, &format!("/pulls/{pull}/merge"), json!({})).await;
    world.run().await;
    assert_eq!(world.record(issue).await.unwrap().state, hob_domain::State::Done);
    world.finish().await;
}

#[tokio::test]
async fn issues_of_people_can_be_left_to_them() {
    let world = World::fixing().set("issues.assignee", "none").start().await;
    let (taken, free) = (world.asks("Theirs", "").await, world.asks("Make done.txt", "").await);
    world.assigns(taken, Method::POST, "wil").await;
    world.run().await;
    assert!(world.record(taken).await.is_none());
    assert_eq!(world.labels(free).await, ["code", "in-review"], "{:?}", world.failures());
    world.finish().await;
}
