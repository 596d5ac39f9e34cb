//! The exit codes, and the failures that lead to them.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | success; a blocked issue is not a failure |
//! | 1 | transient or unclassified failure |
//! | 2 | invalid command line or setting |
//! | 3 | the token is missing, is rejected, or lacks a permission |
//! | 4 | the repository, issue or session was not found, or the repository is empty, archived or without issues |
//! | 5 | the forge cannot be reached |
//! | 6 | the worker lacks what only its operator can supply: `hob doctor` shows what |
//! | 7 | the rehearsal did not end as expected |
//! | 8 | `hob run ISSUE…`: an issue got no pull request and has no other worker; `hob agent investigate`: no conclusion; `hob agent run`: not done; `hob eval`: an unjudged task; `hob verify`: it does not hold |

use hob_config::SettingsError;
use hob_domain::FailureClass;
use hob_forge::ForgeError;
use hob_worker::{OperatorError, WorkError};

/// A non-zero exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    /// A transient or unclassified failure.
    Failure = 1,
    /// The command line or a setting.
    Usage = 2,
    /// The token.
    Token = 3,
    /// Not found.
    NotFound = 4,
    /// No connection.
    Unreachable = 5,
    /// The worker lacks what only its operator can supply.
    Unhealthy = 6,
    /// The rehearsal.
    Rehearsal = 7,
    /// Issues without a pull request and another worker, a case without a conclusion, a task that is not done or was
    /// not judged, a statement that does not hold.
    Unfinished = 8,
}

/// A failure with its exit code.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(super) struct Fatal {
    pub(super) exit: Exit,
    pub(super) message: String,
}

/// A failure with its exit code.
pub(super) fn fatal(exit: Exit, message: impl Into<String>) -> anyhow::Error {
    Fatal { exit, message: message.into() }.into()
}

/// The code for an error, by the first cause in its chain that has one.
pub(super) fn code_of(error: &anyhow::Error) -> Exit {
    for cause in error.chain() {
        if let Some(fatal) = cause.downcast_ref::<Fatal>() {
            return fatal.exit;
        }
        if cause.is::<SettingsError>() {
            return Exit::Usage;
        }
        if let Some(error) = cause.downcast_ref::<OperatorError>() {
            return of_operator(error);
        }
        if let Some(error) = cause.downcast_ref::<WorkError>() {
            return of_work(error);
        }
        if let Some(error) = cause.downcast_ref::<ForgeError>() {
            return of_forge(error);
        }
    }
    Exit::Failure
}

fn of_operator(error: &OperatorError) -> Exit {
    match error {
        OperatorError::NoIssue(_)
        | OperatorError::NotBlocked(_)
        | OperatorError::NothingProposed(_)
        | OperatorError::NoLedger(_)
        | OperatorError::NotPaused(_)
        | OperatorError::Ended(_) => Exit::NotFound,
        OperatorError::Contended(_) => Exit::Failure,
        OperatorError::Work(error) => of_work(error),
    }
}

fn of_work(error: &WorkError) -> Exit {
    match error {
        WorkError::Server(_) => Exit::Usage,
        WorkError::Misconfigured(_)
        | WorkError::Agent(_)
        | WorkError::Settings(_)
        | WorkError::Glob(_)
        | WorkError::NoExecutor(_) => Exit::Unhealthy,
        WorkError::Shared(error) => of_work(error),
        WorkError::Forge(error) => of_forge(error),
        WorkError::Workspace(error) if error.class() == FailureClass::Misconfigured => Exit::Unhealthy,
        WorkError::Workspace(_)
        | WorkError::Branch(_)
        | WorkError::InTheWay(_)
        | WorkError::Checks(_)
        | WorkError::Executor { .. }
        | WorkError::Panicked(_)
        | WorkError::Statement(_) => Exit::Failure,
    }
}

fn of_forge(error: &ForgeError) -> Exit {
    match error {
        ForgeError::Unreachable { .. } | ForgeError::TimedOut { .. } => Exit::Unreachable,
        ForgeError::Unauthorized | ForgeError::App(_) | ForgeError::Forbidden { .. } => Exit::Token,
        ForgeError::NoAddress(_) => Exit::Usage,
        ForgeError::NotFound { .. }
        | ForgeError::NoRepository(_)
        | ForgeError::NoIssues { .. }
        | ForgeError::Archived(_)
        | ForgeError::EmptyRepository(_)
        | ForgeError::Moved { .. } => Exit::NotFound,
        ForgeError::Limited { .. }
        | ForgeError::Server { .. }
        | ForgeError::Refused { .. }
        | ForgeError::Locked { .. }
        | ForgeError::Obstructed { .. }
        | ForgeError::HoldsSecret { .. }
        | ForgeError::NotPermitted { .. }
        | ForgeError::TooLong { .. }
        | ForgeError::Unreadable { .. }
        | ForgeError::Record { .. }
        | ForgeError::RepositoryRecord(_)
        | ForgeError::Unwritable(_)
        | ForgeError::Illegal(_)
        | ForgeError::Crowded
        | ForgeError::ReadOnly { .. }
        | ForgeError::Held(_)
        | ForgeError::Lost(_)
        | ForgeError::LeaseTooShort { .. } => Exit::Failure,
    }
}
