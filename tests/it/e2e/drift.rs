//! Drift: every row of the table in `docs/design/protocol.md#drift` that no other test has.

use github_emulator::{Fault, What, When};
use hob_domain::{BlockCode, State};
use http::Method;
use serde_json::{Value, json};

use crate::harness::{World, run};

/// A world with an issue in review.
async fn in_review() -> (World, u64, u64) {
    let world = World::fixing().script("fixer", "echo $n > done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let pull = world.pull().await["number"].as_u64().unwrap();
    (world, issue, pull)
}

async fn delete_ledger(world: &World, issue: u64) {
    world.call("ann", Method::DELETE, &format!("/git/refs/hob/issues/{issue}"), Value::Null).await;
}

/// Requirement A4.
#[tokio::test]
async fn two_state_labels_become_the_one_of_the_ledger() {
    let (world, issue, _) = in_review().await;
    world.labels_on("ann", issue, "in-progress").await;
    world.labels_on("ann", issue, "assigned").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    let history = world.history(issue).await;
    assert!(history.iter().any(|line| line.contains("repaired the labels: assigned, in-progress")), "{history:?}");
    world.finish().await;
}

#[tokio::test]
async fn a_missing_state_label_comes_back() {
    let (world, issue, _) = in_review().await;
    world.labels_off("ann", issue, "in-review").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    world.finish().await;
}

/// Another program repeatedly removes the label.
#[tokio::test]
async fn a_label_that_others_take_off_each_time_is_put_on_three_times_and_then_left_with_one_sentence() {
    let (world, issue, pull) = in_review().await;
    let says =
        "Another program or person removes the label `in-review` each time Hob adds it, so Hob no longer adds it.";
    for _ in 0..3 {
        world.labels_off("tess", issue, "in-review").await;
        world.run().await;
        assert_eq!(world.labels(issue).await, ["code", "in-review"]);
        assert!(!world.status(issue).await.contains("Another program"), "{}", world.status(issue).await);
    }
    world.labels_off("tess", issue, "in-review").await;
    for _ in 0..3 {
        world.run().await;
        assert_eq!(world.labels(issue).await, ["code"], "{:?}", world.failures());
        assert_eq!(world.status(issue).await.matches(says).count(), 1, "{}", world.status(issue).await);
    }
    let history = world.history(issue).await;
    let gave_up = history.iter().filter(|line| line.contains("change back each time: in-review")).count();
    let repaired = history.iter().filter(|line| line.contains("repaired the labels: in-review")).count();
    assert_eq!((repaired, gave_up, world.said(issue).await.len()), (3, 1, 1), "{history:?}");
    assert_eq!(world.record(issue).await.unwrap().state, State::InReview);

    // A label that is not fought over is repaired nevertheless, and a day later this one is, too.
    world.labels_on("tess", issue, "assigned").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code"]);
    world.forge.advance(std::time::Duration::from_secs(25 * 3_600));
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    assert!(!world.status(issue).await.contains("Another program"), "{}", world.status(issue).await);
    // The pull request was followed all along.
    world.labels_off("tess", issue, "in-review").await;
    world.call("ann", Method::PUT, &format!("/pulls/{pull}/merge"), json!({})).await;
    world.run().await;
    assert_eq!(world.record(issue).await.unwrap().state, State::Done);
    world.finish().await;
}

/// The state changes: Hob may add its label again.
#[tokio::test]
async fn a_label_that_was_given_up_does_not_hold_up_what_people_say() {
    let (world, issue, pull) = in_review().await;
    for _ in 0..4 {
        world.labels_off("tess", issue, "in-review").await;
        world.run().await;
    }
    assert_eq!(world.labels(issue).await, ["code"]);
    world.edits("ann", pull, json!({"state": "closed"})).await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["blocked", "code"], "{:?}", world.failures());
    // Hob's own changes of a label are not a fight, however often they occur.
    for n in 1..=4 {
        world.edits("ann", pull, json!({"state": "open"})).await;
        world.run().await;
        assert_eq!(world.labels(issue).await, ["code", "in-review"], "{n}: {:?}", world.failures());
        world.edits("ann", pull, json!({"state": "closed"})).await;
        world.run().await;
        assert_eq!(world.labels(issue).await, ["blocked", "code"], "{n}: {:?}", world.failures());
    }
    world.finish().await;
}

#[tokio::test]
async fn a_deleted_ledger_is_made_anew_from_the_pull_request() {
    let (world, issue, pull) = in_review().await;
    delete_ledger(&world, issue).await;
    world.run().await;
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.state, record.pull.number.unwrap().0), (State::InReview, pull));
    assert_eq!((world.pulls().await.len(), world.briefs(issue).len()), (1, 1));
    // It goes on as if nothing had been.
    world.call("ann", Method::PUT, &format!("/pulls/{pull}/merge"), json!({})).await;
    world.run().await;
    assert_eq!(world.record(issue).await.unwrap().state, State::Done);
    world.finish().await;
}

#[tokio::test]
async fn a_deleted_ledger_without_a_state_label_opens_no_second_pull_request() {
    let (world, issue, pull) = in_review().await;
    delete_ledger(&world, issue).await;
    world.labels_off("ann", issue, "in-review").await;
    world.run().await;
    assert_eq!(world.record(issue).await.unwrap().pull.number.unwrap().0, pull);
    assert_eq!((world.pulls().await.len(), world.labels(issue).await), (1, vec!["code".into(), "in-review".into()]));
    world.finish().await;
}

#[tokio::test]
async fn a_deleted_ledger_of_a_blocked_issue_asks_whether_to_go_on() {
    let question = r#"case $n in 0) echo half > half.txt; echo '{"outcome":"question","question":"Which?"}' ;;
        *) echo done > done.txt ;; esac"#;
    let world = World::with_agent(question).check("test -f done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    delete_ledger(&world, issue).await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["blocked", "code"]);
    assert!(world.status(issue).await.contains("The ledger of this issue was deleted"));
    world.comments("ann", issue, "/hob retry").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    let mut changed = world.changed(world.pull().await["number"].as_u64().unwrap()).await;
    changed.sort();
    assert_eq!(changed, ["done.txt", "half.txt"], "the branch was found again");
    world.finish().await;
}

#[tokio::test]
async fn a_ledger_deleted_before_the_first_comment_does_not_hold_the_issue_up() {
    let world = World::fixing().start().await;
    world.asks("Makes the labels", "").await;
    world.run().await;
    // The claim's label, the ledger deleted by a person, and the worker gone.
    let issue = world.asks("Make done.txt again", "").await;
    world.labels_on("hob", issue, "assigned").await;
    let why = world.hob(&["explain", &issue.to_string()]).await.stdout;
    assert!(why.contains("its ledger was deleted: it would be rebuilt"), "{why}");
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code"], "{:?}", world.failures());
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    world.finish().await;
}

#[tokio::test]
async fn a_state_label_by_hand_costs_no_call_until_the_issue_changes() {
    let world = World::fixing().start().await;
    let issue = world.opens("ann", "Mine", "", &["code", "blocked"]).await;
    let worker = world.worker("w1").await;
    run(&worker).await;
    let before = worker.forge().connection().call_counts();
    run(&worker).await;
    let idle = worker.forge().connection().call_counts();
    // The list, the ledgers, and the tip with the repository's file.
    assert_eq!((idle.reads - before.reads, idle.unchanged - before.unchanged), (0, 3));
    world.labels_off("ann", issue, "blocked").await;
    assert_eq!(run(&worker).await.worked, 1, "{:?}", world.failures());
    world.finish().await;
}

#[tokio::test]
async fn the_status_comment_in_the_place_of_a_deleted_one_is_found_though_nobody_noted_it() {
    let (world, issue, pull) = in_review().await;
    let comments = world.look(&format!("/issues/{issue}/comments")).await;
    let deleted = comments[0]["id"].clone();
    world.call("ann", Method::DELETE, &format!("/issues/comments/{deleted}"), Value::Null).await;
    // The worker that wrote this one died before the ledger had its id.
    let body = comments[0]["body"].as_str().unwrap();
    world.comments("hob", issue, body).await;
    world.edits("ann", pull, json!({"state": "closed"})).await;
    world.run().await;
    // The question that its rejection asks is a comment of its own.
    assert_eq!(world.said(issue).await.len(), 2);
    assert!(world.status(issue).await.contains("without a merge"), "{}", world.status(issue).await);
    // When all are gone a new one is written.
    for comment in world.look(&format!("/issues/{issue}/comments")).await.as_array().unwrap() {
        let path = format!("/issues/comments/{}", comment["id"]);
        world.call("ann", Method::DELETE, &path, Value::Null).await;
    }
    world.edits("ann", pull, json!({"state": "open"})).await;
    world.run().await;
    assert_eq!(world.said(issue).await.len(), 1);
    world.finish().await;
}

#[tokio::test]
async fn a_state_label_by_hand_keeps_hob_away() {
    let world = World::fixing().start().await;
    world.asks("Makes the labels", "").await;
    world.run().await;
    let issue = world.opens("ann", "Mine", "", &["code", "in-review"]).await;
    world.comments("ann", issue, "I do this one.").await;
    world.run().await;
    assert_eq!((world.labels(issue).await, world.record(issue).await), (vec!["code".into(), "in-review".into()], None));
    let why = world.hob(&["explain", &issue.to_string()]).await.stdout;
    assert!(why.contains("it has the label `in-review`, which Hob did not add"), "{why}");
    world.finish().await;
}

#[tokio::test]
async fn a_pull_request_that_is_opened_again_is_in_review_again() {
    let (world, issue, pull) = in_review().await;
    world.edits("ann", pull, json!({"state": "closed"})).await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["blocked", "code"]);
    world.edits("ann", pull, json!({"state": "open"})).await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    assert_eq!((world.record(issue).await.unwrap().state, world.briefs(issue).len()), (State::InReview, 1));
    world.finish().await;
}

/// Even on a paused issue: the person who opened it again said how to continue.
#[tokio::test]
async fn an_answer_before_a_pull_request_is_opened_again_is_worked_on() {
    let (world, issue, pull) = in_review().await;
    world.edits("ann", pull, json!({"state": "closed"})).await;
    world.run().await;
    for said in ["/hob pause", "Use UTC."] {
        world.comments("ann", issue, said).await;
        assert_eq!(world.run().await.worked, 0);
    }
    world.edits("ann", pull, json!({"state": "open"})).await;
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    assert!(world.briefs(issue)[1].contains("Use UTC."));
    world.finish().await;
}

/// A command on the pull request waits for a look for commands, which comes once the issue is in review.
#[tokio::test]
async fn a_pull_request_that_is_opened_again_is_in_review_before_a_command_on_it_is_followed() {
    let (world, issue, pull) = in_review().await;
    world.edits("ann", pull, json!({"state": "closed"})).await;
    world.run().await;
    for said in ["/hob cancl", "/hob cancel"] {
        world.comments("ann", pull, said).await;
    }
    let why = hob_worker::explain::all(&*world.worker("w1").await).await.unwrap().remove(0).why;
    assert_eq!(why, "it waits for a person's answer");
    world.edits("ann", pull, json!({"state": "open"})).await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    world.run().await;
    assert_eq!(world.record(issue).await.unwrap().state, State::Done);
    world.finish().await;
}

#[tokio::test]
async fn an_issue_that_is_closed_and_opened_again_keeps_its_open_pull_request() {
    let (world, issue, pull) = in_review().await;
    world.edits("ann", issue, json!({"state": "closed"})).await;
    world.run().await;
    assert_eq!(world.record(issue).await.unwrap().state, State::Done);
    world.edits("ann", issue, json!({"state": "open"})).await;
    world.run().await;
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.state, record.pull.number.unwrap().0), (State::InReview, pull));
    assert_eq!((world.pulls().await.len(), world.labels(issue).await), (1, vec!["code".into(), "in-review".into()]));
    world.finish().await;
}

/// Case c23.
#[tokio::test]
async fn an_issue_closed_as_not_planned_says_so_once_on_its_pull_request() {
    let (world, issue, pull) = in_review().await;
    for reason in ["not_planned", "duplicate"] {
        world.edits("tess", issue, json!({"state": "closed", "state_reason": reason})).await;
        world.run().await;
        assert_eq!(world.record(issue).await.unwrap().state, State::Done);
        let said: Vec<_> = world.said(pull).await.into_iter().filter(|said| said.author == "hob").collect();
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].text.contains(&format!("`tess` closed #{issue} as not planned. Close this pull")), "{said:?}");
        let status = world.status(issue).await;
        let stopped = format!(
            "**Stopped**: `tess` closed the issue as {}",
            if reason == "duplicate" { "a duplicate" } else { "not planned" }
        );
        assert!(status.contains(&stopped), "{status}");
        world.edits("ann", issue, json!({"state": "open"})).await;
        world.run().await;
        assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
        assert!(world.status(issue).await.contains("**In review**"), "{}", world.status(issue).await);
    }
    world.merges(pull).await;
    world.run().await;
    assert!(world.status(issue).await.contains("**Done**"), "{}", world.status(issue).await);
    world.finish().await;
}

#[tokio::test]
async fn the_pull_request_of_a_duplicate_is_closed_where_the_settings_say_so() {
    let world = World::fixing().set("review.closed_issue", "close").start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let pull = world.pull().await["number"].as_u64().unwrap();
    world.edits("tess", issue, json!({"state": "closed", "state_reason": "duplicate"})).await;
    for _ in 0..2 {
        world.run().await;
        assert_eq!(world.look(&format!("/pulls/{pull}")).await["state"], "closed");
        let said = world.said(pull).await;
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].text.contains("as a duplicate. So Hob closed this pull request."), "{said:?}");
    }
    world.finish().await;
}

#[tokio::test]
async fn a_merge_that_closes_no_issue_ends_the_work_all_the_same() {
    let (world, issue, pull) = in_review().await;
    world.edits("ann", pull, json!({"body": "Does half of it."})).await;
    world.call("ann", Method::PUT, &format!("/pulls/{pull}/merge"), json!({})).await;
    world.run().await;
    world.run().await;
    assert_eq!((world.record(issue).await.unwrap().state, world.labels(issue).await), (State::Done, vec![]));
    assert_eq!(world.briefs(issue).len(), 1, "nobody begins anew");
    world.finish().await;
}

/// Attack corpus A10.
#[tokio::test]
async fn an_issue_that_was_transferred_ends_without_a_word() {
    let (world, issue, _) = in_review().await;
    world.labels_off("ann", issue, "code").await;
    let headers = [("location".to_owned(), "https://forge.example/other".to_owned())].into();
    let what = What::Answer { status: 301, headers, message: "Moved Permanently".to_owned() };
    let path = format!("/repos/*/*/issues/{issue}");
    world.forge.inject(Fault { method: Some("GET".to_owned()), path, login: None, when: When::Always, what });
    let other = world.asks("Another", "").await;
    world.run().await;
    assert_eq!(world.record(issue).await.unwrap().state, State::Done, "{:?}", world.failures());
    assert_eq!(world.labels(other).await, ["code", "in-review"], "it stops nobody else");
    world.forge.heal();
    world.labels_off("ann", issue, "in-review").await;
    world.finish().await;
}

#[tokio::test]
async fn a_deleted_repository_ledger_begins_anew() {
    let (world, _, _) = in_review().await;
    world.call("ann", Method::DELETE, "/git/refs/hob/repository", Value::Null).await;
    let worker = world.worker("w1").await;
    let issue = world.asks("Another", "").await;
    crate::harness::run(&worker).await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    world.finish().await;
}

/// Fails at first, and leaves work on the branch.
const FAILS_FIRST: &str = "case $n in 0) echo half > half.txt; kill -9 $$ ;; *) echo done > done.txt ;; esac";

#[tokio::test]
async fn hob_steps_aside_when_a_person_pushed_to_its_branch() {
    let world = World::with_agent(FAILS_FIRST).check("test -f done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let branch = format!("hob/{issue}-make-done-txt");
    world.pushes_onto("wil", &branch, "mine.txt", "by hand").await;
    world.forge.advance(std::time::Duration::from_secs(3_600));
    world.run().await;
    let blocked = world.record(issue).await.unwrap().blocked.unwrap();
    assert_eq!(blocked.reason, BlockCode::PersonPushed);
    assert!(world.status(issue).await.contains("wil pushed the commit"), "{}", world.status(issue).await);
    assert_eq!(world.briefs(issue).len(), 1, "no agent touches it");
    world.comments("ann", issue, "/hob retry").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    let mut changed = world.changed(world.pull().await["number"].as_u64().unwrap()).await;
    changed.sort();
    assert_eq!(changed, ["done.txt", "half.txt", "mine.txt"], "on top of what the person did");
    world.finish().await;
}

#[tokio::test]
async fn a_branch_that_was_deleted_or_thrown_back_is_begun_anew() {
    for thrown_back in [false, true] {
        let world = World::with_agent(FAILS_FIRST).check("test -f done.txt").start().await;
        let issue = world.asks("Make done.txt", "").await;
        world.run().await;
        let path = format!("/git/refs/heads/hob/{issue}-make-done-txt");
        if thrown_back {
            let main = world.look("/git/ref/heads/main").await["object"]["sha"].clone();
            world.call("ann", Method::PATCH, &path, json!({"sha": main, "force": true})).await;
        } else {
            world.call("ann", Method::DELETE, &path, Value::Null).await;
        }
        world.forge.advance(std::time::Duration::from_secs(3_600));
        world.run().await;
        assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
        assert_eq!(world.changed(world.pull().await["number"].as_u64().unwrap()).await, ["done.txt"]);
        world.finish().await;
    }
}
