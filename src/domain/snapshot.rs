//! What the forge says about a repository's issues at one moment: all that [`plan`](crate::domain::plan()) reads.

use crate::domain::{IssueNumber, PullNumber, Record, Timestamp};

/// One moment of a repository.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// Open issues with the trigger label, and every issue whose ledger is not at its end.
    pub issues: Vec<IssueView>,
    /// When the latest attempt at each issue that has a ledger was claimed, finished ones included.
    pub claims: Vec<Timestamp>,
}

/// Whether the issue is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IssueStatus {
    /// Open.
    Open,
    /// Closed, deleted or moved away.
    Closed,
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
    /// The tip of its ledger.
    pub record: Option<Record>,
    /// Its pull request, where the ledger names one that is in review.
    pub pull: Option<(PullNumber, PullStatus)>,
}
