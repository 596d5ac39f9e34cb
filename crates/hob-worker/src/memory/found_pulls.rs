//! The memory of pull requests in review, so that each is read again only if something about it may have changed.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use hob_domain::{PullNumber, Sha, Timestamp};
use hob_forge::OpenPull;
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::memory::bounded_map::BoundedMap;

/// How long found checks count. A check that ends changes nothing else of a pull request.
const CHECKS_STAY: Duration = Duration::from_secs(30);
/// Pull requests that are remembered at most.
const KEPT: usize = 5_000;

/// A pull request as it was found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) open: OpenPull,
    /// The tip of its base branch then.
    pub(crate) tip: Sha,
    /// The forge's time then.
    pub(crate) asked_at: Timestamp,
    /// The look that found it.
    asked: Look,
    /// The look that found its checks to be as they are here.
    checked: Mutex<Look>,
}

/// A look at a pull request.
#[derive(Debug, Clone, Copy)]
struct Look {
    at: Instant,
    poll: u64,
}

/// Pull requests in review as they were found last.
#[derive(Debug, Default)]
pub(crate) struct FoundPulls {
    found: BoundedMap<PullNumber, Arc<Found>, KEPT>,
    polls: AtomicU64,
}

impl FoundPulls {
    /// The result of the last look.
    pub(crate) fn get(&self, number: PullNumber) -> Option<Arc<Found>> {
        self.found.get(&number)
    }

    /// Remembers what was found.
    pub(crate) fn note(&self, open: OpenPull, tip: Sha, asked_at: Timestamp) -> Arc<Found> {
        let (number, asked) = (open.pull.number, self.look());
        let found = Arc::new(Found { open, tip, asked_at, asked, checked: Mutex::new(asked) });
        self.found.insert(number, Arc::clone(&found));
        found
    }

    /// Starts a poll, so that earlier results count as seen.
    pub(crate) fn begin_poll(&self) {
        self.polls.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that its checks are as they were.
    pub(crate) fn note_same_checks(&self, found: &Found) {
        *found.checked.lock() = self.look();
    }

    /// Whether it was found in this poll, and lately.
    pub(crate) fn is_new(&self, found: &Found) -> bool {
        self.is_of_now(found.asked)
    }

    /// Whether its checks were found in this poll, and so lately that they need not be read.
    pub(crate) fn has_checks_of_now(&self, found: &Found) -> bool {
        self.is_of_now(*found.checked.lock())
    }

    fn look(&self) -> Look {
        Look { at: Instant::now(), poll: self.polls.load(Ordering::Relaxed) }
    }

    fn is_of_now(&self, look: Look) -> bool {
        look.poll == self.polls.load(Ordering::Relaxed) && look.at.elapsed() < CHECKS_STAY
    }
}

#[cfg(test)]
mod tests {
    use hob_domain::{MergeState, PullStatus};
    use hob_forge::Pull;

    use super::*;

    fn open(number: u64) -> OpenPull {
        let pull = Pull {
            number: PullNumber(number),
            status: PullStatus::Open,
            head: Sha::from("a"),
            base: Sha::from("b"),
            base_name: "main".to_owned(),
            merge: MergeState::Fits,
            html_url: String::new(),
        };
        OpenPull {
            pull,
            updated_at: Timestamp::UNIX_EPOCH,
            said: Vec::new(),
            comments: Vec::new(),
            remarks: Vec::new(),
            checks: None,
            ejected: None,
            is_whole: true,
            node: String::new(),
            outline: None,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn checks_that_were_found_count_in_the_same_poll_for_thirty_seconds() {
        let found = FoundPulls::default();
        assert!(found.get(PullNumber(1)).is_none());
        found.begin_poll();
        let noted = found.note(open(1), Sha::from("b"), Timestamp::UNIX_EPOCH);
        assert!(found.get(PullNumber(1)).is_some_and(|known| Arc::ptr_eq(&known, &noted)));
        tokio::time::advance(CHECKS_STAY - Duration::from_millis(1)).await;
        assert!(found.is_new(&noted));
        tokio::time::advance(Duration::from_millis(1)).await;
        assert!(!found.is_new(&noted));
        let noted = found.note(open(1), Sha::from("b"), Timestamp::UNIX_EPOCH);
        assert!(found.is_new(&noted));
        found.begin_poll();
        assert!(!found.is_new(&noted) && !found.has_checks_of_now(&noted), "another poll reads them again");
        found.note_same_checks(&noted);
        assert!(!found.is_new(&noted) && found.has_checks_of_now(&noted));
        tokio::time::advance(CHECKS_STAY).await;
        assert!(!found.has_checks_of_now(&noted));
    }
}
