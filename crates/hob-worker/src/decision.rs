//! What would be done about an issue, in a sentence.

use hob_domain::{Action, Recovery};

/// What an action would do.
pub(super) fn sentence(action: &Action) -> &'static str {
    match action {
        Action::Claim => "it would be claimed",
        Action::Recover(Recovery::Resume) => "its worker died: another would resume it",
        Action::Recover(Recovery::Block) => "its worker died: a person would be asked",
        Action::Recover(Recovery::Abandon) => "its worker died: it would be requeued",
        Action::SeekAnswer => "it waits for a person's answer",
        Action::Rework(..) => "something happened on its pull request: a round of work would begin",
        Action::SeekCommand => "something happened on it: Hob would look for a command, and wait on",
        Action::ReturnToReview(_) => "its pull request is open again: it would be in review again",
        Action::NoteRedBase(_) => "its comment would say which checks fail on the base, too",
        Action::MarkReady(_) => "its pull request's checks have passed: it would be no draft any more",
        Action::Rebuild => "its ledger was deleted: it would be made anew",
        Action::Obey(_) => "a pause or an end was requested: the next worker would carry it out",
        Action::AskAboutRejection(_) => "its pull request was closed: a person would be asked what is next",
        Action::Finish(_) => "its work is at an end: the ledger would be closed",
        Action::RepairLabels(_) => "its labels contradict its ledger: they would be repaired",
        Action::ShowState => "its worker died before it showed where the issue stands: labels and comment would follow",
    }
}
