//! Why a file of the folder could not be used. The texts go to a model or a maintainer: they name what to do instead.

use std::io;

/// A file that could not be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    /// The path leads out of the folder.
    #[error("`{0}` is outside the folder: give a path relative to it, without `..`")]
    Outside(String),
    /// The path leads into git's own files.
    #[error("`{0}` belongs to git and is out of reach")]
    Git(String),
    /// A part of the path is a symbolic link.
    #[error("`{path}` is a symbolic link to `{target}`: use the path it points to, if that is in the folder")]
    Link {
        /// The link.
        path: String,
        /// Its target.
        target: String,
    },
    /// The file does not exist.
    #[error("`{0}` does not exist")]
    Missing(String),
    /// It is a folder, a FIFO, a device or a socket.
    #[error("`{path}` is {kind}, not a file")]
    NotAFile {
        /// The path.
        path: String,
        /// Its type, with its article.
        kind: &'static str,
    },
    /// It is larger than what is read at once.
    #[error("`{path}` has {size} bytes, more than the {max} that are read at once")]
    TooBig {
        /// The path.
        path: String,
        /// Its size in bytes.
        size: u64,
        /// The most that is read, in bytes.
        max: u64,
    },
    /// It is not UTF-8 text.
    #[error("`{0}` is not text (UTF-8)")]
    NotText(String),
    /// The system refused.
    #[error("`{path}`: {source}")]
    Io {
        /// The path.
        path: String,
        /// The system's error.
        source: io::Error,
    },
}

impl FileError {
    /// The system's error about `path`.
    pub(super) fn io(path: &str, errno: rustix::io::Errno) -> Self {
        match errno {
            rustix::io::Errno::NOENT => Self::Missing(path.to_owned()),
            errno => Self::Io { path: path.to_owned(), source: errno.into() },
        }
    }
}
