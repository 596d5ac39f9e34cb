//! Why a tool failed: a text for the model, that says what to do instead where something can be done.

use hob_domain::investigation;

use crate::folder::FileError;

/// A tool that failed.
#[derive(Debug, thiserror::Error)]
pub(in crate::native) enum ToolError {
    /// There is no such tool.
    #[error("there is no tool `{name}`: use {known}")]
    Unknown {
        /// What the model called.
        name: String,
        /// The tools there are.
        known: String,
    },
    /// The arguments are not what the tool takes.
    #[error("the arguments of `{tool}` are not valid: {reason}")]
    Arguments {
        /// The tool.
        tool: String,
        /// What is wrong.
        reason: String,
    },
    /// A file could not be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// The rules of an investigation do not allow it now.
    #[error("refused: {0}")]
    Case(#[from] investigation::Refused),
    /// A command ran, and Hob ended it.
    #[error("{text}")]
    Ended {
        /// What is said of it, with what it printed.
        text: String,
        /// Why it was ended.
        how: String,
    },
    /// The tool did not do what was asked.
    #[error("{0}")]
    Refused(String),
}
