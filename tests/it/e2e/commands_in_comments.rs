//! Commands in comments: each takes effect once, and its comment shows that.

use std::time::Duration;

use hob_domain::{BlockCode, State};
use http::Method;
use serde_json::json;

use crate::harness::{Gate, World, run};

/// Accounts whose words do not count.
const STRANGERS: [&str; 4] = ["out", "rob", "tess", "robo[bot]"];

/// A world with one issue in review.
async fn in_review() -> (World, u64) {
    let world = World::with_agent("echo done $n > done.txt").script("other", "echo other > done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    (world, issue)
}

async fn pull_of(world: &World) -> u64 {
    world.pull().await["number"].as_u64().unwrap()
}

/// The one reply to the newest comment that has one, and what Hob's reactions to comments are.
async fn newest(world: &World, on: u64) -> (String, String) {
    let (replies, reactions) = receipts(world, on).await;
    (replies.last().cloned().unwrap_or_default(), reactions.last().cloned().unwrap_or_default())
}

/// The texts of Hob's replies, and the reactions on the comments with commands.
async fn receipts(world: &World, issue: u64) -> (Vec<String>, Vec<String>) {
    let said = world.said(issue).await;
    let replies = said.into_iter().filter(|said| said.text.starts_with("<!-- hob:reply ")).map(|said| said.text);
    let comments = world.look(&format!("/issues/{issue}/comments?per_page=100")).await;
    let mut reactions = Vec::new();
    for comment in comments.as_array().unwrap() {
        let on = world.look(&format!("/issues/comments/{}/reactions", comment["id"])).await;
        reactions.extend(on.as_array().unwrap().iter().map(|one| one["content"].as_str().unwrap().to_owned()));
    }
    (replies.collect(), reactions)
}

#[tokio::test]
async fn a_pause_and_a_resume_hold_an_issue_and_let_it_go() {
    let (world, issue) = in_review().await;
    world.comments("ann", issue, "/hob pause until Monday").await;
    world.run().await;
    assert!(world.status(issue).await.contains("**Paused** by `ann` (until Monday)"), "{}", world.status(issue).await);
    world.comments("ann", issue, "/hob resume").await;
    world.run().await;
    world.run().await;
    assert_eq!(world.record(issue).await.unwrap().pause(), None);
    assert_eq!(receipts(&world, issue).await, (vec![], vec!["eyes".to_owned(), "eyes".to_owned()]));
    let history = world.history(issue).await;
    assert_eq!(history.iter().filter(|line| line.starts_with("paused by ann")).count(), 1, "{history:?}");
    world.finish().await;
}

/// The resume is written before the pause was read, and no look at the comments had been noted by then.
#[tokio::test]
async fn a_resume_right_after_a_pause_is_heard() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.comments("ann", issue, "/hob pause").await;
    world.comments("ann", issue, "/hob resume").await;
    for _look in 0..4 {
        world.run().await;
        world.forge.advance(Duration::from_secs(61));
    }
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.history(issue).await);
    assert_eq!(receipts(&world, issue).await, (vec![], vec!["eyes".to_owned(), "eyes".to_owned()]));
    world.finish().await;
}

#[tokio::test]
async fn a_pause_interrupts_a_running_agent() {
    let script = Gate::before("echo done > done.txt");
    let world = World::fixing().script("fixer", &script).set("poll.interval", "20ms").start().await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "").await;
    let worker = world.worker("busy").await;
    tokio::join!(run(&worker), async {
        gate.reached().await;
        world.comments("out", issue, "/hob pause").await;
        world.comments("ann", issue, "/hob pause").await;
    });
    let record = world.record(issue).await.unwrap();
    assert!(record.state == State::Ready && record.pause().is_some_and(|pause| pause.by.as_str() == "ann"));
    assert_eq!(receipts(&world, issue).await, (vec![], vec!["eyes".to_owned()]));
    world.finish().await;
}

#[tokio::test]
async fn what_cannot_be_followed_and_a_call_for_help_are_answered_once() {
    let (world, issue) = in_review().await;
    for said in ["/hob retyr", "/hob help", "/hob approve"] {
        world.comments("ann", issue, said).await;
    }
    world.run().await;
    world.run().await;
    let (replies, reactions) = receipts(&world, issue).await;
    assert_eq!(reactions, ["confused", "eyes", "confused"]);
    for (reply, says) in
        replies.iter().zip(["did you mean `/hob retry`?", "- `/hob pause TEXT`", "Nothing waits for approval"])
    {
        assert!(reply.contains(says), "{replies:?}");
    }
    assert_eq!(replies.len(), 3);
    world.finish().await;
}

#[tokio::test]
async fn every_command_counts_on_the_issue_and_on_its_pull_request() {
    for on_pull in [false, true] {
        let (world, issue) = in_review().await;
        let on = if on_pull { pull_of(&world).await } else { issue };
        let mut expected = 0;
        for (said, reaction, reply) in [
            ("/hob pause for now", "eyes", None),
            ("/hob pause", "confused", Some("It is paused already: `/hob resume` lets it go on.")),
            ("/hob explain", "eyes", Some("now: ann paused it (for now); `/hob resume` in a comment, or")),
            ("/hob resume", "eyes", None),
            ("/hob resume", "confused", Some("It is not paused: say on pull request #")),
            ("/hob retry", "confused", Some("Nothing waits for another attempt: say on pull request #")),
            ("/hob unblock it", "confused", Some("Nothing waits for another attempt")),
            ("/hob approve", "confused", Some("Nothing waits for approval")),
            ("/hob agent other", "eyes", None),
            (
                "/hob agent othre",
                "confused",
                Some("`othre` is neither an agent nor a profile here: there are `other`, `"),
            ),
            ("/hob budget $2.50", "eyes", None),
            ("/hob budget 6 USD", "confused", Some("$6.00 is too much: a comment may set $5.00 at most")),
            ("/hob budget 5,00", "confused", Some("`5,00` is not an amount above 0")),
            ("/hob plan", "confused", Some("There is a pull request already: say there what should change.")),
            ("/hob explain", "eyes", Some("waits for a review")),
            ("/hob help", "eyes", Some("- `/hob budget USD`: ")),
            ("/hob cancl", "confused", Some("did you mean `/hob cancel`?")),
        ] {
            world.comments("ann", on, said).await;
            let summary = world.run().await;
            assert_eq!((summary.worked, summary.failed), (0, 0), "{said}: {:?}", world.failures());
            expected += usize::from(reply.is_some());
            let (replies, _) = receipts(&world, on).await;
            assert_eq!(replies.len(), expected, "{said}: {replies:?}");
            let (newest, reacted) = newest(&world, on).await;
            assert_eq!(reacted, reaction, "{said}");
            assert!(reply.is_none_or(|reply| newest.contains(reply)), "{said}: {newest}");
        }
        let commands = world.record(issue).await.unwrap().commands;
        assert_eq!(commands.agent.map(|agent| agent.name).as_deref(), Some("other"));
        assert_eq!(commands.budget.map(|budget| budget.usd_micros), Some(2_500_000));
        assert_eq!((commands.wants_plan, commands.receipts.len()), (None, 0));
        let before = world.writes().len();
        world.run().await;
        assert_eq!(world.writes().len(), before, "each is followed once");
        world.comments("wil", on, "I see.\n/hob cancel\nIt leads nowhere.").await;
        world.run().await;
        assert_eq!(world.labels(issue).await, Vec::<String>::new());
        assert_eq!(newest(&world, on).await.1, "eyes");
        world.finish().await;
    }
}

#[tokio::test]
async fn quotes_code_and_strangers_command_nothing_and_an_edit_is_told_so() {
    let (world, issue) = in_review().await;
    let pull = pull_of(&world).await;
    let before = world.writes().len();
    for on in [issue, pull] {
        for said in
            ["> /hob cancel", "```\n/hob cancel\n```", "~~~\n/hob cancl", "<!--\n/hob cancel\n-->", "    /hob cancel"]
        {
            world.comments("ann", on, said).await;
        }
        for login in STRANGERS {
            for said in ["/hob cancel", "/hob pause", "/hob budget 1", "/hob agent other", "/hob help", "/hob typo"] {
                world.comments(login, on, said).await;
            }
        }
        world.comments("ann", on, "Fine.").await;
        let comments = world.look(&format!("/issues/{on}/comments?per_page=100")).await;
        let id = comments.as_array().unwrap().last().unwrap()["id"].clone();
        world.forge.advance(Duration::from_secs(2));
        world.call("wil", Method::PATCH, &format!("/issues/comments/{id}"), json!({"body": "/hob cancel"})).await;
    }
    world.run().await;
    let after = world.writes().len();
    assert!(after > before);
    for on in [issue, pull] {
        let (replies, reactions) = receipts(&world, on).await;
        assert_eq!(reactions, ["confused"], "{replies:?}");
        assert!(replies.len() == 1 && replies[0].contains("was edited after it was written"), "{replies:?}");
    }
    world.run().await;
    assert_eq!(world.writes().len(), after);
    assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    world.finish().await;
}

#[tokio::test]
async fn other_words_on_a_pull_request_begin_a_round_and_a_slip_does_not() {
    let (world, issue) = in_review().await;
    let pull = pull_of(&world).await;
    world.comments("ann", pull, "/hob cancl").await;
    assert_eq!(world.run().await.worked, 0);
    // The command comes first, and the round after it.
    world.comments("ann", pull, "/hob please rename it").await;
    world.comments("ann", pull, "/hob help").await;
    assert_eq!(world.run().await.worked, 0);
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    assert!(world.briefs(issue)[1].contains("please rename it"));
    let (replies, reactions) = receipts(&world, pull).await;
    assert_eq!((replies.len(), reactions), (2, ["confused", "eyes", "eyes"].map(str::to_owned).to_vec()));
    world.comments("ann", pull, "/hob cancel the second sentence").await;
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    world.finish().await;
}

/// The agents that worked so far, in order.
async fn agents(world: &World, issue: u64) -> Vec<String> {
    let history = world.history(issue).await;
    let started = history.iter().filter_map(|line| line.strip_prefix("the agent `")?.split_once('`'));
    started.map(|(agent, _)| agent.to_owned()).collect()
}

#[tokio::test]
async fn an_agent_is_chosen_by_the_newest_word_of_an_authorized_account() {
    let world = World::with_agent("echo done $n > done.txt").script("other", "echo other $n > done.txt");
    let world = world.start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.comments("out", issue, "/hob agent fixer").await;
    world.comments("wil", issue, "/hob agent other").await;
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    assert_eq!(receipts(&world, issue).await, (vec![], vec!["eyes".to_owned()]));
    let pull = pull_of(&world).await;
    let mut expected = vec!["other"];
    for (agent, by_label) in [("fixer", true), ("other", false)] {
        if by_label {
            world.labels_on("ann", issue, &format!("agent:{agent}")).await;
        } else {
            world.comments("ann", pull, &format!("/hob agent {agent}")).await;
            assert_eq!(world.run().await.worked, 0);
        }
        world.comments("ann", pull, "/hob please write it anew").await;
        assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
        expected.push(agent);
        assert_eq!(agents(&world, issue).await, expected);
    }
    // A label by an account that may not choose does not count against it.
    world.labels_off("ann", issue, "agent:fixer").await;
    world.labels_on("tess", issue, "agent:fixer").await;
    world.comments("ann", pull, "/hob please write it once more").await;
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    assert_eq!(agents(&world, issue).await.last().map(String::as_str), Some("other"));
    world.finish().await;
}

/// An issue that has spent six dollars of its five.
async fn with_a_spent_budget(most: &str) -> (World, u64) {
    let script = r#"echo $n > work.txt; [ $n -lt 2 ] || echo done > done.txt
        echo '{"outcome":"done","summary":"Did it.","usd":3.0,"input_tokens":100}'"#;
    let world = World::with_agent(script)
        .check("test ! -f work.txt || test -f done.txt")
        .set("budget.issue", "5.0")
        .set("budget.comment_max", most)
        .start()
        .await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let record = world.record(issue).await.unwrap();
    let (history, failures) = (world.history(issue).await, world.failures());
    let kind = record.blocked.map(|blocked| blocked.reason);
    assert_eq!(kind, Some(BlockCode::IssueBudget), "{history:?} {failures:?}");
    (world, issue)
}

#[tokio::test]
async fn a_budget_in_a_comment_lets_an_issue_go_on_as_far_as_the_settings_allow() {
    let (world, issue) = with_a_spent_budget("20").await;
    let status = world.status(issue).await;
    assert!(status.contains("Comment `/hob budget USD`, up to $20.00: Hob then continues by itself."), "{status}");
    world.comments("ann", issue, "/hob retry").await;
    world.run().await;
    assert!(newest(&world, issue).await.0.contains("is used up: first comment `/hob budget USD`, up to $20.00."));
    world.comments("ann", issue, "/hob budget 20.01").await;
    world.run().await;
    assert!(newest(&world, issue).await.0.contains("$20.01 is too much: a comment may set $20.00 at most"));
    world.comments("ann", issue, "/hob budget 6").await;
    world.run().await;
    assert!(newest(&world, issue).await.0.contains("the issue's budget of $6.00 is used up."));
    assert_eq!(world.labels(issue).await, ["blocked", "code"]);
    // It goes on at once, and ends at the new limit.
    world.comments("ann", issue, "/hob budget $8.50").await;
    world.run().await;
    world.run().await;
    assert_eq!(
        world.labels(issue).await,
        ["code", "in-review"],
        "{:?} {}",
        world.failures(),
        world.status(issue).await
    );
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.spend.usd_micros, record.attempts.ever), (9_000_000, 2));
    assert!(world.pull().await["body"].as_str().unwrap().contains("an issue $8.50 and"));
    let history = world.history(issue).await;
    let set = |line: &&String| line.starts_with("ann set the issue's budget to $8.50 and requeued it");
    assert_eq!(history.iter().filter(set).count(), 1, "{history:?}");
    // The issue's life has one budget, even if a label is added again.
    world.comments("ann", issue, "/hob cancel").await;
    world.run().await;
    world.edits("ann", pull_of(&world).await, json!({"state": "closed"})).await;
    world.labels_on("ann", issue, "code").await;
    world.run().await;
    let status = world.status(issue).await;
    assert!(status.contains("budget of $8.50 (`/hob budget`) is used up"), "{status}");
    assert_eq!(world.briefs(issue).len(), 3);
    world.finish().await;
}

#[tokio::test]
async fn without_the_owners_word_a_comment_can_only_lower_the_budget() {
    let (world, issue) = with_a_spent_budget("0").await;
    assert!(
        world
            .status(issue)
            .await
            .contains("Ask the operator of Hob to raise `budget.issue`, then comment `/hob retry`.")
    );
    world.comments("ann", issue, "/hob budget 5.01").await;
    world.run().await;
    assert!(newest(&world, issue).await.0.contains("a comment may set $5.00 at most (`budget.comment_max`"));
    assert_eq!((world.labels(issue).await, world.briefs(issue).len()), (vec!["blocked".into(), "code".into()], 2));
    world.comments("ann", issue, "/hob budget 1").await;
    world.run().await;
    assert_eq!(world.record(issue).await.unwrap().commands.budget.unwrap().usd_micros, 1_000_000);
    assert_eq!(world.labels(issue).await, ["blocked", "code"]);
    world.finish().await;
}

#[tokio::test]
async fn what_comes_while_an_agent_works_is_followed_at_once() {
    let script = Gate::before("echo done > done.txt");
    let world = World::fixing().script("fixer", &script).set("poll.interval", "20ms").start().await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "").await;
    let worker = world.worker("busy").await;
    tokio::join!(run(&worker), async {
        gate.reached().await;
        let said =
            ["/hob help", "/hob explain", "/hob retry", "/hob unblock x", "/hob budget 4", "/hob typo", "/hob pause"];
        for said in said {
            world.comments("ann", issue, said).await;
        }
    });
    let record = world.record(issue).await.unwrap();
    assert!(record.pause().is_some() && record.commands.receipts.is_empty());
    assert_eq!(record.commands.budget.map(|budget| budget.usd_micros), Some(4_000_000));
    let (replies, reactions) = receipts(&world, issue).await;
    assert_eq!(reactions, ["eyes", "eyes", "eyes", "eyes", "eyes", "confused", "eyes"]);
    for (reply, says) in replies.iter().zip(["`/hob pause TEXT`", "worker busy works on it", "lists them"]) {
        assert!(reply.contains(says), "{says}: {replies:?}");
    }
    assert_eq!((replies.len(), world.briefs(issue).len()), (3, 1));
    world.comments("ann", issue, "/hob resume").await;
    world.run().await;
    tokio::join!(run(&worker), async {
        gate.reached().await;
        gate.open().await;
    });
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    assert_eq!(receipts(&world, issue).await.0.len(), 3);
    world.finish().await;
}

#[tokio::test]
async fn a_round_in_review_is_paused_and_resumed_on_the_pull_request() {
    let script = format!("[ $n = 0 ] || {{ {} true; }}; echo done $n > done.txt", Gate::before(""));
    let world = World::with_agent(&script).set("poll.interval", "20ms").start().await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "").await;
    let worker = world.worker("busy").await;
    run(&worker).await;
    let pull = pull_of(&world).await;
    world.comments("ann", pull, "/hob please write it anew").await;
    tokio::join!(run(&worker), async {
        gate.reached().await;
        world.comments("out", pull, "/hob pause").await;
        world.comments("ann", pull, "/hob pause").await;
    });
    let record = world.record(issue).await.unwrap();
    assert!(record.state == State::Ready && record.pause().is_some(), "{record:?}");
    assert_eq!(run(&worker).await.worked, 0);
    world.comments("ann", pull, "/hob resume").await;
    run(&worker).await;
    tokio::join!(run(&worker), async {
        gate.reached().await;
        gate.open().await;
    });
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    assert_eq!(receipts(&world, pull).await, (vec![], vec!["eyes".to_owned(); 3]));
    world.finish().await;
}

#[tokio::test]
async fn a_blocked_issue_is_answered_by_commands_on_its_pull_request() {
    let world = World::with_agent("echo $n > done.txt").set("limits.rounds", "1").start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let pull = pull_of(&world).await;
    world.comments("ann", pull, "/hob please count").await;
    world.run().await;
    for answer in ["/hob retry", "/hob unblock Count further."] {
        world.comments("ann", pull, "/hob please count on").await;
        world.run().await;
        assert_eq!(world.labels(issue).await, ["blocked", "code"]);
        world.comments("ann", pull, "@wil, I like it.").await;
        world.comments("out", pull, answer).await;
        world.comments("ann", pull, "/hob approve").await;
        world.run().await;
        assert_eq!(world.labels(issue).await, ["blocked", "code"]);
        world.comments("ann", pull, answer).await;
        assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
        assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    }
    assert!(world.briefs(issue)[3].contains("Count further."));
    let (replies, reactions) = receipts(&world, pull).await;
    assert_eq!(
        (replies.len(), reactions),
        (2, ["eyes", "eyes", "confused", "eyes", "eyes", "confused", "eyes"].map(str::to_owned).to_vec())
    );
    world.finish().await;
}

/// Field note N66: the answer counts where the talk is, with the account's name or without.
#[tokio::test]
async fn plain_words_on_the_pull_request_answer_an_open_question() {
    for answer in ["Alphabetical, keep going.", "@hob alphabetical, keep going.", "/hob alphabetical, keep going."] {
        let script = r#"case $n in
            1) echo '{"outcome":"question","question":"Which order?"}' ;;
            *) echo $n > done.txt ;;
        esac"#;
        let world = World::with_agent(script).start().await;
        let issue = world.asks("Make done.txt", "").await;
        world.run().await;
        let pull = pull_of(&world).await;
        world.comments("ann", pull, "/hob please sort it").await;
        world.run().await;
        assert_eq!(world.labels(issue).await, ["blocked", "code"], "{:?}", world.failures());
        world.comments("out", pull, answer).await;
        world.comments("ann", pull, answer).await;
        world.run().await;
        assert_eq!(world.labels(issue).await, ["code", "in-review"], "{answer}: {:?}", world.history(issue).await);
        assert!(world.briefs(issue)[2].to_lowercase().contains("alphabetical, keep going."), "{answer}");
        world.run().await;
        assert_eq!(world.briefs(issue).len(), 3, "the answer asks for no round of its own");
        let (replies, reactions) = receipts(&world, pull).await;
        assert_eq!((replies.len(), reactions.last().map(String::as_str)), (0, Some("eyes")));
        world.finish().await;
    }
}

/// Case c15: what begins with the name of Hob's account is for Hob.
#[tokio::test]
async fn a_comment_that_begins_with_hobs_name_is_for_hob() {
    let (world, issue) = in_review().await;
    let pull = pull_of(&world).await;
    world.comments("ann", issue, "@hob explain").await;
    world.comments("out", pull, "@hob please write it anew").await;
    world.run().await;
    let (reply, reaction) = newest(&world, issue).await;
    assert!(reply.contains("waits for a review") && reaction == "eyes", "{reply}");
    assert_eq!(world.briefs(issue).len(), 1);
    world.comments("ann", pull, "@Hob, please write it anew").await;
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    assert!(world.briefs(issue)[1].contains("please write it anew"));
    world.finish().await;
}

/// A plain stop ends the work under way, as the command does.
#[tokio::test]
async fn a_plain_stop_ends_a_running_agent() {
    let script = Gate::before("echo done > done.txt");
    let world = World::fixing().script("fixer", &script).set("poll.interval", "20ms").start().await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "").await;
    let worker = world.worker("busy").await;
    tokio::join!(run(&worker), async {
        gate.reached().await;
        world.comments("out", issue, "stop").await;
        world.comments("ann", issue, "Please stop!").await;
    });
    assert_eq!((world.record(issue).await.unwrap().state, world.labels(issue).await), (State::Done, vec![]));
    assert_eq!(receipts(&world, issue).await, (vec![], vec!["eyes".to_owned()]));
    assert!(world.pulls().await.is_empty());
    world.finish().await;
}

#[tokio::test]
async fn what_prepares_the_work_counts_before_the_label() {
    let world = World::fixing().start().await;
    let issue = world.opens("ann", "Make done.txt", "", &[]).await;
    for (login, said) in [("out", "/hob budget 99"), ("ann", "/hob budget 3"), ("ann", "stop"), ("ann", "/hob cancel")]
    {
        world.comments(login, issue, said).await;
    }
    world.labels_on("ann", issue, "code").await;
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    let record = world.record(issue).await.unwrap();
    assert_eq!(record.commands.budget.map(|budget| budget.usd_micros), Some(3_000_000));
    assert_eq!((record.state, receipts(&world, issue).await), (State::InReview, (vec![], vec!["eyes".to_owned()])));
    world.finish().await;
}

#[tokio::test]
async fn a_pause_before_the_label_keeps_the_issue_from_being_worked_on() {
    let world = World::fixing().start().await;
    let issue = world.opens("ann", "Make done.txt", "", &[]).await;
    world.comments("ann", issue, "/hob pause").await;
    world.labels_on("ann", issue, "code").await;
    world.run().await;
    let record = world.record(issue).await.unwrap();
    assert!(record.pause().is_some() && record.state == State::Ready && world.briefs(issue).is_empty(), "{record:?}");
    assert_eq!(receipts(&world, issue).await, (vec![], vec!["eyes".to_owned()]));
    world.finish().await;
}

#[tokio::test]
async fn a_pause_before_the_first_claim_keeps_the_issue_from_being_worked_on() {
    let world = World::fixing().start().await;
    let issue = world.opens("ann", "Make done.txt", "", &[]).await;
    world.comments("ann", issue, "/hob cancel").await;
    world.labels_on("ann", issue, "code").await;
    world.comments("ann", issue, "/hob pause").await;
    world.run().await;
    let record = world.record(issue).await.unwrap();
    assert!(record.pause().is_some() && record.state == State::Ready && world.briefs(issue).is_empty(), "{record:?}");
    assert_eq!(receipts(&world, issue).await, (vec![], vec!["eyes".to_owned()]), "what came before the label is void");
    world.comments("ann", issue, "/hob resume").await;
    world.run().await;
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    world.finish().await;
}

#[tokio::test]
async fn commands_on_a_pull_request_that_were_followed_cost_no_counted_reads() {
    let (world, issue) = in_review().await;
    let pull = pull_of(&world).await;
    for (login, said) in [("ann", "/hob help"), ("out", "/hob cancel"), ("ann", "/hob agent other"), ("ann", "Fine.")] {
        world.comments(login, pull, said).await;
    }
    let worker = world.worker("w1").await;
    for _ in 0..3 {
        // More may follow within a second.
        world.forge.advance(Duration::from_secs(2));
        run(&worker).await;
    }
    let before = worker.forge().connection().call_counts().reads;
    run(&worker).await;
    assert_eq!(worker.forge().connection().call_counts().reads, before);
    assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    world.finish().await;
}
