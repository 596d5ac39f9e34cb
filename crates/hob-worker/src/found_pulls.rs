//! The memory of pull requests in review, so that each is read again only if something about it may have changed.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use hob_domain::{PullNumber, Sha, Timestamp};
use hob_forge::OpenPull;
use tokio::time::Instant;

/// How long found checks count. A check that ends changes nothing else of a pull request.
const CHECKS_STAY: Duration = Duration::from_secs(30);
/// Pull requests that are remembered at most.
const KEPT: usize = 5_000;

/// A pull request as it was found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) open: OpenPull,
    /// The tip of its base branch then.
    pub(super) tip: Sha,
    /// The forge's time then.
    pub(super) asked_at: Timestamp,
    asked: Instant,
    poll: u64,
}

/// Pull requests in review as they were found last.
#[derive(Debug, Default)]
pub(super) struct FoundPulls {
    found: Mutex<HashMap<PullNumber, Arc<Found>>>,
    polls: AtomicU64,
}

impl FoundPulls {
    /// The result of the last look.
    pub(super) fn get(&self, number: PullNumber) -> Option<Arc<Found>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).get(&number).cloned()
    }

    /// Remembers what was found.
    pub(super) fn note(&self, open: OpenPull, tip: Sha, asked_at: Timestamp) -> Arc<Found> {
        let (number, poll) = (open.pull.number, self.polls.load(Ordering::Relaxed));
        let found = Arc::new(Found { open, tip, asked_at, asked: Instant::now(), poll });
        let mut all = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= KEPT {
            all.clear();
        }
        all.insert(number, Arc::clone(&found));
        found
    }

    /// Starts a poll, so that earlier results count as seen.
    pub(super) fn begin_poll(&self) {
        self.polls.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether it was found in this poll, and so lately that its checks need not be read.
    pub(super) fn is_new(&self, found: &Found) -> bool {
        found.poll == self.polls.load(Ordering::Relaxed) && found.asked.elapsed() < CHECKS_STAY
    }
}
