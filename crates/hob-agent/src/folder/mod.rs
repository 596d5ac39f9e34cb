//! The folder an agent works in, as the only part of the file system that Hob's own tools touch for it.
//!
//! - Guarantees: every path is walked from the folder's descriptor, one component at a time, without following a
//!   symbolic link; so no `..`, absolute path, link, or swap of a folder for a link while it is used, leads out. `.git`
//!   is out of reach. Reading never blocks on a FIFO or device and never reads more than a given size. A file is
//!   replaced whole, by a rename, so that a hard link into it is cut and not written through. Several files change
//!   together or not at all (`transaction`).
//! - Caveats: symbolic links inside the folder are refused too (the message names the target). This does not confine
//!   shell commands and other programs: only a sandbox does.

mod confined;
mod error;
mod path;
mod transaction;
mod walk;

pub(crate) use confined::Folder;
pub(crate) use error::FileError;
pub(crate) use path::Inside;
pub(crate) use transaction::{FileChange, TransactionError, apply_all};
pub(crate) use walk::{Found, Kind, walk};
