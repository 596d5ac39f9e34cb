//! Where the folders of trials are: a place of its own for each, below Hob's state.
//!
//! A place is locked while it is used. One that is not was left by a Hob that was killed, and is removed at the next start.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

use hob_process::remove_tree;

use crate::EvalError;

/// How their names begin.
const PREFIX: &str = "eval-";

/// A place; it is removed with this.
#[derive(Debug)]
pub(crate) struct OwnPlace {
    path: PathBuf,
    _lock: File,
}

impl OwnPlace {
    /// Makes one below `state`.
    pub(crate) fn make(state: &Path) -> Result<Self, EvalError> {
        fs::create_dir_all(state).map_err(EvalError::at("make", state))?;
        // Held until the new one is locked: nobody takes it for one that was left.
        let _gate = locked(state)?;
        let made = tempfile::Builder::new().prefix(PREFIX).tempdir_in(state);
        let path = made.map_err(EvalError::at("write in", state))?.keep();
        let lock = locked(&path)?;
        Ok(Self { path, _lock: lock })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The agent's folder.
    pub(crate) fn work(&self) -> PathBuf {
        self.path.join("work")
    }

    /// The files of an image.
    pub(crate) fn root(&self) -> PathBuf {
        self.path.join("root")
    }
}

impl Drop for OwnPlace {
    fn drop(&mut self) {
        // A program may have made folders in it that only a careful removal opens. What is left is removed at the next start.
        remove_tree(&self.path).ok();
    }
}

/// Removes the places below `state` that no process uses.
pub(crate) fn remove_left(state: &Path) {
    let Ok(_gate) = locked(state) else { return };
    for entry in fs::read_dir(state).into_iter().flatten().flatten() {
        let is_one = entry.file_name().to_string_lossy().starts_with(PREFIX);
        if is_one && File::open(entry.path()).is_ok_and(|place| place.try_lock().is_ok()) {
            remove_tree(&entry.path()).ok();
        }
    }
}

/// Opens a folder, and locks it until it is closed.
fn locked(folder: &Path) -> Result<File, EvalError> {
    let open = File::open(folder).map_err(EvalError::at("open", folder))?;
    open.lock().map_err(EvalError::at("lock", folder))?;
    Ok(open)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_is_used_stays_and_one_that_was_left_goes() {
        let state = tempfile::tempdir().unwrap();
        let used = OwnPlace::make(state.path()).unwrap();
        for other in ["eval-left/root", "other"] {
            fs::create_dir_all(state.path().join(other)).unwrap();
        }
        remove_left(state.path());
        let is_there = |path: &Path| path.exists();
        assert!(is_there(used.path()) && is_there(&state.path().join("other")));
        assert!(!is_there(&state.path().join("eval-left")));
        let path = used.path().to_owned();
        drop(used);
        assert!(!is_there(&path));
    }
}
