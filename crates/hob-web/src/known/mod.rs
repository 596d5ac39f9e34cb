//! What this process knows of the work: what polls found, how ledgers moved since, and what happened lately. What is shown is read
//! from here, and no look at it makes a call to the forge.

mod issue;
mod log;
mod repository;

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use hob_domain::{IssueNumber, Record, RepoName, Timestamp};
use hob_words::Board;
use hob_worker::{Watcher, WorkEvent, Worker};
use parking_lot::{Mutex, RwLock, RwLockReadGuard};
use serde_json::Value;
use tokio::sync::watch;

pub(crate) use self::{
    issue::Known as KnownIssue,
    log::{Entry, Log, Said},
    repository::Repository,
};

/// What is known, of all repositories.
pub struct Known {
    repositories: RwLock<BTreeMap<RepoName, Repository>>,
    log: Mutex<Log>,
    /// Grows with each change.
    changes: watch::Sender<u64>,
    /// What does not change.
    pub(crate) facts: Facts,
}

/// What is known of the process from its start.
#[derive(Debug, Clone)]
pub struct Facts {
    /// Issues that it works on at once.
    pub jobs: usize,
    /// Where its mirrors and checkouts are.
    pub state_dir: PathBuf,
}

impl Facts {
    /// Bytes that are free where its checkouts are. `None` if the system does not say.
    pub(crate) fn free_bytes(&self) -> Option<u64> {
        let disk = rustix::fs::statvfs(&self.state_dir).ok()?;
        Some(disk.f_bavail.saturating_mul(disk.f_frsize))
    }
}

impl Known {
    /// Nothing yet.
    pub fn new(facts: Facts) -> Self {
        Self { repositories: RwLock::default(), log: Mutex::default(), changes: watch::Sender::new(0), facts }
    }

    /// Something happened: the event, and its form for programs.
    pub fn event(&self, repo: &RepoName, event: &WorkEvent, value: &Value) {
        match event {
            WorkEvent::Failed { issue: None, reason } => {
                self.change(repo, |known| known.failed = Some(reason.clone()));
            }
            WorkEvent::Moved { issue, state, why } => {
                self.change(repo, |known| known.moved(*issue, *state, why));
            }
            WorkEvent::Polled { .. }
            | WorkEvent::CreatesLabels { .. }
            | WorkEvent::Refused { .. }
            | WorkEvent::Progress { .. }
            | WorkEvent::AgentStarted { .. }
            | WorkEvent::Activity { .. }
            | WorkEvent::Checked { .. }
            | WorkEvent::Published { .. }
            | WorkEvent::Failed { issue: Some(_), .. } => {}
        }
        self.log.lock().note(repo, event, value);
        self.changes.send_modify(|change| *change += 1);
    }

    /// All repositories, as long as the guard lives. Nothing may wait while it does.
    pub(crate) fn repositories(&self) -> RwLockReadGuard<'_, BTreeMap<RepoName, Repository>> {
        self.repositories.read()
    }

    /// What happened lately.
    pub(crate) fn log(&self) -> parking_lot::MutexGuard<'_, Log> {
        self.log.lock()
    }

    /// The number of changes so far, and a way to wait for more.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// The worker of a repository that is polled, by its name in any case.
    pub(crate) fn worker(&self, repo: &RepoName) -> Option<Arc<Worker>> {
        let all = self.repositories();
        let known = all.iter().find(|(known, _)| known.is(repo));
        known.and_then(|(_, known)| known.worker.clone())
    }

    /// The time by the forge's clock, as far as any repository knows it.
    pub(crate) fn now(&self) -> Option<Timestamp> {
        self.repositories().values().filter_map(Repository::now).max()
    }

    /// Sets what a poll would find.
    #[cfg(test)]
    pub(crate) fn set(&self, repo: &RepoName, set: impl FnOnce(&mut Repository)) {
        self.change(repo, set);
    }

    fn change(&self, repo: &RepoName, change: impl FnOnce(&mut Repository)) {
        change(self.repositories.write().entry(repo.clone()).or_default());
        self.changes.send_modify(|change| *change += 1);
    }
}

impl Watcher for Known {
    fn found(&self, worker: &Arc<Worker>, board: &Board<'_>) {
        self.change(worker.forge().repo(), |known| known.found(worker, board));
    }

    fn nothing_new(&self, repo: &RepoName) {
        self.change(repo, Repository::nothing_new);
    }

    fn record(&self, repo: &RepoName, record: &Record) {
        self.change(repo, |known| known.record(record));
    }

    fn forget(&self, repo: &RepoName) {
        self.repositories.write().remove(repo);
        self.changes.send_modify(|change| *change += 1);
    }
}

/// An issue of a repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct At {
    pub(crate) repo: RepoName,
    pub(crate) issue: IssueNumber,
}
