//! The repositories on disk, and the locks on their refs.

use std::{
    collections::{BTreeSet, HashMap},
    ffi::OsStr,
    fs, io,
    ops::Deref,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::OwnedMutexGuard;

/// The lock of one repository's refs.
pub(in super::super) type RefLock = Arc<tokio::sync::Mutex<()>>;

/// A repository whose refs only the holder of this value changes.
pub(in super::super) struct Access {
    repo: git2::Repository,
    _held: OwnedMutexGuard<()>,
}

impl Deref for Access {
    type Target = git2::Repository;

    fn deref(&self) -> &git2::Repository {
        &self.repo
    }
}

/// All repositories, by id.
#[derive(Debug)]
pub(in super::super) struct Store {
    root: PathBuf,
    locks: Mutex<HashMap<u64, RefLock>>,
}

impl Store {
    /// The repositories below `root`.
    pub(in super::super) fn new(root: PathBuf) -> Self {
        Self { root, locks: Mutex::default() }
    }

    /// The folder of everything.
    pub(in super::super) fn folder(&self) -> &Path {
        &self.root
    }

    /// The folder of all repositories.
    pub(in super::super) fn root(&self) -> PathBuf {
        self.root.join("repositories")
    }

    /// A folder on the same disk for bodies on their way in.
    pub(in super::super) fn spool(&self) -> PathBuf {
        self.root.join("spool")
    }

    /// Makes the folders, without the remains of a killed process: the locks of its refs, pushes in progress, and
    /// repositories that are not among the `known`. Nothing else may use the folder.
    pub(in super::super) fn sweep(&self, known: &BTreeSet<u64>) -> io::Result<()> {
        if self.spool().exists() {
            fs::remove_dir_all(self.spool())?;
        }
        fs::create_dir_all(self.spool())?;
        fs::create_dir_all(self.root())?;
        for entry in fs::read_dir(self.root())? {
            let path = entry?.path();
            let id = path.file_stem().and_then(OsStr::to_str).and_then(|stem| stem.parse().ok());
            match id {
                Some(id) if known.contains(&id) => remove_locks(&path)?,
                Some(_) => fs::remove_dir_all(&path)?,
                None => {}
            }
        }
        Ok(())
    }

    /// Deletes a repository, once its refs are not being changed.
    pub(in super::super) fn delete(&self, id: u64) -> io::Result<()> {
        let _held = self.lock_of(id).blocking_lock_owned();
        fs::remove_dir_all(self.path(id))
    }

    /// Makes an empty bare repository that serves pushes and partial clones.
    pub(in super::super) fn init(&self, id: u64, default_branch: &str) -> Result<git2::Repository, git2::Error> {
        let repo = git2::Repository::init_bare(self.path(id))?;
        repo.set_head(&format!("refs/heads/{default_branch}"))?;
        let mut config = repo.config()?;
        config.set_bool("http.receivepack", true)?;
        config.set_bool("uploadpack.allowFilter", true)?;
        config.set_bool("uploadpack.allowAnySHA1InWant", true)?;
        config.set_bool("receive.autogc", false)?;
        config.set_i32("gc.auto", 0)?;
        config.set_bool("core.logAllRefUpdates", false)?;
        Ok(repo)
    }

    /// Opens a repository to read it.
    pub(in super::super) fn open(&self, id: u64) -> Result<git2::Repository, git2::Error> {
        git2::Repository::open_bare(self.path(id))
    }

    /// Opens a repository to change its refs; waits for other writers, so it must run on a thread that may block.
    pub(in super::super) fn lock(&self, id: u64) -> Result<Access, git2::Error> {
        let held = self.lock_of(id).blocking_lock_owned();
        Ok(Access { repo: self.open(id)?, _held: held })
    }

    /// The lock of a repository's refs.
    pub(in super::super) fn lock_of(&self, id: u64) -> RefLock {
        Arc::clone(self.locks.lock().unwrap_or_else(PoisonError::into_inner).entry(id).or_default())
    }

    /// The folder of one repository.
    pub(in super::super) fn path(&self, id: u64) -> PathBuf {
        self.root().join(format!("{id}.git"))
    }
}

/// Removes git's lock files from a bare repository: beside its own files, and below `refs`.
fn remove_locks(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let (path, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
        let is_refs = path.components().any(|part| part.as_os_str() == "refs");
        if kind.is_dir() && is_refs {
            remove_locks(&path)?;
        } else if kind.is_file() && path.extension() == Some(OsStr::new("lock")) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_takes_locks_and_strangers_away_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().to_owned());
        for id in [1, 2] {
            store.init(id, "main").unwrap();
        }
        let repo = store.path(1);
        fs::create_dir_all(repo.join("refs/hob/issues")).unwrap();
        for lock in ["refs/hob/issues/7.lock", "HEAD.lock", "packed-refs.lock"] {
            fs::write(repo.join(lock), "").unwrap();
        }
        fs::write(repo.join("refs/hob/issues/7"), "1".repeat(40)).unwrap();
        store.sweep(&BTreeSet::from([1])).unwrap();
        assert!(repo.join("HEAD").exists() && repo.join("config").exists() && repo.join("refs/hob/issues/7").exists());
        assert!(!repo.join("refs/hob/issues/7.lock").exists() && !repo.join("packed-refs.lock").exists());
        assert!(!repo.join("HEAD.lock").exists() && !store.path(2).exists() && store.spool().exists());
    }
}
