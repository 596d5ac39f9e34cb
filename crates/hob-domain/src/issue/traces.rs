//! What is left of an issue whose ledger was deleted, from which the ledger is rebuilt.

use crate::{CommentId, PullNumber, ReviewEvent, Sha, State};

/// What is left of an issue whose ledger was deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traces {
    /// Its status comment. `None` if it had none yet.
    pub comment: Option<CommentId>,
    /// Its branch.
    pub branch: Option<String>,
    /// Its open pull request and that pull request's head.
    pub pull: Option<(PullNumber, Sha)>,
    /// What Hob has already answered on the pull request.
    pub answered: Vec<ReviewEvent>,
    /// Whether the issue has the label `blocked`.
    pub was_blocked: bool,
}

impl Traces {
    pub(crate) fn state(&self) -> State {
        match (&self.pull, self.was_blocked) {
            (Some(_), _) => State::InReview,
            (None, true) => State::Blocked,
            (None, false) => State::Ready,
        }
    }
}
