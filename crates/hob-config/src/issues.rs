//! `[issues]`: which of the issues with the trigger label are begun.

use serde::{Deserialize, Serialize};

/// The section `[issues]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IssueSettings {
    /// Empty: anybody's; `none`: those that nobody is assigned to; else those of this account.
    pub assignee: String,
}
