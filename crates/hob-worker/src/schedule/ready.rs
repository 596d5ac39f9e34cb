//! What may be claimed now, for an engine that gives each issue a process of its own.

use hob_domain::{IssueNumber, RepoName};
use serde::Serialize;

use crate::{
    WorkError, Worker, explain,
    schedule::poll::{Poll, Scope, poll},
};

/// Polls, at most, where each brought something up to date: what was merged may let the next issue be claimed.
const PASSES: usize = 3;

/// An issue that may be claimed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReadyIssue {
    /// The repository.
    pub repo: RepoName,
    /// The issue.
    pub issue: IssueNumber,
    /// Its title.
    pub title: String,
}

/// Does the upkeep of a poll, and lists what may be claimed after it, in the order in which it would be taken; nothing is claimed.
///
/// # Errors
/// [`WorkError`] when the forge could not be asked; one issue's trouble is not the list's.
pub async fn ready(worker: &Worker) -> Result<Vec<ReadyIssue>, WorkError> {
    for _pass in 0..PASSES {
        let Some(Poll { reconciled, .. }) = poll(worker, &Scope::All).await? else { break };
        if reconciled.reconciled == 0 {
            break;
        }
    }
    let mut found: Vec<_> = explain::all(worker).await?.into_iter().filter(|issue| issue.place.is_some()).collect();
    found.sort_by_key(|issue| issue.place);
    let repo = worker.forge.repo();
    let issues =
        found.into_iter().map(|found| ReadyIssue { repo: repo.clone(), issue: found.issue, title: found.title });
    Ok(issues.collect())
}
