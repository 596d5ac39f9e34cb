//! The failure of a tool: a text for the model, with a remedy if there is one.

use hob_domain::investigation;

use crate::{
    folder::FileError,
    native::{fetcher::FetchError, investigation::NoEvidence, mcp::CallError},
};

/// A tool that failed.
#[derive(Debug, thiserror::Error)]
pub(in crate::native) enum ToolError {
    /// The tool does not exist.
    #[error("there is no tool `{name}`: use {known}")]
    Unknown {
        /// The name that the model called.
        name: String,
        /// The tools there are.
        known: String,
    },
    /// The arguments are not what the tool takes.
    #[error("the arguments of `{tool}` are not valid: {reason}")]
    Arguments {
        /// The tool.
        tool: String,
        /// The problem.
        reason: String,
    },
    /// A file could not be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// The rules of an investigation do not allow it now.
    #[error("refused: {0}")]
    Case(#[from] investigation::Refused),
    /// A piece of evidence cannot be shown.
    #[error(transparent)]
    Evidence(#[from] NoEvidence),
    /// A page was not fetched.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// A server's tool failed.
    #[error(transparent)]
    Mcp(#[from] CallError),
    /// A command ran, and Hob ended it.
    #[error("{text}")]
    Ended {
        /// The report, with its output.
        text: String,
        /// Why it was ended.
        how: String,
    },
    /// The tool did not do what was asked.
    #[error("{0}")]
    Refused(String),
}

impl ToolError {
    /// A word for it, for programs.
    pub(in crate::native) fn name(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "unknown_tool",
            Self::Arguments { .. } => "invalid_arguments",
            Self::File(_) => "file",
            Self::Case(_) | Self::Refused(_) => "refused",
            Self::Evidence(_) => "no_evidence",
            Self::Fetch(_) => "fetch",
            Self::Mcp(_) => "mcp",
            Self::Ended { .. } => "ended",
        }
    }
}
