//! Why a session cannot be used.

use std::{io, path::PathBuf};

use hob_domain::{RunId, investigation::UnreadableInvestigation};

/// A session that could not be used.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The id cannot be a folder's name.
    #[error("`{0}` cannot name a session")]
    Name(String),
    /// A process is writing it.
    #[error("another process has the session `{0}`")]
    InUse(RunId),
    /// It belongs to another issue or agent.
    #[error("the session `{0}` belongs to another issue or another agent")]
    Another(RunId),
    /// It is too large to resume.
    #[error("the session `{session}` has {bytes} bytes, too many to resume")]
    TooLarge {
        /// The session.
        session: RunId,
        /// Its size.
        bytes: u64,
    },
    /// There is none, or several.
    #[error("{0}")]
    NotFound(String),
    /// A part of it cannot be read.
    #[error(transparent)]
    Damaged(#[from] DamagedRecord),
    /// The file could not be made, written or read.
    #[error("use the session's file `{path}`: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// An investigation's record that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DamagedRecord {
    /// Its file cannot be read.
    #[error(transparent)]
    File(#[from] io::Error),
    /// Its text is not a record.
    #[error(transparent)]
    Format(#[from] UnreadableInvestigation),
}
