//! Actions that need approval: questions on the issue, allowed or not, and what runs afterwards.

use hob_config::{AgentSettings, Ask, Impact};
use hob_domain::{BlockCode, IssueNumber, State};
use serde_json::{Value, json};

use crate::harness::{Builder, Replies, World, redacted};

/// A native agent on recorded replies, where everything but looking needs approval.
fn careful(ask: Ask) -> (Builder, Replies) {
    let replies = Replies::none();
    let agent = AgentSettings { approve: Impact::Low, ask, ..replies.agent() };
    let world = World::fixing()
        .file("x", "stale\n")
        .file("y", "stale too\n")
        .check("test ! -e x")
        .agent("careful", agent)
        .set("agent", "careful");
    (world, replies)
}

fn shell(command: &str) -> Value {
    json!([{ "name": "shell", "arguments": { "command": command } }])
}

fn done() -> Value {
    json!([{ "name": "done", "arguments": { "summary": "Removed." } }])
}

/// A world with an issue whose agent waits for the approval of `rm x`.
async fn waiting() -> (World, Replies, u64) {
    let (builder, replies) = careful(Ask::Issue);
    let world = builder.start().await;
    let issue = world.asks("Remove x", "It is stale.").await;
    replies.are(&json!([{ "calls": shell("rm x") }]));
    world.run().await;
    assert_eq!(world.labels(issue).await, ["blocked", "code"], "{:?}", world.failures());
    (world, replies, issue)
}

async fn kind(world: &World, issue: u64) -> BlockCode {
    world.record(issue).await.unwrap().blocked.unwrap().reason
}

#[tokio::test]
async fn an_action_is_asked_about_on_the_issue_and_runs_once_it_is_allowed() {
    let (world, replies, issue) = waiting().await;
    assert_eq!(kind(&world, issue).await, BlockCode::ApprovalNeeded);
    let _redacted = redacted();
    insta::assert_snapshot!(world.status(issue).await, @"
    <!-- hob:status -->
    **Blocked**: a person is needed.

    The agent wants to run an action of high impact, which needs approval here.

    **Question**: Do you approve this: `shell rm x`?

    Exactly this, by the tool `shell`:

    ```text
    | rm x
    ```

    Comment `/hob approve` to allow exactly this for this issue, now and later. Or reply with what to do instead.

    <details><summary>Other answers, cost and history</summary>

    Answers of accounts with write access to this repository count.

    - `/hob retry`, or removing the label `blocked`, lets the agent continue without it.
    - `/hob cancel` ends the work on this issue.

    attempt 1 · `hob explain 1 --history` prints each step

    </details>
    ");
    for outsider in ["out", "tess", "robo[bot]"] {
        world.comments(outsider, issue, "/hob approve").await;
    }
    let before = world.writes().len();
    world.run().await;
    assert_eq!(world.writes().len(), before, "nobody authorized has approved it");

    world.comments("wil", issue, "/hob approve but nothing else").await;
    replies.then(&json!([
        { "expect": ["Not run: it needed approval, and the run ended here. The answer is below.", "answer of wil", "may do exactly this, and nothing else is approved by it:\nrm x", "but nothing else"],
          "calls": shell("rm x") },
        { "expect": ["[exit code 0]"], "calls": done() },
    ]));
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{}", world.status(issue).await);
    assert_eq!(world.changed(world.pull().await["number"].as_u64().unwrap()).await, ["x"]);
    let history = world.history(issue).await;
    assert!(history.iter().any(|line| line.starts_with("approved by wil; claimed by w1")), "{history:?}");
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.approval.given.len(), record.approval.waits), (1, None));
    world.finish().await;
}

#[tokio::test]
async fn another_action_is_asked_about_again_and_an_old_word_does_not_count_for_it() {
    let (world, replies, issue) = waiting().await;
    // The second comes before anyone could know of another question.
    world.comments("ann", issue, "/hob approve").await;
    world.comments("wil", issue, "/hob approve").await;
    replies.then(&json!([
        { "calls": shell("rm x") },
        { "expect": ["[exit code 0]"], "calls": shell("rm x y") },
    ]));
    world.run().await;
    assert!(world.status(issue).await.contains("| rm x y\n"), "{}", world.status(issue).await);
    let before = world.writes().len();
    for _poll in 0..2 {
        world.run().await;
    }
    assert_eq!(world.writes().len(), before);
    world.comments("ann", issue, "/hob approve").await;
    replies.then(&json!([{ "calls": shell("rm -f x") }]));
    world.run().await;
    assert!(world.status(issue).await.contains("| rm -f x\n"), "what was allowed is another action");
    assert_eq!(world.record(issue).await.unwrap().approval.given.len(), 2);
    world.finish().await;
}

/// The forge's times have whole seconds, and a program answers within the second of the question.
#[tokio::test]
async fn an_approval_within_the_second_of_the_question_counts_and_none_counts_twice() {
    let (world, replies, issue) = waiting().await;
    world.comments("ann", issue, "/hob approve").await;
    world.comments_at_once("wil", issue, "/hob approve").await;
    replies.then(&json!([{ "calls": shell("rm x y") }]));
    world.run().await;
    world.run().await;
    assert!(world.status(issue).await.contains("| rm x y\n"), "{}", world.status(issue).await);
    assert_eq!(world.record(issue).await.unwrap().approval.given.len(), 1);

    world.comments_at_once("wil", issue, "/hob approve").await;
    replies.then(&json!([{ "calls": shell("rm -f x") }]));
    world.run().await;
    assert!(world.status(issue).await.contains("| rm -f x\n"), "{:?}", world.history(issue).await);
    assert_eq!(world.record(issue).await.unwrap().approval.given.len(), 2);
    world.finish().await;
}

#[tokio::test]
async fn any_other_answer_goes_on_without_it_and_its_words_reach_the_agent() {
    for answer in ["/hob unblock Empty it instead.", "Empty it instead."] {
        let (world, replies, issue) = waiting().await;
        world.comments("out", issue, "Just do it.").await;
        world.comments("wil", issue, answer).await;
        let expect = ["Do you approve this: `shell rm x`?", "answer of wil", "Empty it instead."];
        replies.then(&json!([{ "expect": expect, "calls": shell("rm x") }]));
        world.run().await;
        assert_eq!(kind(&world, issue).await, BlockCode::ApprovalNeeded, "{}", world.status(issue).await);
        let record = world.record(issue).await.unwrap();
        assert_eq!((record.approval.given.len(), record.attempts.ever), (0, 2), "{answer}");
        world.finish().await;
    }
}

/// An action is allowed only in so many words: a plain yes costs no run, and is told which word counts.
#[tokio::test]
async fn a_plain_yes_allows_no_action_and_costs_nothing() {
    let (world, _replies, issue) = waiting().await;
    world.comments("wil", issue, "yes, go ahead").await;
    world.run().await;
    world.run().await;
    assert_eq!(kind(&world, issue).await, BlockCode::ApprovalNeeded, "{}", world.status(issue).await);
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.approval.given.len(), record.attempts.ever), (0, 1));
    let said = world.said(issue).await;
    let replies: Vec<_> = said.iter().filter(|said| said.text.starts_with("<!-- hob:reply")).collect();
    assert_eq!(replies.len(), 1, "{said:?}");
    assert!(replies[0].text.contains("To allow exactly this action, comment `/hob approve`."), "{}", replies[0].text);
    world.finish().await;
}

#[tokio::test]
async fn an_approval_where_none_is_asked_for_is_told_and_does_nothing() {
    let world = World::with_agent("exit 4").start().await;
    let issue = world.asks("Fail", "").await;
    world.run().await;
    world.comments("ann", issue, "/hob approve").await;
    world.run().await;
    assert_eq!(
        (world.labels(issue).await, world.briefs(issue).len()),
        (vec!["blocked".to_owned(), "code".to_owned()], 1)
    );
    let said = world.said(issue).await;
    assert!(said.iter().any(|said| said.text.contains("Nothing waits for approval here")), "{said:?}");
    let error = hob_worker::approve(&*world.worker("w1").await, IssueNumber(issue), "").await.unwrap_err().to_string();
    assert!(error.contains("does not ask for an approval"), "{error}");
    world.finish().await;
}

#[tokio::test]
async fn an_operator_approves_from_the_command_line() {
    let (world, replies, issue) = waiting().await;
    let number = issue.to_string();
    let ended = world.hob(&["approve", &number, "-m", "This once."]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stdout.contains("tool `shell`:\n| rm x\n"), "{ended:?}");
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.state, record.approval.given.len(), record.approval.waits), (State::Ready, 1, None));
    assert_eq!(world.labels(issue).await, ["code"]);
    let again = world.hob(&["approve", &number, "--json"]).await;
    assert!(again.code == 4 && again.stderr.contains("does not ask for an approval"), "{again:?}");
    replies.are(&json!([
        { "expect": ["This once."], "calls": shell("rm x") },
        { "expect": ["[exit code 0]"], "calls": done() },
    ]));
    let ended = world.hob(&["run", &number]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    world.finish().await;
}

#[tokio::test]
async fn with_auto_approve_all_but_what_is_denied_runs() {
    let (builder, replies) = careful(Ask::Issue);
    let world = builder.start().await;
    let issue = world.asks("Remove x", "").await.to_string();
    replies.are(&json!([
        { "calls": shell("git push") },
        { "expect": ["denied here by the rule `shell(git push)`"], "calls": shell("rm x") },
        { "expect": ["[exit code 0]"], "calls": done() },
    ]));
    let ended = world.hob(&["run", &issue, "--auto-approve"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    world.finish().await;
}

#[tokio::test]
async fn where_nobody_is_asked_the_model_is_told_at_once() {
    let (builder, replies) = careful(Ask::Nobody);
    let world = builder.start().await;
    let issue = world.asks("Remove x", "").await;
    replies.are(&json!([
        { "calls": shell("rm x") },
        { "expect": ["its impact is high, and nobody can be asked here"],
          "calls": [{ "name": "ask", "arguments": { "question": "May I remove x?" } }] },
    ]));
    let ended = world.hob(&["run", "--once"]).await;
    assert_eq!((ended.code, kind(&world, issue).await), (0, BlockCode::Question), "{ended:?}");
    // To a question in words, `/hob approve` is a reply like any other.
    world.comments("wil", issue, "/hob approve").await;
    let expect = ["May I remove x?", "answer of wil", "/hob approve"];
    replies.are(&json!([{ "expect": expect, "calls": [{ "name": "ask", "arguments": { "question": "Sure?" } }] }]));
    world.run().await;
    assert!(world.status(issue).await.contains("Sure?"), "{}", world.status(issue).await);
    world.finish().await;
}
