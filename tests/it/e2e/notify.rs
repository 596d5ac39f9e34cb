//! Notifications: each question, pull request and end reaches a receiver once, signed; and one person is mentioned.

use hob_domain::NotifyEvent;
use http::Method;
use serde_json::{Value, json};

use crate::harness::{Builder, World, redacted, run};

/// An agent that asks first and works once it has an answer.
fn asking() -> Builder {
    let script = r#"case $n in
        0) echo half > half.txt; echo '{"outcome":"question","question":"Which <b>colour</b>, @here?"}' ;;
        *) echo done > done.txt ;;
    esac"#;
    World::with_agent(script).check("test -f done.txt")
}

impl World {
    /// The body of the last of `count` notifications.
    fn last_of(&self, count: usize) -> Value {
        let received = self.receiver.as_ref().unwrap().received();
        assert_eq!(received.len(), count, "{received:?}");
        let last = received.into_iter().next_back().unwrap();
        assert_eq!((&last.body["delivery"], &last.body["event"]), (&json!(last.id), &json!(last.event)));
        last.body
    }
}

#[tokio::test]
async fn a_question_a_review_and_an_end_are_notified_once_each() {
    let world = asking().notified().start().await;
    let issue = world.asks("Paint <it> & go", "The door.").await;
    world.run().await;
    let body = world.last_of(1);
    let page = world.page();
    assert_eq!(
        body["issue"],
        json!({"number": issue, "title": "Paint <it> & go", "url": format!("{page}/issues/{issue}")})
    );
    assert_eq!(
        (&body["event"], &body["repository"], &body["asked_by"]),
        (&json!("blocked"), &json!("acme/site"), &json!("ann"))
    );
    assert_eq!(
        body["blocked"],
        json!({"kind": "question", "reason": "question", "question": "Which <b>colour</b>, @here?"})
    );
    for _ in 0..3 {
        world.run().await;
    }
    world.last_of(1);
    world.comments("wil", issue, "Green.").await;
    world.run().await;
    let pull = world.pull().await["number"].as_u64().unwrap();
    let body = world.last_of(2);
    assert_eq!((&body["event"], &body["pull_request"]["number"]), (&json!("in-review"), &json!(pull)));
    world.call("ann", Method::PUT, &format!("/pulls/{pull}/merge"), json!({})).await;
    world.run().await;
    world.run().await;
    assert_eq!(world.last_of(3)["event"], "done");
    assert_eq!(world.failures(), Vec::<String>::new());
    world.finish().await;
}

#[tokio::test]
async fn only_the_events_that_are_wanted_are_notified_and_slack_gets_a_text() {
    let world = asking().notified().set("notify.events", "blocked").set("notify.webhook_format", "slack").start().await;
    let issue = world.asks("Paint <it> & go", "The door.").await;
    world.run().await;
    world.comments("wil", issue, "Green.").await;
    world.run().await;
    world.pull().await;
    let received = world.receiver.as_ref().unwrap().received();
    assert_eq!(received.len(), 1, "{received:?}");
    let text = received[0].body["text"].as_str().unwrap().replace('\u{200b}', "");
    let link = format!("acme/site <{}/issues/{issue}|#{issue} Paint &lt;it&gt; &amp; go>: blocked", world.page());
    assert!(text.starts_with(&link) && text.contains("Which &lt;b&gt;colour&lt;/b&gt;, @here?"), "{text}");
    assert!(!received[0].body["text"].as_str().unwrap().contains("@here"), "{text}");
    world.finish().await;
}

#[tokio::test]
async fn teams_gets_a_card_of_plain_text() {
    let world = asking().notified().set("notify.events", "blocked").set("notify.webhook_format", "teams").start().await;
    let issue = world.asks("Paint **it** [x](y)", "The door.").await;
    world.run().await;
    let received = world.receiver.as_ref().unwrap().received();
    assert_eq!(received.len(), 1, "{received:?}");
    let card = &received[0].body["attachments"][0]["content"];
    assert_eq!((&card["type"], &card["body"][0]["type"]), (&json!("AdaptiveCard"), &json!("RichTextBlock")));
    assert_eq!(card["body"][0]["inlines"][0]["text"], format!("acme/site #{issue} Paint **it** [x](y)"));
    assert_eq!(card["actions"][0]["url"], format!("{}/issues/{issue}", world.page()));
    world.finish().await;
}

#[tokio::test]
async fn what_may_pass_is_tried_again_and_a_receiver_that_fails_holds_nothing_up() {
    for (answers, heard) in [(vec![503, 429, 200], 3), (vec![302], 1), (vec![400], 1), (vec![500; 9], 3), (vec![0], 1)]
    {
        let world = asking().notified().set("testing.notify.timeout", if answers == [0] { "200ms" } else { "10s" });
        let world = world.start().await;
        let receiver = world.receiver.clone().unwrap();
        receiver.answers(&answers);
        let issue = world.asks("Paint it", "").await;
        let summary = world.run().await;
        assert_eq!((summary.worked, summary.failed), (1, 0), "{:?}", world.failures());
        assert_eq!(world.labels(issue).await, ["blocked", "code"]);
        let record = world.record(issue).await.unwrap();
        assert!(record.lease.is_none() && record.told == [NotifyEvent::Blocked]);
        world.run().await;
        assert_eq!((receiver.received().len(), receiver.heard()), (heard, vec!["blocked".to_owned()]), "{answers:?}");
        world.finish().await;
    }
}

#[tokio::test]
async fn a_worker_that_dies_between_the_notification_and_its_note_leaves_a_repeat_under_the_same_id() {
    let world = asking().notified().start().await;
    let receiver = world.receiver.clone().unwrap();
    receiver.answers(&[0]);
    let issue = world.asks("Paint it", "").await;
    let mortal = world.worker("mortal").await;
    tokio::select! {
        _ = run(&mortal) => panic!("it waits for the receiver"),
        () = receiver.has(1) => {}
    }
    drop(mortal);
    assert_eq!(world.labels(issue).await, ["blocked", "code"], "labels come first");
    world.forge.advance(world.settings.lease.duration * 2);
    for name in ["next", "last"] {
        run(&world.worker(name).await).await;
    }
    let received = receiver.received();
    assert_eq!((received.len(), receiver.heard()), (2, vec!["blocked".to_owned()]));
    assert_eq!(received[0].body, received[1].body);
    world.finish().await;
}

#[tokio::test]
async fn a_budget_that_is_nearly_used_up_is_warned_of_once_in_an_issues_life() {
    let says = |text: &str| format!(r#"echo '{{"outcome":{text},"usd":2.1,"input_tokens":100}}'"#);
    let script = format!(
        "if [ $n -lt 2 ]; then {}; else echo done > done.txt; {}; fi",
        says(r#""question","question":"Which?""#),
        says(r#""done","summary":"Did it.""#)
    );
    let world = World::with_agent(&script).check("test -f done.txt").notified().set("budget.issue", "7").start();
    let world = world.await;
    let issue = world.asks("Make done.txt", "").await;
    for _ in 0..3 {
        world.run().await;
        world.comments("ann", issue, "This one.").await;
    }
    let receiver = world.receiver.clone().unwrap();
    assert_eq!(receiver.heard(), ["blocked", "blocked", "budget-warning", "in-review"], "{:?}", world.failures());
    let warning = receiver.received()[2].body.clone();
    assert!(warning["text"].as_str().unwrap().starts_with("90% of the issue's budget is used: $6.30"), "{warning}");
    assert!(world.record(issue).await.unwrap().told.contains(&NotifyEvent::BudgetWarning));
    world.leave();
}

#[tokio::test]
async fn a_question_mentions_the_first_who_may_answer() {
    let owners = "* @rob\n/half.txt @tess @acme/web\n/done.txt @ann\n";
    for (mention, mentioned) in [
        ("actor", "@ann,"),
        ("rob,wil,ann", "@wil,"),
        ("rob,acme/team", "@acme/team,"),
        // The owners of half.txt, which the branch changes; tess may only label.
        ("codeowners", "@acme/web,"),
    ] {
        let world = asking().file(".github/CODEOWNERS", owners).set("notify.mention", mention).start().await;
        let issue = world.asks("Paint it", "").await;
        world.run().await;
        world.run().await;
        let said = world.said(issue).await;
        let questions: Vec<_> = said.iter().filter(|said| said.text.starts_with("<!-- hob:question")).collect();
        assert_eq!(questions.len(), 1, "{mention}: {said:?}");
        let line = questions[0].text.lines().nth(1).unwrap();
        assert!(line.starts_with(mentioned) && line.matches('@').count() == 1, "{line}");
        world.finish().await;
    }
    for nobody in ["", "rob", "renovate[bot]"] {
        let world = asking().set("notify.mention", nobody).start().await;
        let issue = world.asks("Paint it", "").await;
        world.run().await;
        assert_eq!(world.said(issue).await.len(), 1, "{nobody}: the status comment alone");
        assert!(world.record(issue).await.unwrap().blocked.unwrap().told);
        world.finish().await;
    }
}

/// The one comment that brought a question: its id and text.
async fn question(world: &World, issue: u64) -> (u64, String) {
    let comments = world.look(&format!("/issues/{issue}/comments")).await;
    let is_question = |one: &&Value| one["body"].as_str().unwrap().starts_with("<!-- hob:question");
    let found: Vec<_> = comments.as_array().unwrap().iter().filter(is_question).cloned().collect();
    assert_eq!(found.len(), 1, "{found:?}");
    (found[0]["id"].as_u64().unwrap(), found[0]["body"].as_str().unwrap().to_owned())
}

/// Field note N80: an old question is in the past tense, by one edit.
#[tokio::test]
async fn an_answered_question_says_who_answered_and_what() {
    let world = asking().start().await;
    let issue = world.asks("Paint it", "").await;
    world.run().await;
    let (id, asked) = question(&world, issue).await;
    world.comments("wil", issue, "> Which colour?\n\nGreen, @ann.").await;
    world.run().await;
    world.run().await;
    let (_, answered) = question(&world, issue).await;
    let _redacted = redacted();
    insta::assert_snapshot!(format!("{asked}\n{answered}"), @"
    <!-- hob:question [id] -->
    @ann, this issue is blocked. The agent needs an answer before it can continue.

    **Question**: Which &lt;b>colour&lt;/b>, @<zwsp>here?

    Reply, and the agent continues with your answer. [Details and other answers]([forge]/acme/site/issues/1#issuecomment-[id])

    <!-- hob:question closed [id] -->
    Answered by `wil`.

    **Question**: Which &lt;b>colour&lt;/b>, @<zwsp>here?

    **Answer**: Green, @<zwsp>ann.
    ");
    let path = format!("/issues/comments/{id}");
    let edits = world.writes().into_iter().filter(|write| write.method == "PATCH" && write.path.ends_with(&path));
    assert_eq!(edits.count(), 1);
    assert_eq!(world.record(issue).await.unwrap().comments.asked, None);
    world.finish().await;
}

/// Field note N80: a question on an issue that ended is not open.
#[tokio::test]
async fn a_question_on_an_issue_that_ended_says_so() {
    let world = asking().start().await;
    let issue = world.asks("Paint it", "").await;
    world.run().await;
    world.edits("ann", issue, json!({"state": "closed"})).await;
    world.run().await;
    let (_, closed) = question(&world, issue).await;
    assert!(closed.contains("\nNot answered: `ann` ended the work.\n"), "{closed}");
    world.finish().await;
}
