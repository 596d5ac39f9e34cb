//! The checkouts that this process uses.

use std::{
    collections::BTreeSet,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Folders of issues that are in use in this process.
#[derive(Debug, Clone, Default)]
pub(super) struct InUse(Arc<Mutex<BTreeSet<PathBuf>>>);

impl InUse {
    pub(super) fn lock(&self) -> MutexGuard<'_, BTreeSet<PathBuf>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts the folder as in use until what is returned is dropped.
    pub(super) fn begin(&self, folder: PathBuf) -> Use {
        self.lock().insert(folder.clone());
        Use { all: self.clone(), folder }
    }
}

/// A folder that is in use.
#[derive(Debug)]
pub(super) struct Use {
    all: InUse,
    folder: PathBuf,
}

impl Drop for Use {
    fn drop(&mut self) {
        self.all.lock().remove(&self.folder);
    }
}
