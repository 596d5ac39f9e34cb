//! The approver of actions with more impact than runs without approval. The caller of a run chooses it; the backend
//! only asks.

use hob_domain::{IssueNumber, Proposed, RepoName};
use tokio::sync::{mpsc, oneshot};

/// The approver of an action with more impact than runs without approval. A denied action never runs.
#[derive(Debug, Default, Clone)]
pub enum Approval {
    /// No approver is present: the agent's setting `ask` decides.
    #[default]
    Nobody,
    /// The listener at this channel, now.
    Asked(mpsc::Sender<Proposal>),
    /// It runs.
    Given,
}

/// An action that waits for approval.
#[derive(Debug)]
pub struct Proposal {
    /// The repository of the issue.
    pub repo: RepoName,
    /// The issue that it is for.
    pub issue: IssueNumber,
    /// The proposed action.
    pub action: Proposed,
    /// The channel for the verdict. Dropping it refuses; if it is closed, the run no longer waits.
    pub answer: oneshot::Sender<Verdict>,
}

/// The verdict on a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It may run.
    Approved,
    /// It may not, for this reason.
    Refused(String),
}
