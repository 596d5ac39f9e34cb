//! The checkouts that this process uses.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{Mutex as Queue, OwnedMutexGuard};

use crate::{
    layout::{IssueFolder, Kind},
    pool,
};

/// Folders of issues that are in use in this process, with how often, and how many trees it frees.
#[derive(Debug, Clone, Default)]
pub(super) struct InUse {
    folders: Arc<Mutex<BTreeMap<PathBuf, usize>>>,
    /// The most free trees of each kind in a repository.
    pub(super) spare: usize,
}

impl InUse {
    pub(super) fn lock(&self) -> MutexGuard<'_, BTreeMap<PathBuf, usize>> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts the folder as in use until what is returned is dropped.
    pub(super) fn begin(&self, folder: IssueFolder) -> Use {
        *self.lock().entry(folder.0.clone()).or_default() += 1;
        Use { all: self.clone(), folder }
    }

    /// Frees a tree of an issue that is not in use, if free ones are kept.
    pub(super) fn free(&self, folder: &IssueFolder, kind: Kind) {
        if let Err(error) = pool::put(folder, kind, self.spare) {
            // The next issue makes one.
            tracing::debug!(%error, "a tree could not be freed: {error}");
        }
    }
}

/// A folder that is in use. Its end frees the folder of the checks, from which an issue continues nothing.
#[derive(Debug)]
pub(super) struct Use {
    all: InUse,
    folder: IssueFolder,
}

/// The right to write a tree of an issue. Work on the disk has it until it ends, even if nobody waits for that.
#[derive(Debug)]
pub(super) struct Turn {
    _in_use: Arc<Use>,
    _lock: Option<OwnedMutexGuard<()>>,
}

/// Who waits for the folder of the checks: it may be filled before they need it.
#[derive(Debug, Clone, Default)]
pub(super) struct Turns(Arc<Queue<()>>);

impl Turns {
    /// The right to write a tree of this kind. That of the agent has one user at a time by itself.
    pub(super) async fn take(&self, in_use: &Arc<Use>, kind: Kind) -> Arc<Turn> {
        let lock = match kind {
            Kind::Agent => None,
            Kind::Proof => Some(Arc::clone(&self.0).lock_owned().await),
        };
        Arc::new(Turn { _in_use: Arc::clone(in_use), _lock: lock })
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        // The lock keeps the folder from being used meanwhile.
        let mut all = self.all.lock();
        let uses = all.get(&self.folder.0).copied().unwrap_or(1);
        if uses > 1 {
            all.insert(self.folder.0.clone(), uses - 1);
            return;
        }
        self.all.free(&self.folder, Kind::Proof);
        all.remove(&self.folder.0);
    }
}
