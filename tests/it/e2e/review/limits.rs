//! The limits of rounds in review: their number, rounds that change nothing, and the accounts that may begin one.

use std::time::Duration;

use hob_domain::State;
use http::Method;
use serde_json::{Value, json};

use super::{checks::failed_job, merges_when_green};
use crate::harness::{Replies, World, repo_on_forge};

const WRITES: &str = r#"echo "$n" > done.txt; echo '{"outcome":"done","summary":"Wrote it."}'"#;

#[tokio::test]
async fn a_pull_request_has_its_rounds_for_failed_checks() {
    let world = World::with_agent(WRITES).check("test -f done.txt").set("limits.rounds", "1").start().await;
    let issue = world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    for _round in 0..2 {
        assert_eq!(world.labels(issue).await, ["code", "in-review"]);
        world.forge.create_job(&repo_on_forge(), &failed_job(&world.head(pull).await)).unwrap();
        world.run().await;
    }
    assert_eq!(world.briefs(issue).len(), 2, "the work and one round");
    assert_eq!(world.labels(issue).await, ["blocked", "code"]);
    let status = world.status(issue).await;
    for part in ["has had 1 round for failed checks", "`limits.rounds`", "What makes these checks fail?"] {
        assert!(status.contains(part), "{part}\n{status}");
    }
    world.comments("ann", issue, "It needs a fixture.").await;
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    assert!(world.briefs(issue)[2].contains("It needs a fixture."));
    merges_when_green(world, issue, pull, "test").await;
}

/// Case c55.
#[tokio::test]
async fn a_base_that_conflicts_again_and_again_asks_nobody_and_waits_longer_each_time() {
    let script = r#"if [ "$n" = 0 ]; then echo work > README.md; else echo "both $n" > README.md; fi"#;
    let world = World::with_agent(script).set("limits.rounds", "1").start().await;
    let issue = world.asks("Change README.md", "").await;
    let pull = world.opens_a_pull().await;
    for (round, pause) in [(1, 0), (2, 900), (3, 1_800)] {
        world.pushes_onto("ann", "main", "README.md", &format!("theirs, {round}\n")).await;
        if pause > 0 {
            assert_eq!(world.run().await.worked, 0, "the base moves faster than anybody can be paid to follow");
            world.forge.advance(Duration::from_secs(pause));
        }
        assert_eq!(world.run().await.worked, 1, "{round}: {:?}", world.failures());
        assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    }
    assert_eq!(world.record(issue).await.unwrap().review.base_rounds, 3);
    merges_when_green(world, issue, pull, "test").await;
}

/// The same failure on the same work ends it.
#[tokio::test]
async fn a_round_for_a_failed_check_that_changes_nothing_asks_about_that_check() {
    let script = r#"if [ "$n" = 0 ]; then echo one > done.txt; fi; echo '{"outcome":"done","summary":"It is flaky."}'"#;
    let world = World::with_agent(script).check("test -f done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    let head = world.head(pull).await;
    world.forge.create_job(&repo_on_forge(), &failed_job(&head)).unwrap();
    world.run().await;
    assert_eq!(
        (world.labels(issue).await, world.head(pull).await),
        (vec!["blocked".to_owned(), "code".to_owned()], head)
    );
    let status = world.status(issue).await;
    for part in [
        "changed nothing in a round in review (the check `test` failed)",
        "It is flaky.",
        "What is the cause, or should",
    ] {
        assert!(status.contains(part), "{part}\n{status}");
    }
    let questions =
        world.said(pull).await.into_iter().filter(|said| said.text.starts_with("<!-- hob:question")).count();
    let on_issue =
        world.said(issue).await.into_iter().filter(|said| said.text.starts_with("<!-- hob:question")).count();
    assert_eq!((questions, on_issue), (1, 0), "one question reaches one person");
    world.finish().await;
}

#[tokio::test]
async fn an_answer_to_an_agents_question_gives_no_more_rounds() {
    let script = r#"case "$n" in 1) echo '{"outcome":"question","question":"Which colour?"}';; *) echo "$n" > done.txt; echo '{"outcome":"done","summary":"Wrote it."}';; esac"#;
    let world = World::with_agent(script).check("test -f done.txt").set("limits.rounds", "2").start().await;
    let issue = world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    world.reviews("ann", pull, ("REQUEST_CHANGES", "More."), &[]).await;
    world.run().await;
    world.comments("ann", issue, "Green.").await;
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    world.reviews("ann", pull, ("REQUEST_CHANGES", "Still more."), &[]).await;
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    assert_eq!(world.record(issue).await.unwrap().review.rounds, 2);
    world.reviews("ann", pull, ("REQUEST_CHANGES", "And more."), &[]).await;
    world.run().await;
    assert!(world.status(issue).await.contains("`limits.rounds`"), "{}", world.status(issue).await);
    world.finish().await;
}

#[tokio::test]
async fn a_bot_that_reviews_counts_where_it_is_listed() {
    for (listed, worked) in [("", 0), ("robo[bot]", 1)] {
        let world = World::with_agent(WRITES).check("test -f done.txt").set("trust.bots", listed).start().await;
        let issue = world.asks("Make done.txt", "").await;
        let pull = world.opens_a_pull().await;
        let comment = json!({"path": "done.txt", "line": 1, "side": "RIGHT", "body": "Louder."});
        let review = json!({"event": "REQUEST_CHANGES", "body": "Nearly there.", "comments": [comment]});
        world.forge.advance(std::time::Duration::from_secs(2));
        world.call("robo[bot]", Method::POST, &format!("/pulls/{pull}/reviews"), review).await;
        world.comments("robo[bot]", pull, "/hob please go on").await;
        world.forge.advance(world.settings.review.settle);
        assert_eq!(world.run().await.worked, worked, "{listed:?}: {:?}", world.failures());
        assert_eq!(world.briefs(issue).len(), 1 + worked);
        world.finish().await;
    }
}

#[tokio::test]
async fn a_persons_commit_stays_below_the_work_of_a_round() {
    for update in ["merge", "rebase"] {
        let script = r#"echo "$n" > done.txt; ! grep -q '<<<<' half.txt || echo both > half.txt; [ "$n" != 0 ] || echo half > half.txt"#;
        let world = World::with_agent(script).file("half.txt", "nothing").set("review.update", update).start().await;
        let issue = world.asks("Make done.txt", "").await;
        let pull = world.opens_a_pull().await;
        world.pushes_onto("wil", "hob/1-make-done-txt", "theirs.txt", "mine").await;
        let theirs = world.head(pull).await;
        world.pushes_onto("ann", "main", "half.txt", "theirs\n").await;
        world.reviews("ann", pull, ("REQUEST_CHANGES", "More."), &[]).await;
        assert_eq!(world.run().await.worked, 1, "{update}: {:?}", world.failures());
        let commits = world.look(&format!("/pulls/{pull}/commits?per_page=100")).await;
        let shas: Vec<&str> = commits.as_array().unwrap().iter().filter_map(|commit| commit["sha"].as_str()).collect();
        assert!(shas.contains(&theirs.as_str()) && shas.last() != Some(&theirs.as_str()), "{update}: {commits}");
        assert_eq!(world.look(&format!("/pulls/{pull}")).await["mergeable"], true, "{update}");
        assert_eq!(world.record(issue).await.unwrap().state, State::InReview);
        world.finish().await;
    }
}

#[tokio::test]
async fn a_thread_that_the_agent_says_nothing_of_stays_open_without_an_answer() {
    let script = r#"if [ "$n" = 0 ]; then printf 'one\ntwo\n' > done.txt; else printf 'ONE\ntwo\n' > done.txt; fi
printf '%s\n' '{"outcome":"done","summary":"Shouted.\n\nT1: In capitals."}'"#;
    let world = World::with_agent(script).check("test -f done.txt").start().await;
    world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    world.reviews("ann", pull, ("REQUEST_CHANGES", "More."), &[(1, "Louder."), (2, "This, too.")]).await;
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    let resolved: Vec<bool> = world.threads(pull).await.into_iter().map(|(.., resolved)| resolved).collect();
    assert_eq!(resolved, [true, false]);
    assert_eq!(world.remarks(pull).await.len(), 3);
    let said = world.said(pull).await.pop().unwrap().text;
    assert!(
        said.contains("\nShouted.\n\nThe agent said nothing about the thread on `done.txt` line 2.\n\nIn "),
        "{said}"
    );
    world.finish().await;
}

#[tokio::test]
async fn a_request_that_was_edited_into_a_comment_begins_nothing() {
    let world = World::with_agent(WRITES).check("test -f done.txt").start().await;
    world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    world.comments("ann", pull, "Fine.").await;
    let id = world.look(&format!("/issues/{pull}/comments")).await[0]["id"].clone();
    world.forge.advance(std::time::Duration::from_secs(2));
    let words = json!({"body": "/hob please make it worse"});
    world.call("wil", Method::PATCH, &format!("/issues/comments/{id}"), words).await;
    assert_eq!(world.run().await.worked, 0, "{:?}", world.failures());
    world.finish().await;
}

#[tokio::test]
async fn forty_five_threads_are_answered_in_two_rounds() {
    let script = r#"seq 1 50 > done.txt; echo "$n" >> done.txt; echo '{"outcome":"done","summary":"Wrote it."}'"#;
    let world = World::with_agent(script).check("test -f done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    let words: Vec<String> = (1..=45).map(|line| format!("Line {line}. {}", "x".repeat(10_000))).collect();
    let lines: Vec<(u64, &str)> = (1..=45).zip(words.iter().map(String::as_str)).collect();
    world.reviews("ann", pull, ("COMMENT", ""), &lines).await;
    world.forge.advance(world.settings.review.settle);
    for (round, shown) in [(1, 40), (2, 5)] {
        assert_eq!(world.run().await.worked, 1, "{round}: {:?}", world.failures());
        let brief = world.briefs(issue)[round].clone();
        assert_eq!(brief.matches("--- thread T").count(), shown, "the agent sees each thread of its round");
        assert!(brief.len() < 256 * 1024, "{}", brief.len());
    }
    // The agent said nothing about any of them.
    let said: Vec<String> = world.said(pull).await.into_iter().map(|said| said.text).collect();
    assert_eq!((world.remarks(pull).await.len(), said.len()), (45, 2), "{said:?}");
    assert!(said[0].contains("`done.txt` line 5, and 35 more.\n\nIn "), "{said:?}");
    assert_eq!(world.run().await.worked, 0);
    world.finish().await;
}

/// The conversation of the work continues in the round, with the agent's earlier reads.
#[tokio::test]
async fn a_native_agent_goes_on_in_its_session_when_a_review_comes_back() {
    let replies = Replies::none();
    let call = |name: &str, arguments: Value| json!([{ "name": name, "arguments": arguments }]);
    let writes = |text: &str| call("write", json!({"path": "done.txt", "text": text}));
    replies.are(&json!([
        { "calls": call("read", json!({"path": "README.md"})) },
        { "expect": ["# Site"], "calls": writes("one\n") },
        { "calls": call("done", json!({"summary": "Wrote it."})) },
    ]));
    let world = World::fixing().agent("careful", replies.agent()).set("agent", "careful").check("test -f done.txt");
    let world = world.start().await;
    let issue = world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    let session = world.record(issue).await.unwrap().session;
    world.reviews("ann", pull, ("REQUEST_CHANGES", "Nearly."), &[(1, "Louder.")]).await;
    replies.then(&json!([
        // Its reads before the pull request are still there.
        { "expect": ["# Site", "You ended your run; the work continues.", "ann: Louder."], "calls": writes("ONE\n") },
        { "calls": call("done", json!({"summary": "Shouted.\n\nT1: In capitals."})) },
    ]));
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.session, record.state), (session, State::InReview), "{}", world.status(issue).await);
    world.finish().await;
}
