//! `[issues]`: which of the issues with the trigger label Hob begins.

use serde::{Deserialize, Serialize};

/// The section `[issues]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IssueSettings {
    /// Empty for issues with any assignee, `none` for those without one; otherwise those of this account.
    pub assignee: String,
}
