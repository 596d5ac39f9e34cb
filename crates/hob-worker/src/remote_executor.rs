//! What works on an issue instead of this process: a command, or a queue of jobs.
//!
//! # Guarantees
//! This process holds no lease for such an issue. A second dispatcher, or one that was restarted, has it worked on twice at worst, and
//! the lease lets one of the two work.
//!
//! # Assumptions
//! The job claims the issue by itself, as `hob run ISSUE` does, and by that moves its ledger.

use std::time::Duration;

use async_trait::async_trait;
use hob_domain::{IssueNumber, RepoName, Sha};
use tokio_util::sync::CancellationToken;

use crate::{WorkError, finding::Health};

/// An issue that is worked on elsewhere.
#[derive(Debug, Clone)]
pub struct RemoteTask {
    /// Its repository.
    pub repo: RepoName,
    /// The issue.
    pub issue: IssueNumber,
    /// The commit that its ledger is at; it moves once a job has taken the issue up. `None` if it has no ledger yet.
    pub ledger: Option<Sha>,
    /// The longest that an attempt at it takes, once it has begun.
    pub longest: Duration,
}

/// How the work on an issue elsewhere ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemoteEnd {
    /// As it should: the issue's ledger says what came of it.
    Succeeded,
    /// It failed, perhaps before the issue was taken up.
    Failed {
        /// What failed and how, the beginning of a sentence.
        what: String,
        /// Why, or its last words.
        said: String,
    },
    /// The worker was stopped meanwhile.
    Cancelled,
}

/// Takes a sentence on what becomes of an issue.
pub type Tell<'a> = &'a (dyn Fn(&str) + Send + Sync);

/// Has issues worked on elsewhere.
#[async_trait]
pub trait RemoteExecutor: Send + Sync {
    /// Has an issue worked on, and returns when that has ended.
    ///
    /// # Errors
    /// [`WorkError`] if the executor itself cannot be used, for this issue or any other.
    async fn work_on(
        &self,
        task: &RemoteTask,
        tell: Tell<'_>,
        cancel: &CancellationToken,
    ) -> Result<RemoteEnd, WorkError>;

    /// Whether it can be used, and what is missing.
    async fn health(&self) -> (Health, String);

    /// What a job of the issue waits for. `None` if it has none that waits, or nothing is known.
    async fn waits_for(&self, repo: &RepoName, issue: IssueNumber) -> Option<String>;
}
