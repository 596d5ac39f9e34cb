//! Order and fairness: dependencies between issues, and no waiting behind an issue that cannot continue.

use std::time::Duration;

use hob_domain::State;
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
    let listed = world.hob(&["run", "--dry-run", "--json"]).await.stdout;
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let order: Vec<u64> =
        listed["result"].as_array().unwrap().iter().map(|issue| issue["issue"].as_u64().unwrap()).collect();
    assert_eq!(order, [urgent, older]);
    world.hob(&["run", "--once", "--limit", "1"]).await;
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

/// Row A1: the settings say whose issues are begun; work in progress continues.
#[tokio::test]
async fn an_issue_of_somebody_else_waits_until_it_is_assigned() {
    let world = World::fixing().set("assignee", "Wil").start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.assigns(issue, Method::POST, "ann").await;
    world.run().await;
    assert!(world.record(issue).await.is_none());
    let why = world.hob(&["explain", &issue.to_string()]).await.stdout;
    assert!(why.contains("it is not assigned to `Wil`, as `assignee` requires"), "{why}");
    world.assigns(issue, Method::POST, "wil").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    world.assigns(issue, Method::DELETE, "wil").await;
    let pull = world.pull().await["number"].clone();
    world.call("ann", Method::PUT, &format!("/pulls/{pull}/merge"), json!({})).await;
    world.run().await;
    assert_eq!(world.record(issue).await.unwrap().state, State::Done);
    world.finish().await;
}

#[tokio::test]
async fn issues_of_people_can_be_left_to_them() {
    let world = World::fixing().set("assignee", "none").start().await;
    let (taken, free) = (world.asks("Theirs", "").await, world.asks("Make done.txt", "").await);
    world.assigns(taken, Method::POST, "wil").await;
    world.run().await;
    assert!(world.record(taken).await.is_none());
    assert_eq!(world.labels(free).await, ["code", "in-review"], "{:?}", world.failures());
    world.finish().await;
}

/// Row A1: every command that looks at the queue says why another's issue waits.
#[tokio::test]
async fn each_list_says_why_an_issue_of_somebody_else_waits() {
    let world = World::fixing().set("assignee", "wil").start().await;
    let issue = world.asks("Make done.txt", "").await;
    let says = "it is not assigned to `wil`, as `assignee` requires; assign it to let Hob claim it";
    let number = issue.to_string();
    for (args, code) in [
        (vec!["status"], 0),
        (vec!["explain", &number], 0),
        (vec!["run", "--once", "--dry-run"], 0),
        (vec!["run", &number, "--dry-run"], 0),
        (vec!["run", &number], 8),
    ] {
        let ended = world.hob(&[&args[..], &["--json"]].concat()).await;
        assert!(ended.code == code && ended.stdout.contains(says), "{args:?}: {ended:?}");
    }
    let polled = world.hob(&["run", "--once", "--json"]).await;
    let polled = polled.objects().into_iter().find(|object| object["event"] == "polled").unwrap();
    let waiting = json!([{"issue": issue, "on": "issue", "why": says}]);
    assert_eq!((&polled["ready"], &polled["waiting"]), (&json!(0), &waiting));
    assert_eq!((world.labels(issue).await, world.record(issue).await), (vec!["code".to_owned()], None));
    world.finish().await;
}

/// Row A1: whatever the assignment, a question is answered and a pull request is worked on.
#[tokio::test]
async fn work_that_is_under_way_goes_on_after_its_assignment_is_taken_off() {
    let script = r#"case $HOB_ISSUE$n in
        20) echo '{"outcome":"question","question":"Which colour?"}' ;;
        *) echo done > done.txt; echo $n > $HOB_ISSUE.txt ;;
    esac"#;
    let world = World::fixing().script("fixer", script).set("assignee", "ann").start().await;
    let (reviewed, asked) = (world.asks("Reviewed", "").await, world.asks("Asks", "").await);
    for issue in [reviewed, asked] {
        world.assigns(issue, Method::POST, "ann").await;
    }
    world.run().await;
    let states = async || {
        let [reviewed, asked] = [world.record(reviewed).await.unwrap(), world.record(asked).await.unwrap()];
        (reviewed.state, asked.state)
    };
    assert_eq!(states().await, (State::InReview, State::Blocked), "{:?}", world.failures());
    for issue in [reviewed, asked] {
        world.assigns(issue, Method::DELETE, "ann").await;
    }
    let pull = world.pull().await["number"].as_u64().unwrap();
    world.comments("ann", pull, "/hob Write it once more.").await;
    world.comments("ann", asked, "Green").await;
    world.run().await;
    assert_eq!(states().await, (State::InReview, State::InReview), "{:?}", world.failures());
    assert_eq!((world.briefs(reviewed).len(), world.briefs(asked).len()), (2, 2));
    world.finish().await;
}

/// Row A1: a requeued issue starts over, so it waits, and says for what; commands on it are followed.
#[tokio::test]
async fn a_requeued_issue_waits_for_its_assignee_and_hears_commands() {
    let script = "echo '{\"outcome\":\"quota\",\"reset_after\":1,\"reason\":\"no quota\"}'";
    let world = World::fixing().script("fixer", script).set("assignee", "ann").start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.assigns(issue, Method::POST, "ann").await;
    world.run().await;
    assert_eq!(world.record(issue).await.unwrap().state, State::Ready);
    world.forge.advance(Duration::from_secs(600));
    world.assigns(issue, Method::DELETE, "ann").await;
    world.run().await;
    assert_eq!(world.briefs(issue).len(), 1);
    let waits = "it is not assigned to `ann`, as `assignee` requires";
    let why = world.hob(&["explain", &issue.to_string(), "--json"]).await.stdout;
    assert!(why.contains(&format!("and keep waiting, because {waits}")), "{why}");
    world.comments("ann", issue, "/hob explain").await;
    world.run().await;
    let said = world.said(issue).await;
    assert!(said.iter().any(|said| said.text.contains(waits)), "{said:?}");
    world.comments("ann", issue, "/hob pause").await;
    world.run().await;
    assert!(world.record(issue).await.unwrap().pause().is_some(), "{:?}", world.failures());
    world.finish().await;
}
