//! How the question of a blocked issue is answered: the way that fits it, and the others.

use hob_domain::{BlockCode, Blocked, Budgets, Exhausted, Record, State, dollars};
use hob_text::markup::{capitalized, code_span};

/// The ways to answer.
pub(super) struct AnswerOptions {
    /// The one that fits, a sentence or two.
    pub(super) first: String,
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

/// The one way to answer the question of a blocked issue that fits it, a sentence or two. `None` if it is not blocked.
pub fn how_to_answer(record: &Record, budgets: &Budgets) -> Option<String> {
    let blocked = record.blocked.as_ref().filter(|_| record.state == State::Blocked)?;
    Some(fitting(blocked, record, budgets).0)
}

/// The limit of the issue's whole life that is reached beside the reason of the block: no answer alone helps.
pub(super) fn used_up_beside(blocked: &Blocked, record: &Record, budgets: &Budgets) -> Option<Exhausted> {
    let used_up = budgets.of_issue(&record.commands).left(record.spend).err();
    used_up.filter(|_| blocked.reason != BlockCode::IssueBudget)
}

/// What a used-up budget says before the reason of a block.
pub(super) fn used_up(exhausted: &Exhausted, record: &Record) -> String {
    let spent = match exhausted {
        Exhausted::Money(_) => dollars(record.spend.usd_micros),
        Exhausted::Tokens(_) | Exhausted::Time(_) | Exhausted::Attempts(_) => record.spend.to_string(),
    };
    format!("The issue's {exhausted} is used up: it has spent {spent}.")
}

/// The ways to answer the question of a blocked issue.
pub(super) fn answer_options(blocked: &Blocked, record: &Record, budgets: &Budgets, label: &str) -> AnswerOptions {
    let (first, retry) = fitting(blocked, record, budgets);
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

fn fitting(blocked: &Blocked, record: &Record, budgets: &Budgets) -> (String, Retry) {
    let raise = |exhausted: &Exhausted| capitalized(&budgets.advice(exhausted, &record.commands).raise);
    if let Some(exhausted) = used_up_beside(blocked, record, budgets) {
        return (format!("{}, then answer.", raise(&exhausted)), Retry::Useless);
    }
    let (first, retry) = first_option(blocked.reason, record.waiting_action().is_some());
    let exhausted = budgets.allowance(record.spend, record.attempts.ever, &record.commands).err();
    match exhausted.filter(|_| blocked.reason == BlockCode::IssueBudget) {
        Some(exhausted) if budgets.may_be_raised_by_comment(&exhausted) => {
            (format!("{}: Hob then continues by itself.", raise(&exhausted)), Retry::Useless)
        }
        Some(exhausted) => (format!("{}, then comment `/hob retry`.", raise(&exhausted)), Retry::Named),
        None => (first.to_owned(), retry),
    }
}

fn first_option(reason: BlockCode, waits_for_approval: bool) -> (&'static str, Retry) {
    let as_it_is = Retry::Also("lets the agent try again unchanged");
    match reason {
        BlockCode::ApprovalNeeded if waits_for_approval => (
            "Comment `/hob approve` to allow exactly this for this issue, now and later. Or reply with what to do instead.",
            Retry::Also("lets the agent continue without it"),
        ),
        BlockCode::Question | BlockCode::ApprovalNeeded => {
            ("Reply, and the agent continues with your answer.", Retry::Also("leaves the decision to the agent"))
        }
        BlockCode::PlanProposed => (
            "Comment `/hob approve`, or just yes, to have exactly this plan carried out. Or reply with what should be \
             different: the agent makes a new plan.",
            Retry::Also("asks for a new plan"),
        ),
        BlockCode::ChecksFailed => ("Reply with a hint, and the agent continues from its work so far.", as_it_is),
        BlockCode::RedBase => {
            ("Once it is fixed, comment `/hob retry`: Hob starts from the fixed branch.", Retry::Named)
        }
        BlockCode::MergeConflict => (
            "Reply with the answer. Or merge the base into the branch yourself, then comment `/hob retry`.",
            Retry::Named,
        ),
        BlockCode::NoChanges => ("Reply with what should change, or close the issue.", Retry::Useless),
        BlockCode::AgentFailed => ("Reply with what the agent needs, and it tries again.", as_it_is),
        BlockCode::RoundsUsedUp => {
            ("Comment `/hob retry` for as many rounds again, or reply with a hint for the next one.", Retry::Named)
        }
        BlockCode::AttemptsUsedUp | BlockCode::AttemptsFailed | BlockCode::ServiceDown | BlockCode::AttemptBudget => {
            ("Comment `/hob retry` for another attempt, or reply with a hint for it.", Retry::Named)
        }
        BlockCode::IssueBudget => ("Comment `/hob retry`: the limit was raised.", Retry::Named),
        BlockCode::PolicyViolated => {
            ("Reply with a way that does without these changes, or make them yourself.", Retry::Useless)
        }
        BlockCode::PushRefused | BlockCode::SetUpNeeded | BlockCode::LedgerLost => {
            ("Comment `/hob retry` when Hob should try again.", Retry::Named)
        }
        BlockCode::EditedMeanwhile => {
            ("Comment `/hob retry`, or reply with more: Hob continues with the current text.", Retry::Named)
        }
        BlockCode::Rejected | BlockCode::NoProgress | BlockCode::RoundChangedNothing => {
            ("Reply with what should be different, and the agent works on it once more.", Retry::Useless)
        }
        BlockCode::PersonPushed => ("Any answer means yes: comment `/hob retry`, or reply with a hint.", Retry::Named),
        BlockCode::WorkerDied => ("Comment `/hob retry`, or reply with a hint.", Retry::Named),
    }
}
