//! What can stop a piece of work, with the class that decides what follows.

use crate::{
    agent::AgentError,
    config::RepositorySettingsError,
    domain::{FailureClass, InvalidGlob, IssueNumber},
    forge::ForgeError,
    workspace::{InvalidBranchName, InvalidServer, WorkspaceError},
};

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
    /// The worker was asked to stop.
    #[error("the worker was stopped")]
    Stopped,
    /// The checks' shell could not be run.
    #[error("run the checks: {0}")]
    Checks(String),
}

impl WorkError {
    /// The class of the failure.
    pub fn class(&self) -> FailureClass {
        match self {
            Self::Forge(error) => error.class(),
            Self::Workspace(error) => error.class(),
            Self::Agent(error) => error.failure.clone(),
            Self::Stopped => FailureClass::Cancelled,
            Self::NotBlocked(_) => FailureClass::Permanent,
            Self::Settings(_) | Self::Glob(_) | Self::Server(_) | Self::Branch(_) | Self::Checks(_) => {
                FailureClass::NeedsHuman
            }
        }
    }
}
