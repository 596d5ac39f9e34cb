//! What the worker tells whoever listens: each stage of each issue, as it happens.

use std::sync::Arc;

use hob_domain::{IssueNumber, PullNumber, RepoName, Spend, State};
use serde::Serialize;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Notice {
    /// The forge was asked.
    Polled {
        /// Issues that were looked at.
        issues: usize,
        /// Issues to work on.
        ready: usize,
    },
    /// An issue has a new state.
    Moved {
        /// The issue.
        issue: IssueNumber,
        /// Where it stands now.
        state: State,
        /// Why, one sentence.
        why: String,
    },
    /// A trigger was refused.
    Refused {
        /// The issue.
        issue: IssueNumber,
        /// Why.
        reason: String,
    },
    /// The work goes on.
    Progress {
        /// The issue.
        issue: IssueNumber,
        /// What happens now.
        text: String,
    },
    /// A pull request is open.
    Published {
        /// The issue.
        issue: IssueNumber,
        /// The pull request.
        pull: PullNumber,
        /// Where people see it.
        url: String,
        /// What the issue cost so far.
        spend: Spend,
    },
    /// An issue could not be worked on now; the next worker finds it as it is.
    Failed {
        /// The issue; none: the whole poll.
        issue: Option<IssueNumber>,
        /// What went wrong and what to do.
        reason: String,
    },
}

/// Whoever listens, told which repository it is about. It is called from several tasks and must not block.
pub type Observer = Arc<dyn Fn(&RepoName, &Notice) + Send + Sync>;
