//! The memory of finished ledgers, so that no poll reads them again.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use hob_domain::{IssueNumber, Sha};
use hob_forge::Tip;

/// Ledgers that are finished, by the tips at which they were found so: their number grows for ever, and no cache of
/// answers would hold them all. The first 64 bits of each tip are kept, which distinguish those of one issue.
#[derive(Debug, Default)]
pub(super) struct FinishedLedgers {
    tips: Mutex<BTreeMap<IssueNumber, u64>>,
    fetched: AtomicBool,
}

impl FinishedLedgers {
    /// Whether the ledger was finished at this tip.
    pub(super) fn has(&self, tip: &Tip) -> bool {
        let known = self.tips.lock().unwrap_or_else(PoisonError::into_inner).get(&tip.issue).copied();
        known.is_some() && known == begins(&tip.commit)
    }

    /// Remembers the ledger.
    pub(super) fn note(&self, tip: &Tip) {
        if let Some(begins) = begins(&tip.commit) {
            self.tips.lock().unwrap_or_else(PoisonError::into_inner).insert(tip.issue, begins);
        }
    }

    /// Whether they may be fetched: once a process, because later polls would only ask git again for what it does not
    /// tell now.
    pub(super) fn may_be_fetched(&self) -> bool {
        !self.fetched.swap(true, Ordering::Relaxed)
    }
}

/// The first 64 bits of a commit's name.
fn begins(commit: &Sha) -> Option<u64> {
    u64::from_str_radix(commit.as_str().get(..16)?, 16).ok()
}
