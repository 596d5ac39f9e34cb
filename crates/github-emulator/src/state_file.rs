//! The file that stores the state, for a server with a data folder.
//!
//! # Guarantees
//! The whole file is written before a write is answered, and replaces the old one by a rename: a process that is killed at
//! any moment loses no answered write. Git's own data is on disk before that. A loss of power may lose some: nothing is
//! flushed to the device.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};

use super::state::{IssueState, State};

/// The version of the file's format.
const VERSION: u32 = 1;

/// What the file holds.
#[derive(Debug, Deserialize)]
struct Stored {
    version: u32,
    next_id: u64,
    state: State,
}

#[derive(Debug, Serialize)]
struct ToStore<'s> {
    version: u32,
    next_id: u64,
    state: &'s State,
}

/// A stored state that cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum StateFileError {
    /// The file cannot be read.
    #[error("read the stored state")]
    Io(#[from] io::Error),
    /// The file is not what this version writes.
    #[error("parse the stored state")]
    Json(#[from] serde_json::Error),
    /// The file is of another version.
    #[error("the stored state has version {0}, this program writes {VERSION}")]
    Version(u32),
}

/// The file the state is stored in.
#[derive(Debug)]
pub(super) struct StateFile {
    file: PathBuf,
    writing: Mutex<()>,
}

impl StateFile {
    /// The file of the state in `folder`.
    pub(super) fn new(folder: &Path) -> Self {
        Self { file: folder.join("state.json"), writing: Mutex::default() }
    }

    /// Loads the next id and the state; none if nothing has been stored yet.
    pub(super) fn load(&self) -> Result<Option<(u64, State)>, StateFileError> {
        let bytes = match fs::read(&self.file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let stored: Stored = serde_json::from_slice(&bytes)?;
        if stored.version == VERSION {
            Ok(Some((stored.next_id, stored.state)))
        } else {
            Err(StateFileError::Version(stored.version))
        }
    }

    /// Writes what `snapshot` returns. One at a time, so that an older snapshot never replaces a newer one.
    pub(super) fn save(&self, snapshot: impl FnOnce() -> serde_json::Result<Vec<u8>>) -> io::Result<()> {
        let _turn = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = self.file.with_extension("json.new");
        fs::write(&fresh, snapshot()?)?;
        fs::rename(fresh, &self.file)
    }
}

/// The state as the file holds it.
pub(super) fn snapshot(next_id: u64, state: &State) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&ToStore { version: VERSION, next_id, state })
}

/// Sets the commits of open pull requests to the tips of their branches: a push may have moved a branch just before the
/// process ended, without a stored state after it.
pub(super) fn realign(state: &mut State, tip: impl Fn(u64, &str) -> Option<String>) {
    for repo in state.repositories.all_mut() {
        let id = repo.id;
        for issue in repo.issues.values_mut().filter(|issue| issue.state == IssueState::Open) {
            if let Some(pull) = issue.pull.as_mut() {
                pull.head_sha = tip(id, &pull.head_ref).unwrap_or_else(|| pull.head_sha.clone());
                pull.base_sha = tip(id, &pull.base_ref).unwrap_or_else(|| pull.base_sha.clone());
            }
        }
    }
}
