//! What can go wrong beside a trial's own failure.

use std::{io, path::PathBuf};

use hob_process::ProcessError;

/// An evaluation that cannot go on, or a trial that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    /// A file or folder could not be used.
    #[error("cannot {what} `{}`: {source}", path.display())]
    File {
        /// What was tried.
        what: &'static str,
        /// Where.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A program could not be run.
    #[error("{0}")]
    Process(#[from] ProcessError),
    /// A git command failed.
    #[error("`git {command}` failed: {said}")]
    Git {
        /// Its subcommand.
        command: String,
        /// What it said.
        said: String,
    },
    /// podman or docker did not do what it should.
    #[error("`{program} {command}` failed: {said}")]
    Engine {
        /// The program.
        program: &'static str,
        /// Its subcommand.
        command: String,
        /// What it said.
        said: String,
    },
    /// What is there is not what it should be; the sentence says what to do.
    #[error("{0}")]
    Unfit(String),
}

impl EvalError {
    /// For an error of the system.
    pub(crate) fn at(what: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { what, path, source }
    }
}
