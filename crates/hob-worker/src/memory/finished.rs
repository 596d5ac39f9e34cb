//! The memory of finished ledgers, so that no poll reads them again.

use std::sync::atomic::{AtomicBool, Ordering};

use hob_domain::{IssueNumber, Sha};
use hob_forge::Tip;

use crate::memory::bounded_map::BoundedMap;

/// Ledgers that are remembered at most: a few tens of megabytes.
const KEPT: usize = 1_000_000;

/// Ledgers that are finished, by the tips at which they were found so. Their number only grows, and no cache of answers
/// would hold them all. The first 64 bits of each tip are kept, which distinguish those of one issue.
#[derive(Debug, Default)]
pub(crate) struct FinishedLedgers {
    tips: BoundedMap<IssueNumber, u64, KEPT>,
    fetched: AtomicBool,
}

impl FinishedLedgers {
    /// Whether the ledger was finished at this tip.
    pub(crate) fn has(&self, tip: &Tip) -> bool {
        let known = self.tips.get(&tip.issue);
        known.is_some() && known == begins(&tip.commit)
    }

    /// Remembers the ledger.
    pub(crate) fn note(&self, tip: &Tip) {
        if let Some(begins) = begins(&tip.commit) {
            self.tips.insert(tip.issue, begins);
        }
    }

    /// Whether they may be fetched: once a process, because later polls would only ask git again for what it does not
    /// tell now.
    pub(crate) fn may_be_fetched(&self) -> bool {
        !self.fetched.swap(true, Ordering::Relaxed)
    }
}

/// The first 64 bits of a commit's name.
fn begins(commit: &Sha) -> Option<u64> {
    u64::from_str_radix(commit.as_str().get(..16)?, 16).ok()
}
