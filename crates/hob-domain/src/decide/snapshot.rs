//! What the forge says about a repository's issues at one moment: the input of [`plan`](crate::plan()).

use crate::{IssueNumber, Login, PersonsWork, PullFacts, PullNumber, Record, RepositoryRecord, Timestamp};

/// A repository at one moment.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// Open issues with the trigger label, and every issue whose ledger is not at its end.
    pub issues: Vec<IssueView>,
    /// The tip of the repository's own ledger. `None` if nothing was claimed yet.
    pub repository: Option<RepositoryRecord>,
}

/// Whether an issue is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IssueStatus {
    /// Open.
    Open,
    /// Closed.
    Closed,
    /// Deleted, or transferred to another repository.
    Gone,
}

/// The state of a pull request.
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
    /// When it was created.
    pub created_at: Timestamp,
    /// When anything about it last changed.
    pub updated_at: Timestamp,
    /// How many comments it has.
    pub comments: u64,
    /// The tip of its ledger.
    pub record: Option<Record>,
    /// Its assignees.
    pub assignees: Vec<Login>,
    /// Open issues that it waits for.
    pub blockers: Vec<IssueNumber>,
    /// What people have begun on it, as far as its record waits for that.
    pub begun: Vec<PersonsWork>,
    /// Its pull request, if the ledger names one.
    pub pull: Option<(PullNumber, PullStatus)>,
    /// When anything about its pull request last changed, as far as that is known.
    pub pull_updated_at: Option<Timestamp>,
    /// Whether it is the repository's dashboard, which is never worked on.
    pub is_dashboard: bool,
    /// The facts about its open pull request, if it is in review.
    pub review: Option<PullFacts>,
    /// When it may continue, if the service that it waits for allows another time than its record.
    pub goes_on: Option<Timestamp>,
    /// Whether its pull request has an unhandled command from an authorized account while no worker has the issue.
    pub has_command_on_pull: bool,
    /// Whether a look since its last change found nothing that anybody asked for on it.
    pub is_quiet: bool,
}
