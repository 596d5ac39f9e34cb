//! How the question of a blocked issue is answered: the way that fits it, and the others.

use hob_domain::{BlockCode, Record};
use hob_text::markup::code_span;

/// The ways to answer.
pub(super) struct AnswerOptions {
    /// The one that fits, a sentence or two.
    pub(super) first: &'static str,
    /// The others, a list, and whose answer counts.
    pub(super) others: String,
}

/// What `/hob retry` is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Retry {
    /// The first way names it.
    Named,
    /// It is one of the others, and does this.
    Also(&'static str),
    /// It would end in the same way.
    Useless,
}

/// The ways to answer the question of a block for this reason.
pub(super) fn answer_options(reason: BlockCode, record: &Record, label: &str) -> AnswerOptions {
    let (first, retry) = first_option(reason, record.waiting_action().is_some());
    let mut others = String::from("Answers of accounts with write access to this repository count.\n\n");
    match retry {
        Retry::Named => others.push_str(&format!("- Removing the label `{label}` does the same as `/hob retry`.\n")),
        Retry::Also(does) => {
            others.push_str(&format!("- `/hob retry`, or removing the label `{label}`, {does}.\n"));
        }
        Retry::Useless => {}
    }
    let kept = match record.work.pushed_branch() {
        Some(branch) => format!(" The work so far stays on {}.", code_span(branch)),
        None => String::new(),
    };
    others.push_str(&format!("- `/hob cancel` ends the work on this issue.{kept}"));
    AnswerOptions { first, others }
}

fn first_option(reason: BlockCode, waits_for_approval: bool) -> (&'static str, Retry) {
    let as_it_is = Retry::Also("lets the agent try again unchanged");
    match reason {
        BlockCode::ApprovalNeeded if waits_for_approval => (
            "Comment `/hob approve` to allow exactly this for this issue, now and later. Or reply here and say what to do \
             instead.",
            Retry::Also("lets the agent continue without it"),
        ),
        BlockCode::Question | BlockCode::ApprovalNeeded => {
            ("Reply here, and the agent continues with your answer.", Retry::Also("leaves the decision to the agent"))
        }
        BlockCode::PlanProposed => (
            "Comment `/hob approve` to have exactly this plan carried out. Or reply here and say what should be different: \
             the agent makes a new plan.",
            Retry::Also("asks for a new plan"),
        ),
        BlockCode::ChecksFailed => ("Reply here with a hint, and the agent continues from its work so far.", as_it_is),
        BlockCode::RedBase => {
            ("Once it is fixed, comment `/hob retry`: Hob starts from the fixed branch.", Retry::Named)
        }
        BlockCode::MergeConflict => (
            "Reply here with the answer. Or merge the base into the branch yourself, then comment `/hob retry`.",
            Retry::Named,
        ),
        BlockCode::NoChanges => ("Reply here with what should change, or close the issue.", Retry::Useless),
        BlockCode::AgentFailed => ("Reply here with what the agent needs, and it tries again.", as_it_is),
        BlockCode::RoundsUsedUp => {
            ("Comment `/hob retry` for as many rounds again, or reply here with a hint for the next one.", Retry::Named)
        }
        BlockCode::AttemptsUsedUp | BlockCode::AttemptsFailed | BlockCode::ServiceDown | BlockCode::AttemptBudget => {
            ("Comment `/hob retry` for another attempt, or reply here with a hint for it.", Retry::Named)
        }
        BlockCode::IssueBudget => {
            ("Once the limit is raised, comment `/hob retry`. Before that, no answer helps.", Retry::Named)
        }
        BlockCode::PolicyViolated => {
            ("Reply here and say how to do without these changes, or make them yourself.", Retry::Useless)
        }
        BlockCode::PushRefused | BlockCode::SetUpNeeded | BlockCode::LedgerLost => {
            ("Comment `/hob retry` when Hob should try again.", Retry::Named)
        }
        BlockCode::EditedMeanwhile => {
            ("Comment `/hob retry`, or reply here with more: Hob continues with the current text.", Retry::Named)
        }
        BlockCode::Rejected | BlockCode::NoProgress | BlockCode::RoundChangedNothing => {
            ("Reply here and say what should be different: the agent works on it once more.", Retry::Useless)
        }
        BlockCode::PersonPushed => {
            ("Any answer means yes: comment `/hob retry`, or reply here with a hint.", Retry::Named)
        }
        BlockCode::WorkerDied => ("Comment `/hob retry`, or reply here with a hint.", Retry::Named),
    }
}
