//! The six states of an issue. What leads from one to another is [`apply`](crate::apply)'s.

use serde::{Deserialize, Serialize};

/// Where an issue stands.
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
    /// Goes on with it.
    Resume,
    /// Asks a person.
    Block,
    /// Puts it back to the free ones.
    Abandon,
}

impl State {
    /// Every state, in the order of the life of an issue.
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
