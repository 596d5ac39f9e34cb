//! Who is asked whether an action may run that has more impact than runs by itself. Who that is belongs to what surrounds
//! a run; the backend only asks.

use hob_domain::{IssueNumber, Proposed, RepoName};
use tokio::sync::{mpsc, oneshot};

/// Who approves an action that has more impact than runs by itself. What is denied never runs.
#[derive(Debug, Default, Clone)]
pub enum Approval {
    /// Nobody is here: the agent's setting `ask` decides.
    #[default]
    Nobody,
    /// Whoever listens here, now.
    Asked(mpsc::Sender<Proposal>),
    /// It runs.
    Given,
}

/// An action that waits for a word.
#[derive(Debug)]
pub struct Proposal {
    /// The repository of the issue.
    pub repo: RepoName,
    /// The issue that it is for.
    pub issue: IssueNumber,
    /// What would be done.
    pub action: Proposed,
    /// Where the word goes. Dropping it refuses; closed, nobody waits any more.
    pub answer: oneshot::Sender<Verdict>,
}

/// The word on a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It may run.
    Approved,
    /// It may not, with why.
    Refused(String),
}
