//! Labels as people see and change them, and the one status comment.

use hob_domain::State;
use http::Method;
use serde_json::json;

use crate::harness::World;

#[tokio::test]
async fn missing_labels_are_made_with_colour_and_description() {
    let world = World::fixing().start().await;
    world.asks("Make done.txt", "").await;
    world.run().await;
    for spec in world.settings.labels.specs() {
        let label = world.call("watch", Method::GET, &format!("/labels/{}", spec.name), json!(null)).await;
        assert_eq!(label["color"], spec.color, "{label}");
        if spec.name != world.settings.labels.trigger {
            assert_eq!(label["description"], spec.description, "{label}");
        }
    }
    world.finish().await;
}

#[tokio::test]
async fn labels_that_contradict_the_ledger_are_repaired() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    world.labels_on("tess", issue, "assigned").await;
    world.labels_off("tess", issue, "in-review").await;
    assert_eq!(world.run().await.reconciled, 1);
    assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    assert!(world.history(issue).await.iter().any(|line| line.starts_with("repaired the labels: ")));
    assert_eq!(world.run().await.reconciled, 0);
    world.finish().await;
}

#[tokio::test]
async fn a_person_who_blocks_an_issue_by_hand_holds_hob_off() {
    let world = World::fixing().start().await;
    let issue = world.opens("ann", "Not yet", "", &["code", "blocked"]).await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["blocked", "code"]);
    assert!(world.record(issue).await.is_none());
    let said = hob_worker::explain::all(&*world.worker("w1").await).await.unwrap();
    assert!(said[0].why.contains("a person added the label `blocked`"), "{said:?}");
    world.labels_off("ann", issue, "blocked").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    world.finish().await;
}

/// Attack corpus A9.
#[tokio::test]
async fn a_pull_request_with_the_label_is_no_issue_to_work_on() {
    let world = World::fixing().start().await;
    world.pushes("wil", "topic", "theirs.txt", "x").await;
    let pull = json!({"title": "Mine", "head": "topic", "base": "main", "body": ""});
    let number = world.call("wil", Method::POST, "/pulls", pull).await["number"].as_u64().unwrap();
    world.labels_on("ann", number, "code").await;
    assert_eq!(world.run().await.worked, 0);
    assert_eq!(world.writes(), []);
    world.finish().await;
}

#[tokio::test]
async fn a_status_comment_that_was_deleted_is_written_anew() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let comments = world.call("ann", Method::GET, &format!("/issues/{issue}/comments"), json!(null)).await;
    world.call("ann", Method::DELETE, &format!("/issues/comments/{}", comments[0]["id"]), json!(null)).await;
    let pull = world.pull().await["number"].as_u64().unwrap();
    world.edits("ann", pull, json!({"state": "closed"})).await;
    world.run().await;
    assert!(world.status(issue).await.contains("**Blocked**"), "{:?}", world.failures());
    world.finish().await;
}

#[tokio::test]
async fn a_finished_issue_that_is_asked_for_again_starts_anew() {
    let world = World::with_agent("echo $n > done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let first = world.pull().await["number"].as_u64().unwrap();
    let merge = json!({"merge_method": "squash"});
    world.call("ann", Method::PUT, &format!("/pulls/{first}/merge"), merge).await;
    world.run().await;
    world.edits("ann", issue, json!({"state": "open"})).await;
    world.labels_off("ann", issue, "code").await;

    // A triager's word does not count now either, and leaves no trace of the first work in the second.
    world.labels_on("tess", issue, "code").await;
    world.run().await;
    assert!(world.status(issue).await.contains("**Refused**"), "{:?}", world.history(issue).await);
    world.labels_off("ann", issue, "code").await;
    world.labels_on("ann", issue, "code").await;
    world.run().await;
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.state, record.attempts.now), (State::InReview, 1), "{}", world.status(issue).await);
    assert_ne!(record.pull.number.unwrap().0, first);
    assert_eq!(record.work.branch.unwrap().name, format!("hob/{issue}-make-done-txt-2"));
    world.finish().await;
}

#[tokio::test]
async fn what_hob_writes_calls_nobody_and_closes_nothing_else() {
    let world =
        World::with_agent("echo done > done.txt; echo 'thanks @ann and @acme/team, see #1; closes #999'").start().await;
    let issue = world.asks("Tell @ann and @wil", "As @rob said.").await;
    world.run().await;
    let pull = world.pull().await;
    let calls = |text: &str| ["@ann", "@wil", "@rob", "@acme", "#999"].iter().any(|call| text.contains(call));
    let number = pull["number"].as_u64().unwrap();
    for text in [pull["body"].as_str().unwrap(), pull["title"].as_str().unwrap(), &world.status(issue).await] {
        assert!(!calls(text), "{text}");
    }
    assert!(!calls(&world.commits(number).await[0].message), "{:?}", world.commits(number).await);
    world.finish().await;
}
