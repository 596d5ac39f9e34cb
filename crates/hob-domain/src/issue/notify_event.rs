//! What people outside the forge are notified of, and how an issue's record remembers that they were.

use serde::{Deserialize, Serialize};

use crate::{Generation, State, Timestamp};

/// What a notification is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotifyEvent {
    /// A person is needed.
    Blocked,
    /// A pull request is open, or a round in review is done.
    InReview,
    /// The work is over.
    Done,
    /// The budget is nearly used up.
    BudgetWarning,
}

impl NotifyEvent {
    /// The name in settings and headers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Blocked => "blocked",
            Self::InReview => "in-review",
            Self::Done => "done",
            Self::BudgetWarning => "budget-warning",
        }
    }

    /// The event of coming to a state.
    pub(crate) fn for_state(state: State) -> Option<Self> {
        match state {
            State::Blocked => Some(Self::Blocked),
            State::InReview => Some(Self::InReview),
            State::Done => Some(Self::Done),
            State::Ready | State::Assigned | State::InProgress => None,
        }
    }
}

/// When an issue came to its state, and whether that was notified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entered {
    /// When, by the forge's clock.
    pub at: Timestamp,
    /// Under which lease. Two changes may fall into one second of the forge's clock, but not under one lease.
    pub generation: Generation,
    /// Whether a notification was sent, or given up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub notified: bool,
}
