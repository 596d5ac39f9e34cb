//! The failures of a server: it cannot be opened, or a call of its tool fails.

use std::{error::Error, io};

use hob_process::ProcessError;

use crate::AgentError;

/// A server that the settings name and that does not exist.
#[derive(Debug, thiserror::Error)]
#[error("there is no MCP server `{name}`: {known}")]
pub(crate) struct UnknownServer {
    pub(super) name: String,
    /// A sentence about those that exist.
    pub(super) known: String,
}

/// A call that failed; the text is for the model.
#[derive(Debug, thiserror::Error)]
pub(in crate::native) enum CallError {
    /// The tool itself failed, with the server's text.
    #[error("{0}")]
    Tool(String),
    /// The server answered wrongly, or late.
    #[error("the MCP server `{0}`: {1}")]
    Server(String, #[source] ServerFault),
    /// The server is gone.
    #[error("the MCP server `{0}` does not answer any more: {1}")]
    Gone(String, #[source] ServerFault),
    /// The server was not opened.
    #[error("the MCP server `{0}` is not open")]
    NotOpen(String),
    /// A transcript answers instead of the server.
    #[error("the transcript has no such call")]
    NotRecorded,
}

/// Why a server failed, in one line without anything that is invisible to people.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(in crate::native) struct ServerFault(pub(super) String);

/// A server that was not asked, because it cannot be reached.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unreachable {
    /// Its address cannot be read.
    #[error("its address is not valid: {0}")]
    Address(#[from] url::ParseError),
    /// The settings name a variable for its token, which is not set.
    #[error("its token is not there: set the variable `{0}`")]
    NoToken(String),
    /// Its token cannot be in a header.
    #[error("its token has invalid characters")]
    Token,
    /// The client could not be made.
    #[error("make the HTTP client: {0}")]
    Client(#[source] reqwest::Error),
    /// Its program has no way to its hosts.
    #[error(transparent)]
    Egress(#[from] AgentError),
    /// Its program has no home.
    #[error("make a home for it: {0}")]
    Home(#[source] io::Error),
    /// Its program could not be started.
    #[error(transparent)]
    Program(#[from] ProcessError),
}

/// Why a server failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Trouble {
    /// It is gone.
    #[error("it ended before it answered")]
    Gone,
    /// It could not be reached.
    #[error(transparent)]
    Unreachable(#[from] Unreachable),
    /// A message could not be sent to it.
    #[error("{0}")]
    Unsent(#[source] Box<dyn Error + Send + Sync>),
    /// It did not answer in time.
    #[error("it did not answer within {0} s")]
    Late(f64),
    /// It refused.
    #[error("it answers with an error: {0}")]
    Refused(String),
    /// Its answer was wrong.
    #[error("{0}")]
    Answer(String),
}
