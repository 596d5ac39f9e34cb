//! What people outside the forge are notified of.

use serde::{Deserialize, Serialize};

use crate::State;

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

    /// Whether it is about the current state, and due again in the next one.
    pub(crate) fn is_of_a_state(self) -> bool {
        match self {
            Self::Blocked | Self::InReview | Self::Done => true,
            Self::BudgetWarning => false,
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
