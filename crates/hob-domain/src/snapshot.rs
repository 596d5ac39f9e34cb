//! What the forge says about a repository's issues at one moment: all that [`plan`](crate::plan()) reads.

use crate::{IssueNumber, Login, PullFacts, PullNumber, Record, RepositoryRecord, Timestamp};

/// One moment of a repository.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// Open issues with the trigger label, and every issue whose ledger is not at its end.
    pub issues: Vec<IssueView>,
    /// The tip of the repository's own ledger; none: nothing was claimed yet.
    pub repository: Option<RepositoryRecord>,
}

/// Whether the issue is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IssueStatus {
    /// Open.
    Open,
    /// Closed.
    Closed,
    /// Deleted, or transferred to another repository.
    Gone,
}

/// What became of a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PullStatus {
    /// Open.
    Open,
    /// Merged.
    Merged,
    /// Closed without a merge.
    Closed,
}

/// One issue at one moment.
#[derive(Debug, Clone)]
pub struct IssueView {
    /// Its number.
    pub number: IssueNumber,
    /// Its title.
    pub title: String,
    /// Its labels.
    pub labels: Vec<String>,
    /// Open or closed.
    pub status: IssueStatus,
    /// When it was made.
    pub created_at: Timestamp,
    /// When anything about it last changed.
    pub updated_at: Timestamp,
    /// How many comments it has.
    pub comments: u64,
    /// The tip of its ledger.
    pub record: Option<Record>,
    /// Who is assigned to it.
    pub assignees: Vec<Login>,
    /// Open issues that it waits for.
    pub blockers: Vec<IssueNumber>,
    /// Its pull request, where the ledger names one.
    pub pull: Option<(PullNumber, PullStatus)>,
    /// Whether it is the repository's dashboard, which is never worked on.
    pub is_dashboard: bool,
    /// What stands on its open pull request, where it is in review.
    pub review: Option<PullFacts>,
    /// When it may go on, where the service that it waits for has another time for it than its record.
    pub goes_on: Option<Timestamp>,
    /// Whether somebody who is authorized gave a command on its pull request that nobody followed, where nobody works on it.
    pub has_command_on_pull: bool,
}
