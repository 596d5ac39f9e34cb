//! Where the repositories are and who may change their refs now.

use std::{
    collections::HashMap,
    ops::Deref,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::OwnedMutexGuard;

/// The lock of one repository's refs.
pub(in super::super) type RefLock = Arc<tokio::sync::Mutex<()>>;

/// A repository that nobody else changes the refs of while this is held.
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

    /// The folder that all repositories are in.
    pub(in super::super) fn root(&self) -> PathBuf {
        self.root.join("repositories")
    }

    /// A folder on the same disk for bodies on their way in.
    pub(in super::super) fn spool(&self) -> PathBuf {
        self.root.join("spool")
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

    /// Opens a repository to change its refs; waits for whoever does. Only where blocking is allowed.
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
