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

#[cfg(test)]
mod tests {
    use super::*;

    fn tip(issue: u64, commit: &str) -> Tip {
        Tip { issue: IssueNumber(issue), commit: Sha::from(commit) }
    }

    #[test]
    fn a_ledger_is_finished_at_the_tip_at_which_it_was_found_so() {
        let (first, other) = ("0123456789abcdef0000", "0123456789abcdee0000");
        let finished = FinishedLedgers::default();
        assert!(!finished.has(&tip(1, first)));
        finished.note(&tip(1, first));
        assert!(finished.has(&tip(1, first)) && !finished.has(&tip(1, other)) && !finished.has(&tip(2, first)));
        finished.note(&tip(1, other));
        assert!(!finished.has(&tip(1, first)) && finished.has(&tip(1, other)));
        // A text that is not a commit's name is never known.
        for odd in ["", "0123", "0123456789abcdeg0000"] {
            finished.note(&tip(3, odd));
            assert!(!finished.has(&tip(3, odd)), "{odd}");
        }
    }

    #[test]
    fn they_are_fetched_once() {
        let finished = FinishedLedgers::default();
        assert_eq!([(); 3].map(|()| finished.may_be_fetched()), [true, false, false]);
    }
}
