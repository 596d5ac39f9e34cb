//! Failures of git and the disk, with the class of each.

use std::{fmt, io, path::PathBuf};

use hob_domain::{FailureClass, RepoName, Sha};
use hob_process::ProcessError;
use serde::{Deserialize, Serialize};

use crate::BranchName;

/// A failed operation of the workspace. Its texts name no token.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// Talking to the git server failed.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// The repository has no commit yet.
    #[error("`{repo}` is empty: push a first commit, then try again")]
    EmptyRepository {
        /// The repository.
        repo: RepoName,
    },
    /// The repository has no such branch.
    #[error("`{repo}` has no branch `{branch}`")]
    NoSuchBranch {
        /// The repository.
        repo: RepoName,
        /// The branch.
        branch: BranchName,
    },
    /// The branch is not at the expected commit: someone else pushed.
    #[error("the branch `{branch}` was moved by someone else")]
    LeaseLost {
        /// The branch.
        branch: BranchName,
    },
    /// The server took the connection and refused the branch.
    #[error("the server refused the push to `{branch}`: {reason}")]
    PushRefused {
        /// The branch.
        branch: BranchName,
        /// The server's message.
        reason: String,
    },
    /// The branch's earlier work has no commit in common with the base.
    #[error("the branch `{branch}` has no history in common with its base {base}: delete or rename it", base = base.short())]
    UnrelatedHistory {
        /// The branch.
        branch: BranchName,
        /// The base.
        base: Sha,
    },
    /// The agent's work cannot be committed.
    #[error("commit the work: {0}")]
    Unfit(#[from] UnfitWork),
    /// Another process of Hob uses the same mirror just now.
    #[error("the mirror of `{repo}` is in use by another process of Hob")]
    Busy {
        /// The repository.
        repo: RepoName,
    },
    /// A text that is not an object id was given where one is needed.
    #[error("{0:?} is not a commit id")]
    InvalidSha(String),
    /// A local git command failed.
    #[error("{doing}: {detail}")]
    Git {
        /// The step that failed.
        doing: &'static str,
        /// Git's message.
        detail: String,
    },
    /// The git library failed.
    #[error("{doing}: {source}")]
    Library {
        /// The step that failed.
        doing: &'static str,
        /// Its error.
        source: LibraryError,
    },
    /// A file or folder could not be read or written.
    #[error("{doing} `{}`: {source}{}", path.display(), advice(source))]
    Disk {
        /// The step that failed.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Git could not be run.
    #[error("run git: {0}")]
    Process(#[from] ProcessError),
    /// Disk or git library work took too long.
    #[error("{doing}: timed out after {minutes} min")]
    Late {
        /// The step that failed.
        doing: &'static str,
        /// The time limit in minutes.
        minutes: u64,
    },
    /// A background task ended without an answer.
    #[error("{doing}: the task ended without an answer")]
    Task {
        /// The step that failed.
        doing: &'static str,
    },
}

/// An error of the git library, shown without its own class names and numbers.
#[derive(Debug)]
pub struct LibraryError(git2::Error);

impl fmt::Display for LibraryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.message())
    }
}

impl std::error::Error for LibraryError {}

/// A failed exchange with the git server. Its text names no token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{doing} `{repo}`: {reason}")]
pub struct TransportError {
    /// The step that failed.
    pub doing: &'static str,
    /// The repository.
    pub repo: String,
    /// The problem and its remedy.
    pub reason: String,
    /// Whether trying again can help.
    pub class: FailureClass,
}

/// Files in the agent's folder that cannot be committed. Paths are written by [`shown_path`](hob_domain::shown_path).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum UnfitWork {
    /// A name that git reserves for itself on some file system.
    #[error("`{path}` has a name that git could take for its own folder")]
    ReservedName {
        /// The path.
        path: String,
    },
    /// The folder itself was replaced.
    #[error("the agent's folder is no longer a folder")]
    NoFolder,
    /// Too many changed files.
    #[error("{count} files are changed, the limit is {limit}; build output may be missing in `.gitignore`")]
    TooManyFiles {
        /// The number of files.
        count: usize,
        /// The setting `workspace.max_files`.
        limit: usize,
    },
    /// A file of git's rules that is not a regular file.
    #[error("`{path}` must be a file of at most {limit} bytes, so that git can read its rules")]
    Rules {
        /// The path.
        path: String,
        /// The most bytes.
        limit: u64,
    },
    /// Folders nested too deep.
    #[error("folders are nested more than {limit} deep in `{path}`")]
    TooDeep {
        /// The folder at the top that contains them.
        path: String,
        /// The limit.
        limit: usize,
    },
    /// A folder that git's library cannot finish.
    #[error("git could not go through the folder within {seconds} s")]
    TooSlow {
        /// The setting `workspace.local_time`.
        seconds: u64,
    },
    /// A file or folder without read permission.
    #[error("`{path}` may not be read; let its owner read it, or remove it")]
    Unreadable {
        /// The path.
        path: String,
    },
    /// A file that git cannot convert as its attributes say.
    #[error("git cannot convert a file as `.gitattributes` says: {said}")]
    Unconverted {
        /// Git's own words.
        said: String,
    },
    /// A file that is too large.
    #[error("`{path}` has {bytes} bytes, the limit is {limit}")]
    TooLarge {
        /// The path.
        path: String,
        /// Its size.
        bytes: u64,
        /// The setting `workspace.max_file`, in bytes.
        limit: u64,
    },
}

impl WorkspaceError {
    /// Whether trying again can help.
    pub fn class(&self) -> FailureClass {
        match self {
            Self::Transport(error) => error.class.clone(),
            Self::EmptyRepository { .. } | Self::NoSuchBranch { .. } | Self::UnrelatedHistory { .. } => {
                FailureClass::NeedsHuman
            }
            // A protected branch, a server's hook, a workflow file without the right to write one.
            Self::PushRefused { .. } => FailureClass::NeedsHuman,
            Self::LeaseLost { .. }
            | Self::Busy { .. }
            | Self::Git { .. }
            | Self::Late { .. }
            | Self::Task { .. }
            | Self::Library { .. }
            | Self::Disk { .. }
            | Self::Process(ProcessError::Pipe { .. }) => FailureClass::Unfinished,
            Self::Unfit(_) | Self::InvalidSha(_) => FailureClass::Permanent,
            Self::Process(ProcessError::Start { .. } | ProcessError::Sandbox { .. }) => FailureClass::Misconfigured,
        }
    }
}

fn advice(error: &io::Error) -> &'static str {
    if error.kind() == io::ErrorKind::StorageFull { ": the disk is full, make room there" } else { "" }
}

/// Names the failed step and its path.
pub(super) fn disk(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> WorkspaceError {
    let path = path.into();
    move |source| WorkspaceError::Disk { doing, path, source }
}

/// Names the failed step of the git library.
pub(super) fn library(doing: &'static str) -> impl Fn(git2::Error) -> WorkspaceError {
    move |error| WorkspaceError::Library { doing, source: LibraryError(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_its_cause_without_a_librarys_own_words() {
        let denied = disk("make", "/srv/x")(io::Error::from(io::ErrorKind::PermissionDenied));
        assert_eq!(denied.to_string(), "make `/srv/x`: permission denied");
        let missing = git2::Repository::open("/no/such/folder").err().map(library("open the mirror")).unwrap();
        let text = missing.to_string();
        assert!(text.starts_with("open the mirror: ") && text.contains("/no/such/folder"), "{text}");
        assert!(!text.contains("class="), "{text}");
        let gone = io::Error::from(io::ErrorKind::NotFound);
        let start = ProcessError::Start { program: "git".into(), source: gone };
        let text = WorkspaceError::from(start).to_string();
        assert_eq!(text, "run git: start `git`: entity not found");
    }
}
