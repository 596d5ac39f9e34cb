//! The requirements of a branch for merges into it, by the names of GitHub's branch protection.

use serde::{Deserialize, Serialize};

/// The requirements of a branch. As protection they bind accounts below `admin`, as a ruleset all accounts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "the fields of GitHub's branch protection, by its names")]
pub struct BranchRules {
    /// Checks that have to pass.
    pub required_status_checks: Option<RequiredChecks>,
    /// Reviews that have to approve.
    pub required_pull_request_reviews: Option<RequiredReviews>,
    /// Whether merge commits are refused.
    pub required_linear_history: bool,
    /// Whether every commit needs a signature that is verified.
    pub required_signatures: bool,
    /// Whether every review thread has to be resolved.
    pub required_conversation_resolution: bool,
    /// Whether protection binds admins, too.
    pub enforce_admins: bool,
}

/// Checks that have to pass.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RequiredChecks {
    /// Whether the head has to contain the tip of the base.
    pub strict: bool,
    /// Names of check runs or contexts of statuses, set by any account.
    pub contexts: Vec<String>,
    /// The same from one App.
    pub checks: Vec<RequiredCheck>,
}

/// A check that has to pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequiredCheck {
    /// The name of the check run or the context of the status.
    pub context: String,
    /// The App that must set it; `None` means any.
    #[serde(default)]
    pub app_id: Option<u64>,
}

/// Reviews that have to approve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RequiredReviews {
    /// The number of approvals, of accounts that may write.
    pub required_approving_review_count: u64,
}

impl Default for RequiredReviews {
    fn default() -> Self {
        Self { required_approving_review_count: 1 }
    }
}

impl RequiredChecks {
    /// These checks, set by any account.
    pub fn named(names: &[&str]) -> Self {
        Self { contexts: names.iter().map(|&name| name.to_owned()).collect(), ..Self::default() }
    }

    /// Each check once.
    pub(super) fn each(&self) -> Vec<RequiredCheck> {
        let mut all = self.checks.clone();
        for context in &self.contexts {
            if !all.iter().any(|check| check.context == *context) {
                all.push(RequiredCheck { context: context.clone(), app_id: None });
            }
        }
        all
    }
}
