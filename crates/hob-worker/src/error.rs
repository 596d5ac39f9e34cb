//! Failures of the work, each with a class that decides what follows, and mistakes of an operator.

use std::{sync::Arc, time::Duration};

use hob_agent::AgentError;
use hob_config::RepositorySettingsError;
use hob_domain::{FailureClass, InvalidGlob, IssueNumber, RepoName, UnreadableStatement};
use hob_forge::ForgeError;
use hob_process::ProcessError;
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
    /// A branch that leaves no room for those of Hob.
    #[error("{0}")]
    InTheWay(String),
    /// The shell of the checks could not be run.
    #[error("the checks could not be run: {0}")]
    Checks(#[source] ProcessError),
    /// The program of `executor.command` could not be run.
    #[error("`executor.command` cannot be run: {0}")]
    NoExecutor(#[source] ProcessError),
    /// What the executor had run failed, and the issue was not taken up.
    #[error("{what} and the issue was not taken up; it runs again in {} min: {said}", pause.as_secs() / 60)]
    Executor {
        /// What failed and how.
        what: String,
        /// Why, or its last words.
        said: String,
        /// The time until it runs again.
        pause: Duration,
    },
    /// The statement about the checks.
    #[error("the statement could not be written: {0}")]
    Statement(#[source] UnreadableStatement),
    /// The worker lacks something that only its operator can supply: no issue is touched.
    #[error("{0}")]
    Misconfigured(String),
    /// One error that several callers get.
    #[error(transparent)]
    Shared(Arc<Self>),
    /// A task of this process panicked: its lease expires, and another worker takes the issue over.
    #[error("a task panicked ({0}): please report this")]
    Panicked(String),
}

impl WorkError {
    /// Whether the failure concerns only the requested object, such as one issue: another request may succeed.
    pub(super) fn is_of_one_thing(&self) -> bool {
        matches!(
            self,
            Self::Forge(
                ForgeError::NotFound { .. }
                    | ForgeError::Refused { .. }
                    | ForgeError::Locked { .. }
                    | ForgeError::Obstructed { .. }
                    | ForgeError::TooLong { .. }
                    | ForgeError::Unreadable { .. }
                    | ForgeError::Record { .. }
            )
        )
    }

    /// The repository's new name, if the failure is that it was renamed or transferred.
    pub(super) fn moved_to(&self) -> Option<&RepoName> {
        if let Self::Shared(error) = self {
            return error.moved_to();
        }
        let Self::Forge(ForgeError::Moved { to, .. }) = self else { return None };
        to.as_ref()
    }

    /// Whether the failure concerns `.github/hob.toml`, which is the maintainers' and not the operator's.
    pub(super) fn is_of_the_repositorys_file(&self) -> bool {
        matches!(self, Self::Settings(_) | Self::Glob(_))
    }

    /// The service that failed, as people know it, if the failure is a service's.
    pub(super) fn service(&self) -> &'static str {
        match self {
            Self::Workspace(_) => "the git server",
            Self::Shared(error) => error.service(),
            Self::Agent(_) => "the agent",
            Self::Forge(_)
            | Self::Panicked(_)
            | Self::Statement(_)
            | Self::Misconfigured(_)
            | Self::Settings(_)
            | Self::Glob(_)
            | Self::Server(_)
            | Self::Checks(_)
            | Self::NoExecutor(_)
            | Self::Executor { .. }
            | Self::Branch(_)
            | Self::InTheWay(_) => "the forge",
        }
    }

    /// The class of the failure.
    pub fn class(&self) -> FailureClass {
        match self {
            Self::Forge(error) => error.class(),
            Self::Workspace(error) => error.class(),
            Self::Agent(error) => error.failure.clone(),
            Self::Shared(error) => error.class(),
            Self::Panicked(_) | Self::Statement(_) => FailureClass::Cancelled,
            Self::Executor { .. } => FailureClass::Transient { retry_after: None },
            Self::Misconfigured(_)
            | Self::Settings(_)
            | Self::Glob(_)
            | Self::Server(_)
            | Self::Checks(_)
            | Self::NoExecutor(_) => FailureClass::Misconfigured,
            Self::Branch(_) | Self::InTheWay(_) => FailureClass::NeedsHuman,
        }
    }
}

/// An operator's command that cannot be carried out.
#[derive(Debug, thiserror::Error)]
pub enum OperatorError {
    /// The issue does not exist.
    #[error("issue {0} does not exist or is a pull request")]
    NoIssue(IssueNumber),
    /// The issue is not blocked.
    #[error("issue {0} is not blocked\nhint: `hob explain {0}` shows its state")]
    NotBlocked(IssueNumber),
    /// Neither an action nor a plan waits for approval.
    #[error("issue {0} does not ask for an approval\nhint: `hob explain {0}` shows its state")]
    NothingProposed(IssueNumber),
    /// Hob never claimed the issue.
    #[error("issue {0} has no ledger: Hob never claimed it\nhint: remove its label to keep Hob away")]
    NoLedger(IssueNumber),
    /// The issue is not paused.
    #[error("issue {0} is not paused\nhint: `hob explain {0}` shows its state")]
    NotPaused(IssueNumber),
    /// The work on the issue has ended.
    #[error("issue {0} is done: Hob no longer works on it")]
    Ended(IssueNumber),
    /// The issue's ledger moved each time before the request could be written.
    #[error("the ledger of issue {0} keeps changing\nhint: try again")]
    Contended(IssueNumber),
    /// A step of the command failed.
    #[error(transparent)]
    Work(#[from] WorkError),
}

impl From<ForgeError> for OperatorError {
    fn from(error: ForgeError) -> Self {
        Self::Work(error.into())
    }
}
