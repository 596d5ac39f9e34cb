//! The decision about an issue, as a sentence.

use hob_domain::{Action, Decision, IssueView, PlanRules, Record, Recovery, Timestamp, decide};

/// The effect of an action.
pub(super) fn sentence(action: &Action) -> &'static str {
    match action {
        Action::Claim => "it would be claimed",
        Action::Recover(Recovery::Resume) => "its worker died: another would resume it",
        Action::Recover(Recovery::Block) => "its worker died: a person would be asked",
        Action::Recover(Recovery::Abandon) => "its worker died: it would be requeued",
        Action::SeekAnswer => "it waits for a person's answer",
        Action::Rework(..) => "something happened on its pull request: a round of work would begin",
        Action::SeekCommand => "something happened on it: Hob would look for a command, and keep waiting",
        Action::ReturnToReview(_) => "its pull request is open again: it would be in review again",
        Action::NoteChecks(_) => {
            "its comment would say which checks fail on the base too, wait for an approval, or have no verdict"
        }
        Action::MarkReady(_) => "its pull request's checks have passed: it would be marked as ready for review",
        Action::Rebuild => "its ledger was deleted: it would be rebuilt",
        Action::CarryOut(_) => "a pause or an end was requested: the next worker would carry it out",
        Action::AskAboutRejection(_) => "its pull request was closed: a person would be asked what is next",
        Action::Finish(_) => "its work has ended: the ledger would be closed",
        Action::RepairLabels(_) => "its labels contradict its ledger: they would be repaired",
        Action::GiveUpLabels(_) => {
            "others change its labels back each time: its comment would say so, and the labels stay"
        }
        Action::ShowState => "its worker died before it updated labels and comment: they would be updated",
    }
}

/// The decision about an issue without anything new on it: what it waits for beside a look for commands.
pub(super) fn but_for_news(view: IssueView, record: &Record, rules: &PlanRules, now: Timestamp) -> Decision {
    let comments = record.commands.comments.unwrap_or(view.comments);
    let quiet = IssueView { updated_at: record.renewed_at, comments, has_command_on_pull: false, ..view };
    decide(&quiet, rules, now)
}
