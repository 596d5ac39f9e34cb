//! The accounts that may set Hob to work.

use std::{collections::BTreeMap, time::Duration};

use github_emulator::{Fault, Role, What, When};
use hob_domain::State;
use http::Method;
use serde_json::json;

use crate::harness::{World, repo_on_forge};

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

/// Attack corpus A1.
#[tokio::test]
async fn a_label_by_a_triager_is_refused_once_until_a_trusted_person_labels_anew() {
    let world = World::fixing().start().await;
    let issue = world.opens("out", "Evil", "x", &[]).await;
    world.labels_on("tess", issue, "code").await;
    refused(&world, issue, "`tess` has triage permission here; write permission is required").await;

    world.labels_off("ann", issue, "code").await;
    world.labels_on("ann", issue, "code").await;
    world.run().await;
    assert_eq!(world.record(issue).await.unwrap().state, State::InReview, "{:?}", world.history(issue).await);
    world.pull().await;
    world.finish().await;
}

/// Attack corpus A2: the form's label is added in the name of the author, who could not do it by hand.
#[tokio::test]
async fn an_issue_form_that_labels_an_outsiders_issue_sets_nobody_to_work() {
    let world = World::fixing().start().await;
    world.forge.set_role(&repo_on_forge(), &"out".into(), Role::Triage).unwrap();
    let issue = world.opens("out", "Bug report", "### What happened?", &["code"]).await;
    world.forge.set_role(&repo_on_forge(), &"out".into(), Role::Read).unwrap();
    refused(&world, issue, "`out` has read permission here").await;
    world.finish().await;
}

/// Attack corpus A11, B15: it is unknown who added the label, and when.
#[tokio::test]
async fn a_label_that_no_event_explains_is_refused() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.forge.inject(Fault {
        method: Some("GET".to_owned()),
        path: format!("/repos/acme/site/issues/{issue}/events"),
        login: Some("hob".into()),
        when: When::Always,
        what: What::Raw { status: 200, headers: BTreeMap::new(), body: "[]".to_owned() },
    });
    // Its event may lag, so it is refused when the issue has been quiet for longer than any lag.
    world.forge.advance(std::time::Duration::from_secs(301));
    refused(&world, issue, "no event says who put the label `code` on").await;
    world.finish().await;
}

/// Attack corpus A3.
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

/// Attack corpus A7.
#[tokio::test]
async fn the_latest_labeled_event_decides() {
    let world = World::fixing().start().await;
    let issue = world.asks("Taken over", "").await;
    world.labels_off("tess", issue, "code").await;
    world.labels_on("tess", issue, "code").await;
    refused(&world, issue, "`tess`").await;
    world.finish().await;
}

/// Attack corpus A11.
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

/// Attack corpus A6.
#[tokio::test]
async fn a_labeller_who_lost_the_permission_since_is_refused() {
    let world = World::fixing().start().await;
    let issue = world.opens("wil", "As a leaver", "", &["code"]).await;
    world.forge.set_role(&repo_on_forge(), &"wil".into(), Role::Read).unwrap();
    refused(&world, issue, "`wil` has read permission here").await;
    world.finish().await;
}

/// Attack corpus A8.
#[tokio::test]
async fn a_look_alike_of_the_label_is_no_trigger() {
    let world = World::fixing().start().await;
    world.opens("ann", "Cyrillic", "", &["c\u{43e}de"]).await;
    world.opens("ann", "Longer", "", &["code-review"]).await;
    assert_eq!(world.run().await.worked, 0);
    assert_eq!(world.writes(), []);
    let other_case = world.opens("ann", "The same to the forge", "", &["Code"]).await;
    world.run().await;
    assert_eq!(world.labels(other_case).await, ["code", "in-review"]);
    world.finish().await;
}

#[tokio::test]
async fn talk_on_a_refused_issue_does_not_repeat_the_refusal() {
    let world = World::fixing().start().await;
    let issue = world.opens("out", "Evil", "x", &[]).await;
    world.labels_on("tess", issue, "code").await;
    refused(&world, issue, "`tess`").await;
    world.comments("out", issue, "Why? /hob retry").await;
    world.comments("wil", issue, "We shall see.").await;
    let before = world.writes().len();
    world.run().await;
    assert_eq!(world.writes().len(), before);
    // A second label by another account without the permission is a separate refusal, in the same comment.
    world.labels_off("tess", issue, "code").await;
    world.run().await;
    world.labels_on("tess", issue, "code").await;
    world.run().await;
    assert_eq!(world.said(issue).await.iter().filter(|said| said.author == "hob").count(), 1);
    world.finish().await;
}

/// Edits the issue as an account that opened it, and so may.
async fn rewrites(world: &World, issue: u64, change: serde_json::Value) {
    world.edits("out", issue, change).await;
}

/// An issue of an outsider's with the label.
async fn labelled() -> (World, u64) {
    let world = World::fixing().start().await;
    let issue = world.opens("out", "Make done.txt", "As it was seen.", &[]).await;
    world.forge.advance(Duration::from_secs(5));
    world.labels_on("ann", issue, "code").await;
    (world, issue)
}

/// A ticked box is not an edit, by any account.
#[tokio::test]
async fn a_box_that_an_outsider_ticks_after_the_label_holds_nothing() {
    let world = World::fixing().start().await;
    let issue = world.opens("out", "Make done.txt", "Do:\n\n- [ ] this\n- [ ] that", &[]).await;
    world.forge.advance(Duration::from_secs(5));
    world.labels_on("ann", issue, "code").await;
    rewrites(&world, issue, serde_json::json!({"body": "Do: \r\n\r\n- [x] this\r\n- [ ] that\r\n"})).await;
    rewrites(&world, issue, serde_json::json!({"body": "Do:\n\n- [x] this\n- [x] that"})).await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    world.finish().await;
}

#[tokio::test]
async fn a_word_between_two_boxes_that_an_outsider_ticks_holds_the_work() {
    let world = World::fixing().start().await;
    let issue = world.opens("out", "Make done.txt", "- [ ] this", &[]).await;
    world.forge.advance(Duration::from_secs(5));
    world.labels_on("ann", issue, "code").await;
    for body in ["- [x] this", "- [x] this and more", "- [ ] this and more"] {
        rewrites(&world, issue, serde_json::json!({ "body": body })).await;
    }
    is_held_for_a_person(world, issue).await;
}

/// Nothing is done with a text that the person who added the label did not see.
async fn is_held_for_a_person(world: World, issue: u64) {
    world.run().await;
    assert_eq!(world.labels(issue).await, ["blocked", "code"]);
    assert!(world.status(issue).await.contains("was edited after the work on it was authorized"));
    assert!(world.briefs(issue).is_empty() && world.branches().await.is_empty());
    world.comments("wil", issue, "/hob retry").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    world.finish().await;
}

/// Attack corpus B12, J112.
#[tokio::test]
async fn an_edit_between_the_label_and_the_first_look_is_held_for_a_person() {
    let (world, issue) = labelled().await;
    world.forge.advance(Duration::from_secs(5));
    rewrites(&world, issue, json!({"body": "Now do evil."})).await;
    is_held_for_a_person(world, issue).await;
}

/// Attack corpus B13, J112.
#[tokio::test]
async fn a_new_title_between_the_label_and_the_first_look_is_held_for_a_person() {
    let (world, issue) = labelled().await;
    world.forge.advance(Duration::from_secs(5));
    rewrites(&world, issue, json!({"title": "Evil"})).await;
    is_held_for_a_person(world, issue).await;
}

/// Attack corpus B14: the forge tells times in whole seconds.
#[tokio::test]
async fn an_edit_in_the_second_of_the_label_is_held_for_a_person() {
    loop {
        let (world, issue) = labelled().await;
        let path = format!("/issues/{issue}");
        let edited = world.call("out", Method::PATCH, &path, json!({"body": "Now do evil."})).await;
        let events = world.look(&format!("{path}/events")).await;
        let labelled = events.as_array().unwrap().iter().find(|event| event["event"] == "labeled").unwrap();
        if edited["updated_at"] == labelled["created_at"] {
            break is_held_for_a_person(world, issue).await;
        }
        // A second has just ended.
        world.leave();
    }
}

#[tokio::test]
async fn an_edit_before_the_label_or_by_an_authorized_account_holds_nothing() {
    let world = World::fixing().start().await;
    let issue = world.opens("out", "Make done.txt", "Draft.", &[]).await;
    world.forge.advance(Duration::from_secs(5));
    rewrites(&world, issue, json!({"body": "As it was seen.", "title": "Make it"})).await;
    world.forge.advance(Duration::from_secs(5));
    world.labels_on("ann", issue, "code").await;
    world.forge.advance(Duration::from_secs(5));
    world.edits("wil", issue, json!({"body": "As it was seen, and a word more."})).await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    world.finish().await;
}

/// Attack corpus J113: an answer approves the text that its author saw.
#[tokio::test]
async fn an_edit_between_the_answer_and_the_look_at_it_is_held_for_a_person() {
    let script =
        r#"case $n in 0) echo '{"outcome":"question","question":"Which?"}' ;; *) echo done > done.txt ;; esac"#;
    for by_label in [false, true] {
        let world = World::fixing().script("fixer", script).start().await;
        let issue = world.opens("out", "Make done.txt", "As it was seen.", &[]).await;
        world.labels_on("ann", issue, "code").await;
        world.run().await;
        world.forge.advance(Duration::from_secs(5));
        if by_label {
            world.labels_off("ann", issue, "blocked").await;
        } else {
            world.comments("ann", issue, "The first one.").await;
        }
        rewrites(&world, issue, json!({"body": "Now do evil."})).await;
        world.run().await;
        let story = world.history(issue).await;
        assert_eq!(world.labels(issue).await, ["blocked", "code"], "{by_label}: {story:#?} {:?}", world.failures());
        assert_eq!(world.briefs(issue).len(), 1);
        world.finish().await;
    }
}

/// Attack corpus J114.
#[tokio::test]
async fn an_agent_is_chosen_by_an_authorized_accounts_label_alone() {
    let world = World::fixing().script("other", "echo other > done.txt; echo by the other").start().await;
    let issue = world.opens("ann", "Make done.txt", "", &["code"]).await;
    world.labels_on("tess", issue, "agent:other").await;
    world.run().await;
    assert_eq!(world.record(issue).await.unwrap().state, State::InReview, "{:?}", world.failures());
    let notices = world.notices.lock().unwrap().iter().map(|event| format!("{event:?}")).collect::<String>();
    assert!(notices.contains("the label `agent:other` does not count: `tess` has triage permission"), "{notices}");
    assert!(!world.pull().await["body"].as_str().unwrap().contains("by the other"));
    world.finish().await;
}
