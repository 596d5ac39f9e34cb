//! Events of the work: each stage of each issue, as it happens.

use std::sync::Arc;

use hob_domain::{IssueNumber, PullNumber, RepoName, Spend, State};
use serde::Serialize;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum WorkEvent {
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
    /// A step of the work begins.
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
    /// An issue could not be worked on now; the next worker finds it unchanged.
    Failed {
        /// The issue; none: the whole poll.
        issue: Option<IssueNumber>,
        /// What went wrong and what to do.
        reason: String,
    },
}

/// Where events go, with the repository each is about. It is called from several tasks and must not block.
pub type EventSink = Arc<dyn Fn(&RepoName, &WorkEvent) + Send + Sync>;
