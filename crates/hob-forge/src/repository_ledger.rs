//! The repository's own ledger: one ref beside those of the issues, moved by the same compare-and-set.
//!
//! # Flow
//! [`RepositoryLedger::change`] computes the next record from the last known one, writes it as a child of that commit,
//! and moves the ref. If another worker was faster, it reads the ref and begins again.
//!
//! # Guarantees
//! Each record follows from the one before it: of any number of workers that write at the same time, one wins each
//! round, and the others decide again on the basis of its record.

use std::{
    sync::{MutexGuard, PoisonError},
    time::Duration,
};

use hob_domain::{Full, Nonce, RepositoryRecord, Sha, Timestamp};
use tokio::time::Instant;

use crate::{
    Forge, ForgeError, RepositoryEntry,
    client::KnownRepository,
    purpose::Share,
    refs::{Step, advance, fresh_nonce, read_commit, read_ref},
};

/// Rounds that a worker may lose before it gives up for now.
const ROUNDS_MAX: u32 = 40;
/// How long the record counts as shared after another worker wrote it.
const SHARED_FOR: Duration = Duration::from_secs(3_600);

/// The result of a change to the previous record: the next one, a sentence for people, and an answer for the caller; or
/// the reason to change nothing.
pub type RepositoryChange<T, E = Full> = Result<(RepositoryRecord, String, T), E>;

/// What came of a change to the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Changed<T, E = Full> {
    /// It was written; the change's answer.
    Written(T),
    /// The change refused the current record.
    Refused(E),
}

impl<T, E> Changed<T, E> {
    /// The change's answer, if it was written.
    pub fn written(self) -> Option<T> {
        match self {
            Self::Written(answer) => Some(answer),
            Self::Refused(_) => None,
        }
    }
}

/// A change of the record that is not written yet.
#[derive(Debug)]
pub(super) struct Prepared<T> {
    from: Option<Sha>,
    pub(super) record: RepositoryRecord,
    message: String,
    pub(super) answer: T,
}

impl<T> Prepared<T> {
    pub(super) fn step<'a>(&'a self, tree: &'a Sha) -> Step<'a> {
        step(self.from.as_ref(), tree, &self.message)
    }
}

fn step<'a>(from: Option<&'a Sha>, tree: &'a Sha, message: &'a str) -> Step<'a> {
    let (write, advance) = ("write the repository's ledger", "move the repository's ledger");
    Step { name: "repository", from, tree, message, write, advance }
}

/// The repository's own ledger.
#[derive(Debug, Clone, Copy)]
pub struct RepositoryLedger<'a> {
    pub(super) forge: &'a Forge,
}

impl RepositoryLedger<'_> {
    /// The record at a tip that was listed with the issues' ledgers. `None` if there is none yet.
    ///
    /// # Errors
    /// [`ForgeError::RepositoryRecord`] if it cannot be read.
    pub async fn entry(self, tip: Option<&Sha>) -> Result<Option<RepositoryEntry>, ForgeError> {
        let known = self.known_entry();
        if known.as_ref().is_some_and(|known| tip != Some(&known.commit)) {
            self.state().others_wrote = Some(self.forge.now());
        }
        let entry = match (tip, known) {
            (None, _) => None,
            (Some(commit), Some(known)) if known.commit == *commit => Some(known),
            (Some(commit), _) => Some(self.read_entry(commit).await?),
        };
        self.remember(entry.clone());
        Ok(entry)
    }

    /// Whether another worker has written the record within the last hour.
    pub fn is_shared(self) -> bool {
        self.state().others_wrote.is_some_and(|at| self.forge.now() < at + SHARED_FOR)
    }

    /// The record as it was last read or written; others may have changed it meanwhile.
    pub fn known(self) -> Option<RepositoryRecord> {
        self.known_entry().map(|entry| entry.record)
    }

    /// The current record.
    ///
    /// # Errors
    /// [`ForgeError::RepositoryRecord`] if it cannot be read.
    pub async fn latest(self) -> Result<Option<RepositoryRecord>, ForgeError> {
        Ok(self.read_tip().await?.map(|entry| entry.record))
    }

    /// Changes the record. `change` may be called several times, each time with the current record.
    ///
    /// # Errors
    /// [`ForgeError`] of a call, or [`ForgeError::Crowded`] if others were faster too often.
    pub async fn change<T>(
        self,
        tree: &Sha,
        change: impl Fn(Option<&RepositoryRecord>, Nonce, Timestamp) -> RepositoryChange<T>,
    ) -> Result<Changed<T>, ForgeError> {
        self.change_unless(tree, change).await
    }

    /// The same for a change that can refuse for a reason of its own.
    ///
    /// # Errors
    /// As for [`Self::change`].
    pub async fn change_unless<T, E>(
        self,
        tree: &Sha,
        change: impl Fn(Option<&RepositoryRecord>, Nonce, Timestamp) -> RepositoryChange<T, E>,
    ) -> Result<Changed<T, E>, ForgeError> {
        // A lost round costs two writes and two reads, so the ref is read first if others write, too.
        let (mut fresh, mut tried) = (self.is_shared(), 0);
        for round in 0..ROUNDS_MAX {
            let began = Instant::now();
            let before = if fresh { self.read_tip().await? } else { self.known_entry() };
            let record = before.as_ref().map(|entry| &entry.record);
            let (record, sentence, answer) = match change(record, fresh_nonce(), self.forge.now()) {
                Ok(next) => next,
                // The known record may be old; only the tip is a valid reason to refuse.
                Err(_) if !fresh => {
                    fresh = true;
                    continue;
                }
                Err(reason) => return Ok(Changed::Refused(reason)),
            };
            fresh = true;
            match self.follow(before.as_ref(), tree, record, &sentence).await {
                Ok(true) => return Ok(Changed::Written(answer)),
                Ok(false) => {
                    self.state().others_wrote = Some(self.forge.now());
                    let pause = self.forge.connection().transport.pause_of_round(round, began.elapsed());
                    tokio::time::sleep(pause).await;
                }
                Err(error) => {
                    let Some(pause) = self.forge.pause_after(&error, tried) else { return Err(error) };
                    self.forge.wait(&error, pause).await;
                    tried += 1;
                }
            }
        }
        Err(ForgeError::Crowded)
    }

    /// The change's step, for one push with a step of an issue's ledger. `None` if the change refuses the record.
    ///
    /// # Errors
    /// [`ForgeError::RepositoryRecord`] if the record cannot be read.
    pub(super) async fn prepare<T, E>(
        self,
        change: impl Fn(Option<&RepositoryRecord>, Nonce, Timestamp) -> RepositoryChange<T, E>,
    ) -> Result<Option<Prepared<T>>, ForgeError> {
        let before = if self.is_shared() { self.read_tip().await? } else { self.known_entry() };
        let record = before.as_ref().map(|entry| &entry.record);
        let Ok((record, sentence, answer)) = change(record, fresh_nonce(), self.forge.now()) else { return Ok(None) };
        let message = record.to_message(&sentence)?;
        Ok(Some(Prepared { from: before.map(|entry| entry.commit), record, message, answer }))
    }

    /// Keeps what a push of a prepared step wrote.
    pub(super) fn wrote(self, commit: Sha, record: RepositoryRecord) {
        self.remember(Some(RepositoryEntry { commit, record }));
    }

    /// Writes `record` after `before`; `false` if another worker was faster.
    async fn follow(
        self,
        before: Option<&RepositoryEntry>,
        tree: &Sha,
        record: RepositoryRecord,
        sentence: &str,
    ) -> Result<bool, ForgeError> {
        let message = record.to_message(sentence)?;
        let step = step(before.map(|entry| &entry.commit), tree, &message);
        match advance(self.forge, step, Share::Common).await {
            Ok(Some(commit)) => {
                self.remember(Some(RepositoryEntry { commit, record }));
                Ok(true)
            }
            // Or it was deleted by hand: the next round creates it again.
            Ok(None) => Ok(false),
            // The ref has not moved, but still may: the next round reads it first.
            Err(error) if error.outcome_is_unknown() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Reads the ref and its record.
    async fn read_tip(self) -> Result<Option<RepositoryEntry>, ForgeError> {
        let tip = read_ref(self.forge, "repository", "read the repository's ledger").await?;
        self.entry(tip.as_ref()).await
    }

    async fn read_entry(self, commit: &Sha) -> Result<RepositoryEntry, ForgeError> {
        let wire = read_commit(self.forge, commit, "read the repository's ledger").await?;
        let record = RepositoryRecord::from_message(&wire.message).map_err(ForgeError::RepositoryRecord)?;
        Ok(RepositoryEntry { commit: wire.sha, record })
    }

    fn known_entry(self) -> Option<RepositoryEntry> {
        self.state().entry.clone()
    }

    fn remember(self, entry: Option<RepositoryEntry>) {
        self.state().entry = entry;
    }

    fn state(&self) -> MutexGuard<'_, KnownRepository> {
        self.forge.repository.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
