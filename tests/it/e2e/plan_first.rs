//! A plan before the work, if one is requested: nothing is written before a person approves it.

use std::time::Duration;

use hob_domain::{BlockCode, IssueNumber, PlanFirst, State};
use hob_worker::Approved;
use serde_json::{Value, json};

use crate::harness::{Builder, Replies, World, redacted};

/// An agent that plans `done.txt`, and then writes that and one file more. While it plans it writes a file, too, which
/// the sandbox of these worlds does not prevent.
const PLANS: &str = r#"if [ "$HOB_PURPOSE" = plan ]; then
    echo stray > stray.txt; echo changed > README.md
    printf 'Summary: Write the file, plan %s.\nSteps:\n- Look around\n- Write `done.txt`\nFiles:\n- done.txt\nQuestions:\n- Which words?\n' "$n"
else echo done > done.txt; echo more > more.txt; fi"#;

fn planning() -> Builder {
    World::with_agent(PLANS).check("test -f done.txt && ! test -f stray.txt")
}

/// A world with an issue whose plan waits for approval.
async fn waiting(builder: Builder) -> (World, u64) {
    let world = builder.set("plan", "always").start().await;
    let issue = world.asks("Make done.txt", "").await;
    let summary = world.run().await;
    assert_eq!((summary.worked, summary.failed), (1, 0), "{:?}", world.failures());
    world.waits_for_approval(issue).await;
    (world, issue)
}

impl World {
    /// A plan waits for approval, and nothing is written but ledger, labels and comments.
    async fn waits_for_approval(&self, issue: u64) {
        let record = self.record(issue).await.unwrap();
        let kind = record.blocked.as_ref().map(|blocked| blocked.reason);
        assert_eq!((record.state, kind), (State::Blocked, Some(BlockCode::PlanProposed)), "{:?}", self.failures());
        assert_eq!(self.labels(issue).await.first().map(String::as_str), Some("blocked"));
        assert!(
            record.waiting_plan().is_some()
                && record.approved_plan().is_none()
                && record.work.pushed_branch().is_none()
        );
        self.nothing_is_written().await;
    }

    async fn nothing_is_written(&self) {
        assert!(self.branches().await.is_empty() && self.pulls().await.is_empty());
        let pushes = self.writes().into_iter().filter(|write| write.path.ends_with("/git-receive-pack"));
        assert_eq!(pushes.count(), 0);
    }

    /// The files that the issue's pull request changes, sorted.
    async fn published(&self) -> Vec<String> {
        let mut changed = self.changed(self.pull().await["number"].as_u64().unwrap()).await;
        changed.sort();
        changed
    }
}

/// Row A11: in progress, plan, work, pull request, in review.
#[tokio::test]
async fn the_work_begins_when_the_plan_is_approved() {
    let (world, issue) = waiting(planning()).await;
    let _redacted = redacted();
    insta::assert_snapshot!(world.status(issue).await, @"
    <!-- hob:status -->
    **Blocked**: a plan needs approval.

    The agent has a plan. Nothing is changed before it is approved. The work costs $5.00 at most, what is left of `budget.issue`.

    **Plan**: Write the file, plan 0.

    1. Look around
    2. Write `done.txt`

    **1 file**

    - `done.txt`

    **Open questions**

    - Which words?

    **Question**: Should the agent follow this plan?

    Comment `/hob approve`, or just yes, to have exactly this plan carried out. Or reply with what should be different: the agent makes a new plan.

    <details><summary>Other answers, cost and history</summary>

    Answers of accounts with write access to this repository count.

    - `/hob retry`, or removing the label `blocked`, asks for a new plan.
    - `/hob cancel` ends the work on this issue.

    attempt 1 · `hob explain 1 --history` prints each step

    </details>
    ");
    let questions = world.said(issue).await.into_iter().filter(|said| said.text.starts_with("<!-- hob:question "));
    assert_eq!(questions.count(), 1, "one person is told");
    assert!(world.briefs(issue)[0].contains("Make a plan and change nothing"), "{:?}", world.briefs(issue));
    assert!(!world.briefs(issue)[0].contains("these checks are run"));

    for outsider in ["out", "tess", "robo[bot]"] {
        world.comments(outsider, issue, "/hob approve").await;
    }
    let before = world.writes().len();
    world.run().await;
    assert_eq!(world.writes().len(), before, "nobody authorized has approved it");

    world.comments("wil", issue, "/hob approve The word is done.").await;
    let summary = world.run().await;
    assert_eq!((summary.worked, summary.failed), (1, 0), "{:?}", world.failures());
    let brief = &world.briefs(issue)[1];
    for part in
        ["A person approved this plan: carry it out.", "- Write `done.txt`", "answer of wil", "The word is done."]
    {
        assert!(brief.contains(part), "{part}\n{brief}");
    }
    assert_eq!(world.published().await, ["done.txt", "more.txt"], "what it wrote while it planned is gone");
    let body = world.pull().await["body"].as_str().unwrap().to_owned();
    assert!(body.contains("The approved plan did not name `more.txt`."), "{body}");
    let history = world.history(issue).await;
    for sentence in ["the agent `fixer` started to plan", "the plan was approved by wil; claimed by w1, generation 2"] {
        assert!(history.iter().any(|line| line.starts_with(sentence)), "{sentence}: {history:#?}");
    }
    world.finish().await;
}

#[tokio::test]
async fn a_reply_is_a_correction_and_the_next_plan_needs_an_approval_of_its_own() {
    let (world, issue) = waiting(planning()).await;
    // The last word counts, and an approval that is older than the plan is for another one.
    world.comments("ann", issue, "/hob approve").await;
    world.comments("wil", issue, "Good, but use fewer files.").await;
    world.run().await;
    world.waits_for_approval(issue).await;
    let brief = &world.briefs(issue)[1];
    for part in ["This plan of yours was not approved.", "Write the file, plan 0.", "Good, but use fewer files."] {
        assert!(brief.contains(part), "{part}\n{brief}");
    }
    assert!(world.status(issue).await.contains("**Plan**: Write the file, plan 1."));
    let before = world.writes().len();
    world.run().await;
    assert_eq!(world.writes().len(), before);

    world.comments("ann", issue, "/hob approve").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    assert!(world.briefs(issue)[2].contains("Write the file, plan 1."));
    world.finish().await;
}

/// Field note N65: a yes in plain words approves the plan that was shown, and buys no second one.
#[tokio::test]
async fn a_yes_in_plain_words_begins_the_work_by_the_plan() {
    for yes in ["yes", "Ok, go ahead.", "> Should the work begin by this plan?\n\nLGTM 👍"] {
        let (world, issue) = waiting(planning()).await;
        world.comments("out", issue, yes).await;
        world.run().await;
        world.waits_for_approval(issue).await;
        world.comments("wil", issue, yes).await;
        world.run().await;
        assert_eq!(world.labels(issue).await, ["code", "in-review"], "{yes}: {:?}", world.history(issue).await);
        let briefs = world.briefs(issue);
        assert!(briefs.len() == 2 && briefs[1].contains("Write the file, plan 0."), "{briefs:?}");
        let history = world.history(issue).await;
        assert!(history.iter().any(|line| line.starts_with("the plan was approved by wil")), "{history:?}");
        world.finish().await;
    }
}

/// The forge's times have whole seconds, and a program approves within the second of the question.
#[tokio::test]
async fn an_approval_within_the_second_of_the_plan_counts() {
    let (world, issue) = waiting(planning()).await;
    world.comments_at_once("wil", issue, "/hob approve").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.history(issue).await);
    world.finish().await;
}

#[tokio::test]
async fn without_the_command_nothing_is_approved() {
    let (world, issue) = waiting(planning()).await;
    world.comments("ann", issue, "/hob retry").await;
    world.run().await;
    world.waits_for_approval(issue).await;
    world.labels_off("ann", issue, "blocked").await;
    world.run().await;
    world.waits_for_approval(issue).await;
    assert_eq!(world.briefs(issue).len(), 3);
    world.finish().await;
}

#[tokio::test]
async fn a_label_asks_for_a_plan_if_whoever_put_it_on_is_authorized() {
    let world = planning().start().await;
    let by_tess = world.asks("Make it", "").await;
    world.labels_on("tess", by_tess, "plan").await;
    let by_wil = world.asks("Make it, too", "").await;
    world.labels_on("wil", by_wil, "plan").await;
    let summary = world.run().await;
    assert_eq!((summary.worked, summary.failed), (2, 0), "{:?}", world.failures());
    assert_eq!(world.labels(by_tess).await, ["code", "in-review", "plan"]);
    assert_eq!(world.labels(by_wil).await, ["blocked", "code", "plan"]);
    assert_eq!(world.pulls().await.len(), 1);
    // A person who takes the request back gets the work after the next answer.
    world.labels_off("wil", by_wil, "plan").await;
    world.comments("wil", by_wil, "Go on without.").await;
    world.run().await;
    assert_eq!(world.labels(by_wil).await, ["code", "in-review"]);
    world.finish().await;
}

#[tokio::test]
async fn only_large_issues_are_planned_where_the_setting_says_so() {
    let world = planning().set("plan", "large").start().await;
    assert_eq!(world.settings.plan, PlanFirst::Large);
    let small = world.asks("Small", "- [ ] one").await;
    let large = world.asks("Large", &"- [ ] one\n".repeat(5)).await;
    world.run().await;
    assert_eq!(world.labels(small).await, ["code", "in-review"]);
    assert_eq!(world.labels(large).await, ["blocked", "code"]);
    world.finish().await;
}

#[tokio::test]
async fn an_approval_ends_with_the_text_that_it_was_for() {
    let (world, issue) = waiting(planning()).await;
    let worker = world.worker("w1").await;
    let approved = hob_worker::approve(&worker, IssueNumber(issue), "").await.unwrap();
    assert!(matches!(approved, Approved::Plan(plan) if plan.files == ["done.txt"]));
    world.edits("wil", issue, json!({"body": "And paint it."})).await;
    world.run().await;
    let kind = world.record(issue).await.unwrap().blocked.map(|blocked| blocked.reason);
    assert_eq!(kind, Some(BlockCode::EditedMeanwhile), "as without a plan");
    world.comments("wil", issue, "/hob retry").await;
    world.run().await;
    world.waits_for_approval(issue).await;
    world.finish().await;
}

#[tokio::test]
async fn an_issue_that_is_withdrawn_ends_with_its_plan() {
    let (world, issue) = waiting(planning()).await;
    world.labels_off("ann", issue, "code").await;
    world.run().await;
    assert_eq!(world.record(issue).await.unwrap().state, State::Done);
    world.nothing_is_written().await;
    // A new request asks for a new approval.
    world.labels_on("ann", issue, "code").await;
    world.run().await;
    world.waits_for_approval(issue).await;
    world.comments("ann", issue, "/hob cancel").await;
    world.run().await;
    assert_eq!(world.record(issue).await.unwrap().state, State::Done);
    world.nothing_is_written().await;
    world.finish().await;
}

#[tokio::test]
async fn an_agent_without_a_plan_is_tried_again_and_then_asked_about() {
    let agent = "[ $HOB_PURPOSE = plan ] && echo 'I would rather just do it.'; echo done > done.txt";
    let world = World::with_agent(agent).check("test -f done.txt").set("plan", "always").start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let record = world.record(issue).await.unwrap();
    let why = "the agent gave no plan: its last words have no steps";
    assert_eq!((record.state, record.failure.text.as_deref()), (State::Ready, Some(why)));
    world.forge.advance(world.settings.limits.retry_delay + Duration::from_secs(1));
    world.run().await;
    assert!(world.briefs(issue)[1].contains(&format!("The attempt before failed: {why}")));
    let blocked = world.record(issue).await.unwrap().blocked.unwrap();
    assert_eq!(blocked.reason, BlockCode::NoProgress);
    assert!(blocked.text.contains(why), "{}", blocked.text);
    world.nothing_is_written().await;
    world.finish().await;
}

#[tokio::test]
async fn a_plan_counts_as_an_attempt_and_its_spend_is_booked() {
    let plan = r#"{"outcome":"done","summary":"Steps: Do it","usd":0.25,"input_tokens":9}"#;
    let agent = format!("[ $HOB_PURPOSE = plan ] && {{ echo '{plan}'; exit; }}; echo done > done.txt");
    let (world, issue) = waiting(World::with_agent(&agent)).await;
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.attempts.ever, record.spend.usd_micros, record.spend.input_tokens), (1, 250_000, 9));
    let status = world.status(issue).await;
    assert!(status.contains("The work costs $4.75 at most") && status.contains("It names no files."), "{status}");
    world.finish().await;
}

#[tokio::test]
async fn the_folder_of_an_agent_that_plans_is_read_only() {
    let script = r#"if [ "$HOB_PURPOSE" = plan ]; then
        { echo x > stray.txt; } 2> /dev/null && said=written || said=refused
        { echo x >> README.md; } 2> /dev/null && said="$said, written" || said="$said, refused"
        printf 'Summary: %s.\nSteps:\n- Do it\n' "$said: $(cat README.md)"
    else echo done > done.txt; fi"#;
    let (world, issue) = waiting(World::with_bare_agent(script).set("sandbox.write", "")).await;
    let status = world.status(issue).await;
    assert!(status.contains("**Plan**: refused, refused: # Site."), "{status}");
    world.comments("ann", issue, "/hob approve").await;
    world.run().await;
    assert_eq!(world.published().await, ["done.txt"]);
    world.finish().await;
}

#[tokio::test]
async fn a_recipe_names_its_steps_without_taking_them() {
    let rules = "agent = 'chore'\n[agents.chore]\nbackend = 'recipe'\nrecipe = 'chore'\n\
                 [recipes.chore]\ndescription = 'Writes it.'\nsteps = [{ run = 'echo done > done.txt' }]\n";
    let builder = World::fixing().file(".github/hob.toml", rules);
    let (world, issue) = waiting(builder).await;
    let status = world.status(issue).await;
    assert!(status.contains("**Plan**: Writes it.\n\n1. run `echo done > done.txt`\n"), "{status}");
    world.comments("ann", issue, "/hob approve").await;
    world.run().await;
    assert_eq!(world.published().await, ["done.txt"]);
    world.finish().await;
}

/// A native agent continues in the session in which it planned with tools that only read.
#[tokio::test]
async fn a_native_agent_plans_with_tools_that_only_read_and_goes_on_in_its_session() {
    let replies = Replies::none();
    let call = |name: &str, arguments: Value| json!([{ "name": name, "arguments": arguments }]);
    let plan = "Summary: Write it.\nSteps:\n- Write done.txt\nFiles:\n- done.txt";
    replies.are(&json!([
        { "expect": ["Make a plan and change nothing"], "calls": call("write", json!({"path": "done.txt", "text": "x"})) },
        { "expect": ["there is no tool `write`"], "calls": call("read", json!({"path": "README.md"})) },
        { "calls": call("done", json!({"summary": plan})) },
    ]));
    let builder = World::fixing().agent("careful", replies.agent()).set("agent", "careful");
    let (world, issue) = waiting(builder).await;
    let session = world.record(issue).await.unwrap().session;
    world.comments("ann", issue, "/hob approve").await;
    replies.then(&json!([
        {
            "expect": ["# Site", "You ended your run; the work continues.", "A person approved this plan: carry it out."],
            "calls": call("write", json!({"path": "done.txt", "text": "done\n"})),
        },
        { "calls": call("done", json!({"summary": "Wrote it."})) },
    ]));
    world.run().await;
    assert_eq!(world.published().await, ["done.txt"], "{}", world.status(issue).await);
    assert_eq!(world.record(issue).await.unwrap().session, session);
    world.finish().await;
}

#[tokio::test]
async fn the_program_approves_a_plan_and_shows_it() {
    let (world, issue) = waiting(planning()).await;
    let number = issue.to_string();
    let explained = world.hob(&["explain", &number]).await;
    assert!(explained.stdout.contains("waits for a person's answer"), "{explained:?}");
    let ended = world.hob(&["approve", &number]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let shown =
        "is requeued, and the agent follows this plan:\nSummary: Write the file, plan 0.\nSteps:\n- Look around\n";
    assert!(ended.stdout.contains(shown), "{ended:?}");
    assert_eq!(world.labels(issue).await, ["code"]);
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    let again = world.hob(&["approve", &number]).await;
    assert!(again.code != 0 && again.stderr.contains("does not ask for an approval"), "{again:?}");
    world.finish().await;
}

#[tokio::test]
async fn a_comment_asks_for_a_plan_where_nothing_else_does() {
    let world = planning().start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.comments("ann", issue, "/hob plan").await;
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    world.waits_for_approval(issue).await;
    world.comments("ann", issue, "/hob approve").await;
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    assert_eq!(world.published().await, ["done.txt", "more.txt"]);
    world.finish().await;
}
