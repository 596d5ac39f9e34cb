//! Events of the work: each stage of each issue, as it happens.

use std::{collections::BTreeMap, sync::Arc};

use hob_domain::{IssueNumber, PullNumber, RepoName, RunId, Spend, State};
use serde::Serialize;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum WorkEvent {
    /// The forge was asked.
    Polled {
        /// The number of issues.
        issues: usize,
        /// Issues that an attempt can begin on.
        ready: usize,
        /// Issues that nothing can be done about now.
        waiting: Vec<Waiting>,
        /// The titles of the issues, for reports: programs ask for them.
        #[serde(skip)]
        titles: BTreeMap<IssueNumber, String>,
    },
    /// The repository lacks labels, which are created now, one write each.
    CreatesLabels {
        /// Their names.
        labels: Vec<String>,
    },
    /// An issue has a new state.
    Moved {
        /// The issue.
        issue: IssueNumber,
        /// The new state.
        state: State,
        /// The reason, one sentence.
        why: String,
    },
    /// A trigger was refused.
    Refused {
        /// The issue.
        issue: IssueNumber,
        /// The reason.
        reason: String,
    },
    /// A stage of the work begins.
    Progress {
        /// The issue.
        issue: IssueNumber,
        /// The activity.
        text: String,
    },
    /// An agent begins.
    AgentStarted {
        /// The issue.
        issue: IssueNumber,
        /// The attempt.
        run_id: RunId,
        /// The agent's name, or its profile's.
        agent: String,
        /// The session of its run.
        session: RunId,
    },
    /// Something happens within a stage: a turn of the agent, a tool, a fetch.
    Activity {
        /// The issue.
        issue: IssueNumber,
        /// The activity.
        text: String,
        /// The agent's progress in percent, if it reports that.
        #[serde(skip)]
        share: Option<u8>,
    },
    /// The repository's checks ran.
    Checked {
        /// The issue.
        issue: IssueNumber,
        /// The commit that was checked.
        on: CheckedCommit,
        /// Checks that passed.
        passed: usize,
        /// Checks that ran.
        run: usize,
    },
    /// A pull request is open.
    Published {
        /// The issue.
        issue: IssueNumber,
        /// The pull request.
        pull: PullNumber,
        /// Its address for people.
        url: String,
        /// The issue's spend so far.
        spend: Spend,
    },
    /// An issue could not be worked on now; the next worker finds it unchanged.
    Failed {
        /// The issue; `None` if it is the whole poll.
        issue: Option<IssueNumber>,
        /// The problem and its remedy.
        reason: String,
    },
}

impl WorkEvent {
    /// The issue that it is about. `None` if it is about the repository.
    pub fn issue(&self) -> Option<IssueNumber> {
        match self {
            Self::Polled { .. } | Self::CreatesLabels { .. } => None,
            Self::Moved { issue, .. }
            | Self::Refused { issue, .. }
            | Self::Progress { issue, .. }
            | Self::AgentStarted { issue, .. }
            | Self::Activity { issue, .. }
            | Self::Checked { issue, .. }
            | Self::Published { issue, .. } => Some(*issue),
            Self::Failed { issue, .. } => *issue,
        }
    }
}

/// The commit that checks ran on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckedCommit {
    /// The commit that the work starts from.
    Base,
    /// The work.
    Head,
    /// The commit that the work starts from, with the tests of the work.
    Needed,
    /// The work, with the tests of the commit that it starts from.
    Kept,
}

impl std::fmt::Display for CheckedCommit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Base => "base",
            Self::Head => "head",
            Self::Needed => "base with the new tests",
            Self::Kept => "head with the old tests",
        })
    }
}

/// An issue that nothing can be done about now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Waiting {
    /// The issue.
    pub issue: IssueNumber,
    /// What would have to change.
    pub on: WaitsOn,
    /// The reason, one sentence.
    pub why: String,
}

/// The thing that an issue waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitsOn {
    /// Room in the repository, which other issues wait for too.
    Repository,
    /// Its own affairs: a time, a review, another issue, an assignment.
    Issue,
    /// A person's answer.
    Person,
}

/// The destination of events, each with its repository. It is called from several tasks and must not block.
pub type EventSink = Arc<dyn Fn(&RepoName, &WorkEvent) + Send + Sync>;
