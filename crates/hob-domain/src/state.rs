//! The six states of an issue. [`apply`](crate::apply) decides which may follow which.

use serde::{Deserialize, Serialize};

/// An issue's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Free to claim.
    Ready,
    /// Claimed, not started.
    Assigned,
    /// An agent works on it.
    InProgress,
    /// A pull request is open.
    InReview,
    /// A person is needed.
    Blocked,
    /// Merged, closed or cancelled.
    Done,
}

/// What a worker does with an issue whose worker died.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// Continues it.
    Resume,
    /// Asks a person.
    Block,
    /// Makes it free again.
    Abandon,
}

impl State {
    /// Every state, in the order of an issue's life.
    pub const ALL: [Self; 6] =
        [Self::Ready, Self::Assigned, Self::InProgress, Self::InReview, Self::Blocked, Self::Done];
}

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Ready => "ready",
            Self::Assigned => "assigned",
            Self::InProgress => "in-progress",
            Self::InReview => "in-review",
            Self::Blocked => "blocked",
            Self::Done => "done",
        })
    }
}
