//! What people read on the forge: the one status comment of an issue, and the pull request.

use std::fmt::Write;

use crate::{
    BlockKind, Budget, CheckExit, CheckResult, CheckRun, CommentId, Diff, Evidence, Login, Record, State, Verdict,
    clip, inert, quiet, terminal, title,
};

/// Marks the status comment, so that it is found again.
pub const STATUS_MARK: &str = "<!-- hob:status -->";

/// What every comment of Hob's begins with: it answers nothing, whoever wrote it.
pub const OWN_MARK: &str = "<!-- hob:";

/// Hob's one-line reply to a comment that it cannot follow.
pub fn reply_body(to: CommentId, says: &str) -> String {
    format!("{OWN_MARK}reply {to} -->\n{}\n", inert(says))
}

/// The comment that a reply of Hob's is about.
pub fn replied_to(body: &str) -> Option<CommentId> {
    let (id, _) = body.strip_prefix(OWN_MARK)?.strip_prefix("reply ")?.split_once(' ')?;
    id.parse().ok().map(CommentId)
}

/// Characters a body may have on the forge, with room to spare.
const BODY_MAX: usize = 60_000;
/// Bytes of one check's output that people see.
const OUTPUT_MAX: usize = 3_000;

/// Everything a pull request's body says.
#[derive(Debug, Clone)]
pub struct PullReport<'a> {
    /// The issue's ledger.
    pub record: &'a Record,
    /// The issue's title.
    pub issue_title: &'a str,
    /// The agent's own words on what it did.
    pub summary: &'a str,
    /// The agent's name.
    pub agent: &'a str,
    /// The checks on base and head.
    pub evidence: &'a Evidence,
    /// What changed.
    pub diff: &'a Diff,
    /// What the limits were, one sentence.
    pub limits: &'a str,
}

/// The pull request's title.
pub fn pull_title(issue_title: &str) -> String {
    let cleaned = quiet(&title(issue_title, 120));
    if cleaned.is_empty() { "Work on an issue without a title".to_owned() } else { cleaned }
}

/// The pull request's body: what, why, evidence, cost, limits.
pub fn pull_body(report: &PullReport<'_>) -> String {
    let record = report.record;
    let mut text = format!("Fixes #{}\n\n## What\n\n{}\n\n", record.issue, inert(&clip(report.summary.trim(), 8_000)));
    let (plus, minus) = (report.diff.additions(), report.diff.deletions());
    let files = count(report.diff.files.len() as u64, "file");
    line(&mut text, &format!("{files} changed, {} added, {minus} removed:\n", count(plus, "line")));
    for file in report.diff.files.iter().take(20) {
        line(&mut text, &format!("- `{}` (+{} −{})", code(&file.path), file.additions, file.deletions));
    }
    if report.diff.files.len() > 20 {
        line(&mut text, &format!("- and {} more", report.diff.files.len() - 20));
    }
    let actor = record.trigger.as_ref().map_or_else(|| "a maintainer".to_owned(), |trigger| person(&trigger.actor));
    line(
        &mut text,
        &format!("\n## Why\n\n{actor} put the issue “{}” into Hob's hands.", inert(&title(report.issue_title, 200))),
    );
    if let Some(answer) = &record.answer {
        line(&mut text, &format!("{} answered: {}", person(&answer.actor), quoted(&answer.text)));
    }
    line(&mut text, "\n## Evidence\n");
    text.push_str(&evidence_table(report.evidence));
    line(
        &mut text,
        &format!(
            "\n## Cost\n\n{} over {}, by the agent `{}`.",
            record.spend,
            count(record.attempt.into(), "attempt"),
            code(report.agent)
        ),
    );
    line(&mut text, &format!("\n## Limits\n\n{}", report.limits));
    line(&mut text, &format!("\nHob's ledger of this work: `hob history {}`.", record.issue));
    clip(&text, BODY_MAX)
}

/// What the evidence says, one sentence, and a table of the checks before and after.
pub fn evidence_table(evidence: &Evidence) -> String {
    let commands = |commands: &[String]| {
        commands.iter().map(|command| format!("`{}`", code(command))).collect::<Vec<_>>().join(", ")
    };
    let mut text = match evidence.verdict() {
        Verdict::NoChecks => {
            return "**Not verified**: `.github/hob.toml` on the base branch names no checks. Add \
                    `checks = [\"…\"]` there, and Hob runs them on the base and on the head.\n"
                .to_owned();
        }
        Verdict::Green => "Every check passes on the work; none failed on the base.\n".to_owned(),
        Verdict::RedToGreen { repaired } => {
            format!("**Red before, green after**: {} failed on the base and passes on the work.\n", commands(&repaired))
        }
        Verdict::Broken { commands: broken } => format!("**The work breaks** {}.\n", commands(&broken)),
        Verdict::StillRed { commands: red } => format!(
            "**Red before, red after**: {} failed on the base already. Nothing that passed there fails on the work.\n",
            commands(&red)
        ),
        Verdict::Undecided { commands: open } => format!("{} gave no answer in time.\n", commands(&open)),
    };
    text.push_str("\n| check | base | head |\n|---|---|---|\n");
    for head in &evidence.head {
        let base =
            evidence.base.iter().find(|base| base.command == head.command).map_or("not run".to_owned(), exit_word);
        line(&mut text, &format!("| `{}` | {base} | {} |", code(&head.command).replace('|', "\\|"), exit_word(head)));
    }
    text
}

/// How the question of a blocked issue is answered.
fn how_to_answer(kind: BlockKind, waits_for_approval: bool, label: &str) -> String {
    let ways = match kind {
        BlockKind::ApprovalNeeded if waits_for_approval => {
            "- comment `/hob approve`: exactly this may run for this issue, now and later;\n\
             - reply and say what to do instead;\n"
        }
        BlockKind::BudgetSpent => "- raise the limit, then reply here;\n",
        BlockKind::Question
        | BlockKind::ApprovalNeeded
        | BlockKind::ChecksFailed
        | BlockKind::RedBase
        | BlockKind::MergeConflict
        | BlockKind::NoChanges
        | BlockKind::AgentFailed
        | BlockKind::LimitReached
        | BlockKind::PolicyViolated
        | BlockKind::PushRefused
        | BlockKind::EditedMeanwhile
        | BlockKind::Rejected
        | BlockKind::SetUpNeeded
        | BlockKind::NoProgress
        | BlockKind::PersonPushed
        | BlockKind::WorkerDied => "- reply here: Hob goes on, and the agent reads what you write;\n",
    };
    format!(
        "Somebody with write access to this repository can\n\n{ways}- comment `/hob retry`, or take the label `{label}` off, \
         to try again as it is;\n- comment `/hob cancel` to end it. The work so far is kept.\n"
    )
}

/// What the status comment says beside the record.
#[derive(Debug, Clone)]
pub struct StatusRules<'a> {
    /// The trigger label.
    pub trigger: &'a str,
    /// The label of a blocked issue.
    pub blocked: &'a str,
    /// The budget of the issue's whole life.
    pub budget: Budget,
    /// The share of it at which people are warned.
    pub soft: f64,
}

/// The status comment: where the issue stands, why, and what to do next.
pub fn status_body(record: &Record, rules: &StatusRules<'_>) -> String {
    let (trigger_label, blocked_label) = (rules.trigger, rules.blocked);
    let mut text = format!("{STATUS_MARK}\n");
    if let Some(refusal) = record.refused.as_ref().filter(|_| record.state == State::Ready) {
        line(&mut text, &format!("**Refused**: {}.\n", inert(&refusal.reason)));
        line(
            &mut text,
            &format!(
                "Nothing was done. Somebody with write access to this repository can remove the label `{trigger_label}` and add it again."
            ),
        );
        return text;
    }
    line(&mut text, &headline(record));
    if let Some(blocked) = record.blocked.as_ref().filter(|_| record.state == State::Blocked) {
        line(
            &mut text,
            &format!(
                "\n{}\n\n**Question**: {}\n",
                inert(&clip(&blocked.text, 20_000)),
                inert(&clip(&blocked.question, 4_000))
            ),
        );
        let waiting = record.waiting_action();
        if let Some(action) = waiting {
            // Each of its lines stands behind a bar, so none ends the block.
            line(
                &mut text,
                &format!("Exactly this, by the tool `{}`:\n\n```text\n{}```\n", code(&action.tool), action.shown()),
            );
        }
        text.push_str(&how_to_answer(blocked.kind, waiting.is_some(), blocked_label));
    }
    let mut facts = Vec::new();
    if let Some(branch) = &record.branch {
        facts.push(format!("branch `{}`", code(branch)));
    }
    if let Some(checks) = record.checks {
        facts.push(format!("{} of {} checks pass", checks.passed, checks.run));
    }
    if record.attempt > 0 {
        facts.push(format!("attempt {}", record.attempt));
    }
    if record.spend != Default::default() {
        facts.push(format!("spent {}", record.spend));
    }
    let used = rules.budget.used(record.spend);
    if used >= rules.soft && used > 0.0 && record.state != State::Done {
        facts.push(format!("**{:.0}% of the issue's budget is used**", (used * 100.0).floor()));
    }
    if !facts.is_empty() {
        line(&mut text, &format!("\n{}", facts.join(" · ")));
    }
    clip(&text, BODY_MAX)
}

fn headline(record: &Record) -> String {
    let pull = record.pull_request.map(|number| format!("#{number}")).unwrap_or_default();
    if let Some(pause) = record.paused.as_ref().filter(|_| record.state != State::Done) {
        let why = if pause.reason.is_empty() { String::new() } else { format!(" ({})", inert(&pause.reason)) };
        return format!(
            "**Paused** by {}{why}: Hob leaves it alone until `hob resume {}`.",
            person(&pause.by),
            record.issue
        );
    }
    match record.state {
        State::Ready => match (&record.last_failure, record.retry_after) {
            (Some(failure), Some(until)) => {
                format!("**Waiting** until {}: {}", until.format("%Y-%m-%d %H:%M UTC"), inert(&clip(failure, 2_000)),)
            }
            _ => "**Ready**: the next free worker takes it.".to_owned(),
        },
        State::Assigned => "**Claimed**: the work is being prepared.".to_owned(),
        State::InProgress => "**In progress**: an agent works on it.".to_owned(),
        State::InReview => format!("**In review**: {pull} is open. Review it, merge it, or close it."),
        State::Blocked => "**Blocked**: a person is needed.".to_owned(),
        State::Done if pull.is_empty() => "**Done**: Hob no longer works on this issue.".to_owned(),
        State::Done => format!("**Done**: Hob no longer works on this issue; its pull request was {pull}."),
    }
}

/// The failed checks, for the reason of a blocked issue.
pub fn failed_checks(results: &[CheckResult]) -> String {
    let mut text = String::new();
    for result in results.iter().filter(|result| !result.passed()) {
        let output = terminal(&clip(result.output.trim_end(), OUTPUT_MAX)).replace("```", "'''");
        line(&mut text, &format!("`{}`: {}\n\n```text\n{output}\n```", code(&result.command), exit_word(result)));
    }
    text
}

fn exit_word(result: &CheckResult) -> String {
    match result.exit {
        CheckExit::Passed => match result.run {
            CheckRun::Now => format!("passed ({} s)", result.seconds),
            CheckRun::Earlier => format!("passed earlier ({} s)", result.seconds),
        },
        CheckExit::Failed { code } => format!("failed (exit code {code})"),
        CheckExit::Signal { signal } => format!("failed (signal {signal})"),
        CheckExit::OutOfTime => "out of time".to_owned(),
        CheckExit::Cancelled => "cancelled".to_owned(),
    }
}

/// An account's name that notifies nobody.
fn person(login: &Login) -> String {
    format!("`{}`", code(login.as_str()))
}

/// A number with its noun.
fn count(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// Text that fits between two back-ticks.
fn code(text: &str) -> String {
    terminal(text).replace('`', "'").replace('\n', " ")
}

/// Words on one line: no line of theirs begins a block that what follows would be taken into.
fn quoted(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.trim().is_empty() { "(try again)".to_owned() } else { format!("“{}”", inert(&clip(&text, 2_000))) }
}

fn line(text: &mut String, part: &str) {
    // Writing to a string cannot fail.
    writeln!(text, "{part}").ok();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Answer, BlockKind, Blocked, CheckTally, Claimant, Impact, IssueNumber, Nonce, Pause, Proposed, PullNumber,
        Refusal, Spend, Timestamp, WorkerId, acquire,
    };

    fn record(state: State) -> Record {
        let claimant = Claimant {
            worker: WorkerId::from("w"),
            nonce: Nonce::from("n"),
            duration: std::time::Duration::from_secs(60),
            skew: std::time::Duration::ZERO,
        };
        let mut record = acquire(None, IssueNumber(7), &claimant, Timestamp::UNIX_EPOCH).unwrap();
        record.state = state;
        record.attempt = 1;
        record
    }

    fn rules() -> StatusRules<'static> {
        let budget = Budget { usd_micros: Some(5_000_000), ..Budget::default() };
        StatusRules { trigger: "code", blocked: "blocked", budget, soft: 0.8 }
    }

    #[test]
    fn a_budget_that_is_nearly_used_up_is_warned_of() {
        let spent =
            |usd_micros| Record { spend: Spend { usd_micros, ..Spend::default() }, ..record(State::InProgress) };
        assert!(!status_body(&spent(3_990_000), &rules()).contains("budget"));
        assert!(status_body(&spent(4_500_000), &rules()).contains("**90% of the issue's budget is used**"));
    }

    #[test]
    fn a_pause_says_who_and_how_it_goes_on() {
        let pause = Pause { by: "ann".into(), since: Timestamp::UNIX_EPOCH, reason: "after the release".to_owned() };
        let body = status_body(&Record { paused: Some(pause), ..record(State::Ready) }, &rules());
        assert!(body.contains("**Paused** by `ann` (after the release): Hob leaves it alone until `hob resume 7`."));
    }

    #[test]
    fn a_blocked_comment_says_why_what_is_asked_and_how_to_answer() {
        let mut record = record(State::Blocked);
        record.branch = Some("hob/7-x".to_owned());
        record.spend = Spend { wall_seconds: 61, ..Spend::default() };
        record.blocked = Some(Blocked {
            kind: BlockKind::Question,
            text: "The agent needs an answer. <img src=x>".to_owned(),
            question: "UTC or local?".to_owned(),
            since: Timestamp::UNIX_EPOCH,
        });
        insta::assert_snapshot!(status_body(&record, &rules()), @r"
        <!-- hob:status -->
        **Blocked**: a person is needed.

        The agent needs an answer. &lt;img src=x>

        **Question**: UTC or local?

        Somebody with write access to this repository can

        - reply here: Hob goes on, and the agent reads what you write;
        - comment `/hob retry`, or take the label `blocked` off, to try again as it is;
        - comment `/hob cancel` to end it. The work so far is kept.

        branch `hob/7-x` · attempt 1 · spent 1 min 1 s
        ");
    }

    #[test]
    fn an_action_that_waits_for_a_word_is_shown_whole_and_cannot_break_out() {
        let mut record = record(State::Blocked);
        let text = "rm x\n```\n<img src=x> @all\n/hob approve".to_owned();
        let (tool, line, impact) = ("shell".to_owned(), "shell rm x …".to_owned(), Impact::High);
        record.proposed = Some(Proposed { tool, line, text, impact });
        record.blocked = Some(Blocked {
            kind: BlockKind::ApprovalNeeded,
            text: "It needs a word.".to_owned(),
            question: "May it?".to_owned(),
            since: Timestamp::UNIX_EPOCH,
        });
        insta::assert_snapshot!(status_body(&record, &rules()), @r"
        <!-- hob:status -->
        **Blocked**: a person is needed.

        It needs a word.

        **Question**: May it?

        Exactly this, by the tool `shell`:

        ```text
        | rm x
        | ```
        | <img src=x> @all
        | /hob approve
        ```

        Somebody with write access to this repository can

        - comment `/hob approve`: exactly this may run for this issue, now and later;
        - reply and say what to do instead;
        - comment `/hob retry`, or take the label `blocked` off, to try again as it is;
        - comment `/hob cancel` to end it. The work so far is kept.

        attempt 1
        ");
    }

    /// The status comment of an issue in each state, and in each condition that changes what it says.
    #[test]
    fn the_status_comment_says_where_the_issue_stands() {
        let at = Timestamp::from_timestamp(1_700_000_000, 0).unwrap();
        let spend = Spend { usd_micros: 120_000, input_tokens: 900, output_tokens: 100, wall_seconds: 61 };
        let worked = |state| Record {
            branch: Some("hob/7-x".to_owned()),
            pull_request: Some(PullNumber(9)),
            checks: Some(CheckTally { passed: 2, run: 2 }),
            spend,
            ..record(state)
        };
        let refusal = Refusal { event: None, actor: None, reason: "`otto` has triage permission".to_owned(), at };
        let failure = Some("the model <b>failed</b>".to_owned());
        let pause = Pause { by: "ann".into(), since: at, reason: "after the release".to_owned() };
        let rows = [
            ("ready", record(State::Ready)),
            ("refused", Record { refused: Some(refusal), ..record(State::Ready) }),
            ("retry", Record { last_failure: failure, retry_after: Some(at), ..record(State::Ready) }),
            ("paused", Record { paused: Some(pause), ..record(State::Ready) }),
            ("assigned", record(State::Assigned)),
            ("in progress", record(State::InProgress)),
            ("in review", worked(State::InReview)),
            ("blocked without a reason", record(State::Blocked)),
            ("done", worked(State::Done)),
            ("done without a pull request", record(State::Done)),
        ];
        let told = rows.map(|(name, record)| format!("== {name}\n{}", status_body(&record, &rules())));
        insta::assert_snapshot!(told.join("\n"), @r"
        == ready
        <!-- hob:status -->
        **Ready**: the next free worker takes it.

        attempt 1

        == refused
        <!-- hob:status -->
        **Refused**: `otto` has triage permission.

        Nothing was done. Somebody with write access to this repository can remove the label `code` and add it again.

        == retry
        <!-- hob:status -->
        **Waiting** until 2023-11-14 22:13 UTC: the model &lt;b>failed&lt;/b>

        attempt 1

        == paused
        <!-- hob:status -->
        **Paused** by `ann` (after the release): Hob leaves it alone until `hob resume 7`.

        attempt 1

        == assigned
        <!-- hob:status -->
        **Claimed**: the work is being prepared.

        attempt 1

        == in progress
        <!-- hob:status -->
        **In progress**: an agent works on it.

        attempt 1

        == in review
        <!-- hob:status -->
        **In review**: #9 is open. Review it, merge it, or close it.

        branch `hob/7-x` · 2 of 2 checks pass · attempt 1 · spent $0.12, 1000 tokens, 1 min 1 s

        == blocked without a reason
        <!-- hob:status -->
        **Blocked**: a person is needed.

        attempt 1

        == done
        <!-- hob:status -->
        **Done**: Hob no longer works on this issue; its pull request was #9.

        branch `hob/7-x` · 2 of 2 checks pass · attempt 1 · spent $0.12, 1000 tokens, 1 min 1 s

        == done without a pull request
        <!-- hob:status -->
        **Done**: Hob no longer works on this issue.

        attempt 1
        ");
    }

    #[test]
    fn a_pull_request_says_what_why_evidence_cost_and_limits() {
        let (command, output) = ("./test.sh".to_owned(), String::new());
        let check = |exit| CheckResult {
            command: command.clone(),
            exit,
            output: output.clone(),
            seconds: 2,
            run: CheckRun::Now,
        };
        let evidence =
            Evidence { base: vec![check(CheckExit::Failed { code: 1 })], head: vec![check(CheckExit::Passed)] };
        let mut record = record(State::InProgress);
        record.answer = Some(Answer {
            actor: "ann".into(),
            text: "use UTC\n```\nfrom now on".to_owned(),
            question: None,
            comment: None,
            event: None,
        });
        let body = pull_body(&PullReport {
            record: &record,
            issue_title: "Fix [it] @all",
            summary: "Closes #1. ![beacon](http://x)",
            agent: "native",
            evidence: &evidence,
            diff: &Diff { files: Vec::new(), patch: String::new(), patch_truncated: false },
            limits: "An attempt may take 30m.",
        });
        assert!(body.contains("Closes #\u{200b}1. !\\[beacon]"), "{body}");
        // What keeps text from notifying anybody shows nothing: a snapshot has to.
        insta::assert_snapshot!(body.replace('\u{200b}', "<zwsp>"), @r"
        Fixes #7

        ## What

        Closes #<zwsp>1. !\[beacon](http://x)

        0 files changed, 0 lines added, 0 removed:


        ## Why

        a maintainer put the issue “Fix 'it' @<zwsp>all” into Hob's hands.
        `ann` answered: “use UTC ``` from now on”

        ## Evidence

        **Red before, green after**: `./test.sh` failed on the base and passes on the work.

        | check | base | head |
        |---|---|---|
        | `./test.sh` | failed (exit code 1) | passed (2 s) |

        ## Cost

        0 s over 1 attempt, by the agent `native`.

        ## Limits

        An attempt may take 30m.

        Hob's ledger of this work: `hob history 7`.
        ");
    }
}
