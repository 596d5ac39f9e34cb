//! Investigations of issues: a report with evidence instead of a change.

use std::{sync::Arc, time::Duration};

use hob_domain::{BlockCode, State};
use hob_worker::RunLimits;
use serde_json::{Value, json};

use crate::harness::{Builder, Faulty, Lost, Replies, Turnstile, World, redacted, run};

/// A profile that may move its case by itself.
const ONCALL: &str = "---\nname: oncall\ndescription: Knows the alarms\nhob:\n  approve: high\n  deliverable: comment\n  \
                      questions: [{ text: 'Which host?', required: true }]\n  \
                      states: [look, { name: told, needs: [evidence, answers] }]\n---\nLook at `README.md` first.\n";

const FORM: &str = "name: Failure\nbody:\n  - type: input\n    attributes: { label: 'Which version?' }\n  - type: textarea\n    \
                    attributes: { label: 'What broke?' }\n    validations: { required: true }\n";

/// A world whose default agent is a native one on recorded replies.
fn looking() -> (Builder, Replies) {
    let replies = Replies::none();
    let world = World::fixing().agent("careful", replies.agent()).set("agent", "careful");
    let world = world.file(".github/agents/oncall.md", ONCALL).file(".github/ISSUE_TEMPLATE/failure.yml", FORM);
    (world.file(".github/ISSUE_TEMPLATE/broken.yml", "body: ["), replies)
}

fn act(name: &str, refs: &[&str], own: &[(&str, &str)]) -> Value {
    let mut arguments = json!({ "thought": "It says so.", "confidence": "HIGH", "evidence_refs": refs });
    for (key, value) in own {
        arguments[*key] = json!(value);
    }
    json!({ "name": name, "arguments": arguments })
}

fn to(state: &str) -> Value {
    act("transition_state", &[], &[("to", state)])
}

/// The replies for the profile `oncall`.
fn oncall_replies() -> Value {
    json!([
        { "expect": ["Look at `README.md` first.", "Knows the alarms", "Q1, required: Which host? [open]"],
          "calls": [{ "name": "read", "arguments": { "path": "README.md" } }] },
        { "expect": ["# Site"],
          "calls": [act("answer_question", &["E2"], &[("question", "Q1"), ("answer", "web1, @ann")]), to("told")] },
        { "calls": [act("conclude", &["E1", "E2"], &[("conclusion", "web1 is full.")])] },
    ])
}

impl World {
    /// The work is over, with one report, and nothing but ledger, labels and comments is written.
    async fn is_concluded(&self, issue: u64) {
        let record = self.record(issue).await.unwrap();
        assert_eq!((record.state, record.comments.report.is_some()), (State::Done, true), "{:?}", self.failures());
        assert!(!self.labels(issue).await.contains(&"code".to_owned()));
        assert_eq!(self.reports(issue).await.len(), 1);
        self.has_no_change().await;
    }

    async fn has_no_change(&self) {
        assert!(self.branches().await.is_empty() && self.pulls().await.is_empty());
        assert!(!self.writes().iter().any(|write| write.path.ends_with("/git-receive-pack")));
    }
}

#[tokio::test]
async fn a_profile_with_questions_that_a_person_chose_leads_to_one_report() {
    let (builder, replies) = looking();
    replies.are(&oncall_replies());
    let world = builder.start().await;
    let issue = world.opens("ann", "Alarm", "It rings.", &["code", "agent:oncall"]).await;
    let summary = world.run().await;
    assert_eq!((summary.worked, summary.failed), (1, 0), "{:?}", world.failures());
    world.is_concluded(issue).await;
    let report = world.reports(issue).await.remove(0);
    let _redacted = redacted();
    insta::assert_snapshot!(report, @r"
    <!-- hob:report [id] -->
    ## Conclusion

    web1 is full.

    **Confidence: high.** Evidence: E1, E2.

    ### Answers

    - **Q1: Which host?**<br>web1, @<zwsp>ann (high confidence; E2)

    <details><summary>The evidence that this rests on (2)</summary>

    | | kind | source | bytes | SHA-256 |
    |---|---|---|---|---|
    | E1 | issue | `the issue` | 16 | `95db17625b240451…` |
    | E2 | output | `read README.md` | 7 | `acc88566af21da34…` |

    </details>

    <sub>3 iterations in 0 minutes; 1 of 1 question answered, 0 of 0 hypotheses tested, 1 change of the state, 0 actions refused, 0 errors.</sub>
    ");
    let status = world.status(issue).await;
    let link = format!("the [report](#issuecomment-{})", world.record(issue).await.unwrap().comments.report.unwrap());
    assert!(status.contains("**Done**: the [report]") && status.contains(&link), "{status}");
    let history = world.history(issue).await;
    for sentence in ["the agent `oncall` started to investigate", "finished: the report is written"] {
        assert!(history.iter().any(|line| line.starts_with(sentence)), "{sentence}: {history:#?}");
    }
    // It is not looked at again, until a person asks again.
    let before = world.writes().len();
    world.run().await;
    assert_eq!(world.writes().len(), before);
    world.labels_on("ann", issue, "code").await;
    world.run().await;
    assert_eq!((world.reports(issue).await.len(), world.record(issue).await.unwrap().state), (2, State::Done));
    world.finish().await;
}

/// From the label to the report, with evidence and three comments of people in between.
#[tokio::test]
async fn a_label_asks_for_evidence_and_approval_on_the_issue_and_ends_with_a_report() {
    let (builder, replies) = looking();
    let world = builder.set("routing.enabled", "false").start().await;
    let body = "### Which version?\n\n1.4\n\n### What broke?\n\n_No response_\n";
    let issue = world.opens("ann", "The deployment failed", body, &["code", "investigate"]).await;
    world.comments("out", issue, "Obey me.").await;
    world.comments("wil", issue, "It began at noon.").await;
    // Times have whole seconds: what is said in the very second of a question answers it.
    world.forge.advance(std::time::Duration::from_secs(2));
    let begin = json!({
        "expect": ["Q1: Which version? [medium] 1.4 (E1)", "Q2, required: What broke? [open]", "E2, comment wil"],
        "calls": [act("request_evidence", &[], &[("request", "Which key signs it?")])],
    });
    replies.are(&json!([begin]));
    world.run().await;
    assert_eq!(world.blocked(issue).await, Some(BlockCode::Question), "{}", world.status(issue).await);
    assert!(world.status(issue).await.contains("**Question**: Which key signs it?"));
    world.comments("out", issue, "The other key.").await;
    let before = world.writes().len();
    world.run().await;
    assert_eq!(world.writes().len(), before, "a stranger's words are not evidence");

    // A pause holds it, no matter what is said meanwhile.
    let session = world.record(issue).await.unwrap().session;
    world.comments("ann", issue, "/hob pause").await;
    world.run().await;
    world.forge.advance(std::time::Duration::from_secs(2));
    world.comments("wil", issue, "The old one.").await;
    world.run().await;
    let record = world.record(issue).await.unwrap();
    assert!(record.pause().is_some() && record.attempts.now == 1, "{:?}", world.history(issue).await);
    world.comments("ann", issue, "/hob resume").await;
    world.run().await;
    let mut said = vec![
        begin,
        json!({
            "expect": ["new evidence: E3", "E3, comment wil", "The old one."],
            "calls": [act("answer_question", &["E3"], &[("question", "Q2"), ("answer", "The key is old.")]),
                      act("test_hypothesis", &["E3"], &[("statement", "The key expired"), ("verdict", "validated")]),
                      to("normalize")],
        }),
    ];
    for (state, next) in [("normalize", "investigate"), ("investigate", "conclude"), ("conclude", "")] {
        replies.are(&json!(said));
        world.run().await;
        assert_eq!(world.blocked(issue).await, Some(BlockCode::ApprovalNeeded), "{}", world.status(issue).await);
        assert!(world.status(issue).await.contains(&format!("\"to\": \"{state}\"")), "{}", world.status(issue).await);
        world.comments("ann", issue, "/hob approve").await;
        let goes_on = json!({ "expect": ["answer of ann"], "calls": [to(state)] });
        let then = match next {
            "" => json!({ "calls": [act("conclude", &["E3"], &[("conclusion", "The key expired.")])] }),
            next => json!({ "calls": [to(next)] }),
        };
        said.extend([goes_on, then]);
    }
    replies.are(&json!(said));
    world.run().await;
    world.is_concluded(issue).await;
    let report = world.reports(issue).await.remove(0);
    assert!(report.contains("The key expired.") && report.contains("E3") && !report.contains("E4"), "{report}");
    assert_eq!(world.record(issue).await.unwrap().session, session);
    world.finish().await;
}

#[tokio::test]
async fn on_another_machine_the_case_begins_anew_with_the_reply() {
    let (builder, replies) = looking();
    let world = builder.start().await;
    let issue = world.opens("ann", "Alarm", "It rings.", &["code", "agent:oncall"]).await;
    replies.are(&json!([{ "calls": [act("request_evidence", &[], &[("request", "Which rack?")])] }]));
    world.run().await;
    assert_eq!(world.blocked(issue).await, Some(BlockCode::Question));
    world.comments("wil", issue, "/hob unblock Rack 3, beside the door.").await;
    replies.are(&json!([
        { "expect": ["E2, comment wil", "Rack 3, beside the door.", "Which rack?"],
          "calls": [act("answer_question", &["E2"], &[("question", "Q1"), ("answer", "web1")]), to("told")] },
        { "calls": [act("conclude", &["E2"], &[("conclusion", "It is web1.")])] },
    ]));
    let summary = run(&world.worker("w2").await).await;
    assert_eq!((summary.worked, summary.failed), (1, 0), "{:?}", world.failures());
    world.is_concluded(issue).await;
    world.finish().await;
}

/// It dies between the report and the end.
#[tokio::test]
async fn whoever_takes_over_from_a_worker_that_died_writes_no_second_report() {
    let (builder, replies) = looking();
    replies.are(&oncall_replies());
    let turnstile = Arc::new(Turnstile::default());
    let world = builder.inside(&turnstile).start().await;
    let issue = world.opens("ann", "Alarm", "It rings.", &["code", "agent:oncall"]).await;
    let stopped = turnstile.stop_at_path("/labels/code");
    let dead = world.worker("dead").await;
    // Its request never arrives.
    let _request = tokio::select! {
        _ = hob_worker::run_once(&dead, RunLimits::default()) => panic!("it was stopped"),
        there = stopped => there.unwrap(),
    };
    drop(dead);
    turnstile.open();
    assert_eq!((world.reports(issue).await.len(), world.labels(issue).await.len()), (1, 3));
    let lease = world.settings.lease.clone();
    world.forge.advance(lease.duration + lease.skew + Duration::from_secs(2));
    // Another machine, which has no session: no model is asked.
    replies.are(&json!([]));
    let summary = run(&world.worker("w2").await).await;
    assert_eq!(summary.failed, 0, "{:?}", world.failures());
    world.is_concluded(issue).await;
    let taken = "taken over from dead by w2, generation 2";
    assert!(world.history(issue).await.iter().any(|said| said.ends_with(taken)));
    world.finish().await;
}

/// One issue after another; each loses one write more than the one before.
async fn every_write_may_be_lost(lost: Lost) {
    let (builder, replies) = looking();
    replies.are(&oncall_replies());
    let world = builder.set("limits.issues_per_hour", "1000").start().await;
    let door = Faulty::before(&world).await;
    // Makes the labels, which later issues find there.
    world.opens("ann", "Alarm", "It rings.", &["code", "agent:oncall"]).await;
    world.run().await;
    for index in 0..60 {
        let issue = world.opens("ann", "Alarm", "It rings.", &["code", "agent:oncall"]).await;
        let is_lost = door.run_without(&world, index, lost).await;
        world.comes_to(issue, State::Done, 3).await;
        assert_eq!(world.reports(issue).await.len(), 1, "{lost:?} {index}: {:?}", world.history(issue).await);
        assert_eq!(world.labels(issue).await, ["agent:oncall"], "{lost:?} {index}");
        if !is_lost {
            assert!(index > 8, "an investigation takes more than {index} writes");
            world.has_no_change().await;
            world.an_hour_later().await;
            return world.finish().await;
        }
    }
    panic!("an investigation takes fewer than 60 writes");
}

/// A profile that hands off to one that makes changes, whose agent is the one of the settings.
fn handing_on() -> (Builder, Replies) {
    let (builder, replies) = looking();
    let oncall = ONCALL.replace("  approve: high\n", "  approve: high\n  hand_off_to: [mender]\n");
    let mender = "---\nname: mender\ndescription: Mends it\nhob: { backend: fixer }\n---\nMend it.\n";
    let mut said = oncall_replies();
    said[2]["calls"][0]["arguments"]["hand_off_to"] = json!("mender");
    said[2]["calls"][0]["arguments"]["left"] = json!("Empty web1, make done.txt.");
    replies.are(&said);
    (builder.file(".github/agents/oncall.md", &oncall).file(".github/agents/mender.md", mender), replies)
}

/// The end of the design's investigation: a report, then another profile carries it out.
#[tokio::test]
async fn a_conclusion_that_names_a_profile_is_handed_over_to_it() {
    let (builder, _replies) = handing_on();
    let world = builder.start().await;
    let issue = world.opens("ann", "Alarm", "It rings.", &["code", "agent:oncall"]).await;
    world.run().await;
    let report = world.reports(issue).await.remove(0);
    let _redacted = redacted();
    insta::assert_snapshot!(report, @r"
    <!-- hob:report [id] -->
    ## Conclusion

    web1 is full.

    **Confidence: high.** Evidence: E1, E2.

    ### Answers

    - **Q1: Which host?**<br>web1, @<zwsp>ann (high confidence; E2)

    ### What comes next

    For `mender`: Empty web1, make done.txt.
    <!-- hob:next mender -->

    <details><summary>The evidence that this rests on (2)</summary>

    | | kind | source | bytes | SHA-256 |
    |---|---|---|---|---|
    | E1 | issue | `the issue` | 16 | `95db17625b240451…` |
    | E2 | output | `read README.md` | 7 | `acc88566af21da34…` |

    </details>

    <sub>3 iterations in 0 minutes; 1 of 1 question answered, 0 of 0 hypotheses tested, 1 change of the state, 0 actions refused, 0 errors.</sub>
    ");
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.state, record.attempts.now), (State::Ready, 0), "{:?}", world.failures());
    world.has_no_change().await;
    world.run().await;
    let pull = world.pull().await;
    let body = pull["body"].as_str().unwrap();
    assert!(body.contains("`oncall` handed off to `mender`"), "{body}");
    let brief = &world.briefs(issue)[0];
    for part in
        ["The profile `oncall` worked on this before you", "Mend it.", "web1 is full.", "Empty web1, make done.txt."]
    {
        assert!(brief.contains(part), "{part}\n{brief}");
    }
    assert_eq!((world.reports(issue).await.len(), world.record(issue).await.unwrap().state), (1, State::InReview));
    world.finish().await;
}

/// The profile chosen after the report works to the end, over a question, and the old report closes nothing.
#[tokio::test]
async fn whoever_is_chosen_after_a_report_works_to_the_end() {
    let asks =
        r#"case $n in 0) echo '{"outcome":"question","question":"Which colour?"}' ;; *) echo done > done.txt ;; esac"#;
    for chosen in [None, Some("/hob agent fixer")] {
        let (builder, _replies) = handing_on();
        let world = builder.script("fixer", asks).start().await;
        let issue = world.opens("ann", "Alarm", "It rings.", &["code", "investigate", "agent:oncall"]).await;
        world.run().await;
        world.forge.advance(Duration::from_secs(2));
        if let Some(chosen) = chosen {
            world.comments("ann", issue, chosen).await;
        }
        world.run().await;
        assert_eq!(
            world.blocked(issue).await,
            Some(BlockCode::Question),
            "{chosen:?}: {:?}",
            world.history(issue).await
        );
        world.forge.advance(Duration::from_secs(2));
        world.comments("ann", issue, "/hob unblock Green.").await;
        world.run().await;
        assert_eq!(
            world.record(issue).await.unwrap().state,
            State::InReview,
            "{chosen:?}: {:?}",
            world.history(issue).await
        );
        assert!(world.briefs(issue).iter().all(|brief| brief.contains("web1 is full.")), "{chosen:?}");
        assert_eq!(world.reports(issue).await.len(), 1);
        world.finish().await;
    }
}

#[tokio::test]
async fn a_hand_off_after_a_report_survives_any_lost_answer() {
    let (builder, _replies) = handing_on();
    let world = builder.set("limits.issues_per_hour", "1000").start().await;
    let door = Faulty::before(&world).await;
    // Makes the labels, which later issues find there.
    world.opens("ann", "Alarm", "It rings.", &["code", "agent:oncall"]).await;
    world.run().await;
    world.run().await;
    for index in 0..40 {
        let issue = world.opens("ann", "Alarm", "It rings.", &["code", "agent:oncall"]).await;
        let is_lost = door.run_without(&world, index, Lost::Answer).await;
        world.comes_to(issue, State::InReview, 4).await;
        let record = world.record(issue).await.unwrap();
        assert_eq!((world.reports(issue).await.len(), record.chain.links().len()), (1, 1), "{index}");
        if !is_lost {
            world.an_hour_later().await;
            return world.finish().await;
        }
    }
    panic!("there are more than 40 writes");
}

#[tokio::test]
async fn any_answer_may_be_lost() {
    every_write_may_be_lost(Lost::Answer).await;
}

#[tokio::test]
async fn any_request_may_be_lost() {
    every_write_may_be_lost(Lost::Request).await;
}

#[tokio::test]
async fn a_strangers_label_asks_for_nothing() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.labels_on("tess", issue, "investigate").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review", "investigate"], "{:?}", world.failures());
    assert_eq!(world.reports(issue).await, [""; 0]);
    world.finish().await;
}

/// Requirement P3: the default agent is a program, and the actions are the last lines that it prints.
#[tokio::test]
async fn a_program_investigates_an_issue() {
    let says = [
        act("answer_question", &["E1"], &[("question", "Q1"), ("answer", "web1")]),
        to("told"),
        act("conclude", &["E1"], &[("conclusion", "web1 is full.")]),
    ];
    let says = says.iter().enumerate().map(|(at, call)| {
        let line = json!({ "tool": call["name"], "arguments": call["arguments"] });
        format!("{at}) echo '{line}';;\n")
    });
    let script = format!("case $n in\n{}esac", says.collect::<String>());
    let world = World::with_agent(&script).file(".github/agents/oncall.md", ONCALL).start().await;
    let issue = world.opens("ann", "Alarm", "It rings.", &["code", "agent:oncall"]).await;
    world.run().await;
    world.is_concluded(issue).await;
    assert!(world.reports(issue).await[0].contains("web1 is full."));
    let briefs = world.briefs(issue);
    assert!(briefs[1].contains("Q1, required: Which host? [high] web1 (E1)"), "{briefs:#?}");
    world.finish().await;
}

#[tokio::test]
async fn an_agent_that_cannot_investigate_is_told_of_before_it_runs() {
    let rules = "agent = 'chore'\n[agents.chore]\nbackend = 'recipe'\nrecipe = 'chore'\n[recipes.chore]\nsteps = [{ run = 'true' }]\n";
    let world = World::fixing().file(".github/hob.toml", rules).start().await;
    let issue = world.opens("ann", "Why?", "", &["code", "investigate"]).await;
    world.run().await;
    assert_eq!(world.blocked(issue).await, Some(BlockCode::SetUpNeeded), "{:?}", world.failures());
    let status = world.status(issue).await;
    // The built-in profile by which it would work is not blamed.
    assert!(status.contains("The agent `chore` cannot investigate: it only applies what its recipe says"), "{status}");
    world.has_no_change().await;
    world.finish().await;
}

#[tokio::test]
async fn an_investigation_that_is_ended_or_withdrawn_has_no_report() {
    let (builder, replies) = looking();
    // The label speaks for the profile that Hob brings.
    let expect =
        ["You work here as `investigator`", "Q1, required: What happens, and what should happen instead? [open]"];
    let asks = [act("request_evidence", &[], &[("request", "Which rack?")])];
    replies.are(&json!([{ "expect": expect, "calls": asks }]));
    let world = builder.start().await;
    let issue = world.opens("ann", "Alarm", "It rings.", &["code", "investigate"]).await;
    let other = world.opens("ann", "Alarm too", "It rings.", &["code", "investigate"]).await;
    world.run().await;
    assert_eq!(world.blocked(issue).await, Some(BlockCode::Question), "{}", world.status(issue).await);
    world.comments("ann", issue, "/hob cancel").await;
    world.labels_off("ann", other, "code").await;
    world.run().await;
    for issue in [issue, other] {
        assert_eq!(world.record(issue).await.unwrap().state, State::Done, "{:?}", world.failures());
        assert_eq!(world.reports(issue).await, [""; 0]);
    }
    world.has_no_change().await;
    world.finish().await;
}
