//! Whether an issue is open, and why it is in that state.

use serde::{Deserialize, Serialize};

/// Whether it is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in super::super) enum IssueState {
    Open,
    Closed,
}

impl IssueState {
    /// GitHub's name of it.
    pub(in super::super) fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
        }
    }
}

/// Why it is in its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in super::super) enum StateReason {
    Completed,
    NotPlanned,
    Duplicate,
    Reopened,
}

impl StateReason {
    /// GitHub's name of it.
    pub(in super::super) fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::NotPlanned => "not_planned",
            Self::Duplicate => "duplicate",
            Self::Reopened => "reopened",
        }
    }

    /// The reason of this name.
    pub(in super::super) fn named(name: &str) -> Option<Self> {
        [Self::Completed, Self::NotPlanned, Self::Duplicate, Self::Reopened].into_iter().find(|r| r.name() == name)
    }
}
