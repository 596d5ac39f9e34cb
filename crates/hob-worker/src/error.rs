//! What can stop a piece of work, with the class that decides what follows.

use hob_agent::AgentError;
use hob_config::RepositorySettingsError;
use hob_domain::{FailureClass, Full, InvalidGlob, IssueNumber, Login, Pause};
use hob_forge::ForgeError;
use hob_workspace::{InvalidBranchName, InvalidServer, WorkspaceError};

/// A step that failed.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// The forge.
    #[error(transparent)]
    Forge(#[from] ForgeError),
    /// Mirrors, checkouts, pushes.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The agent could not be run.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// `.github/hob.toml`.
    #[error(transparent)]
    Settings(#[from] RepositorySettingsError),
    /// A protected path of the repository's settings.
    #[error(transparent)]
    Glob(#[from] InvalidGlob),
    /// The forge's web address.
    #[error(transparent)]
    Server(#[from] InvalidServer),
    /// A branch name that git would refuse.
    #[error(transparent)]
    Branch(#[from] InvalidBranchName),
    /// Somebody wanted to unblock an issue that is not blocked.
    #[error("issue {0} is not blocked: `hob explain {0}` says where it stands")]
    NotBlocked(IssueNumber),
    /// Somebody wanted to approve where nothing is asked.
    #[error("issue {0} asks for no approval: `hob explain {0}` says where it stands")]
    NothingProposed(IssueNumber),
    /// Somebody wanted to control an issue that Hob never claimed.
    #[error("issue {0} has no ledger: Hob never claimed it; take its label off to keep Hob away")]
    NoLedger(IssueNumber),
    /// Somebody wanted to resume an issue that is not paused.
    #[error("issue {0} is not paused: `hob explain {0}` says where it stands")]
    NotPaused(IssueNumber),
    /// An issue's ledger moved each time before a request could be written.
    #[error("issue {0} is changing too fast: try again")]
    Restless(IssueNumber),
    /// Nothing may begin in the repository.
    #[error("{0}")]
    Full(Full),
    /// Somebody paused the issue while it was worked on.
    #[error("{} paused the issue", .0.by)]
    Paused(Pause),
    /// Somebody ended the work while it went on.
    #[error("{0} ended the work")]
    Terminated(Login),
    /// The issue was closed, or its label taken off, while it was worked on.
    #[error("the issue was closed or its label taken off")]
    Withdrawn,
    /// The worker was asked to stop.
    #[error("the worker was stopped")]
    Stopped,
    /// The checks' shell could not be run.
    #[error("run the checks: {0}")]
    Checks(String),
}

impl From<Full> for WorkError {
    fn from(full: Full) -> Self {
        Self::Full(full)
    }
}

impl WorkError {
    /// The class of the failure.
    pub fn class(&self) -> FailureClass {
        match self {
            Self::Forge(error) => error.class(),
            Self::Workspace(error) => error.class(),
            Self::Agent(error) => error.failure.clone(),
            Self::Stopped | Self::Paused(_) | Self::Terminated(_) | Self::Withdrawn => FailureClass::Cancelled,
            Self::NotBlocked(_) | Self::NothingProposed(_) | Self::NoLedger(_) | Self::NotPaused(_) => {
                FailureClass::Permanent
            }
            Self::Full(_) | Self::Restless(_) => FailureClass::Transient { retry_after: None },
            Self::Settings(_) | Self::Glob(_) | Self::Server(_) | Self::Branch(_) | Self::Checks(_) => {
                FailureClass::NeedsHuman
            }
        }
    }
}
