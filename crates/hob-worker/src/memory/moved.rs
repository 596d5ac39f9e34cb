//! The memory of ledgers that moved after the poll that found their issues ready: other workers have those issues, and a look at each would
//! only say so.

use std::collections::{BTreeMap, BTreeSet};

use hob_domain::{IssueNumber, Sha};
use hob_forge::Tip;
use parking_lot::Mutex;

/// The most ledgers of a repository: the list has all that ever were, and a longer one costs more than a look at an issue.
const LISTED: usize = 1_000;

/// The issues that the last poll found ready.
#[derive(Debug, Default)]
pub(crate) struct Moved(Mutex<BTreeMap<IssueNumber, Ledger>>);

#[derive(Debug)]
struct Ledger {
    /// Where it was at the poll. `None` if there was none.
    found: Option<Sha>,
    has_moved: bool,
}

impl Moved {
    /// Notes the issues that a poll found ready, beside the ledgers that it found.
    pub(crate) fn found(&self, ready: &[IssueNumber], tips: &[Tip]) {
        let mut known = self.0.lock();
        known.clear();
        if tips.len() > LISTED {
            return;
        }
        known.extend(ready.iter().map(|issue| (*issue, Ledger { found: None, has_moved: false })));
        for tip in tips {
            if let Some(ledger) = known.get_mut(&tip.issue) {
                ledger.found = Some(tip.commit.clone());
            }
        }
    }

    /// Notes where ledgers are now.
    pub(crate) fn note(&self, tips: &[Tip]) {
        let mut known = self.0.lock();
        let mut gone: BTreeSet<IssueNumber> = known.keys().copied().collect();
        for tip in tips {
            gone.remove(&tip.issue);
            if let Some(ledger) = known.get_mut(&tip.issue) {
                ledger.has_moved |= ledger.found.as_ref() != Some(&tip.commit);
            }
        }
        for issue in gone {
            if let Some(ledger) = known.get_mut(&issue) {
                ledger.has_moved |= ledger.found.is_some();
            }
        }
    }

    /// Whether the issue's ledger has moved. `None` if that is not known of it.
    pub(crate) fn has(&self, issue: IssueNumber) -> Option<bool> {
        self.0.lock().get(&issue).map(|ledger| ledger.has_moved)
    }

    /// Forgets an issue whose ledger this worker itself has moved.
    pub(crate) fn forget(&self, issue: IssueNumber) {
        self.0.lock().remove(&issue);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tips(all: &[(u64, &str)]) -> Vec<Tip> {
        all.iter().map(|(issue, commit)| Tip { issue: IssueNumber(*issue), commit: Sha::from(*commit) }).collect()
    }

    #[test]
    fn a_ledger_that_came_moved_or_went_after_the_poll_has_moved() {
        let moved = Moved::default();
        let has = || [1, 2, 3, 4, 5].map(|issue| moved.has(IssueNumber(issue)));
        let ready: Vec<_> = (1..5).map(IssueNumber).collect();
        moved.found(&ready, &tips(&[(1, "a"), (2, "a"), (3, "a"), (5, "a")]));
        assert_eq!(has(), [Some(false), Some(false), Some(false), Some(false), None]);
        moved.note(&tips(&[(1, "a"), (2, "b"), (4, "a"), (5, "b")]));
        assert_eq!(has(), [Some(false), Some(true), Some(true), Some(true), None]);
        moved.forget(IssueNumber(2));
        moved.note(&tips(&[(1, "a"), (2, "b"), (3, "a")]));
        assert_eq!(has(), [Some(false), None, Some(true), Some(true), None], "what has moved once is another worker's");
        moved.found(&ready[..1], &tips(&[(1, "a")]));
        assert_eq!(has(), [Some(false), None, None, None, None]);
    }

    #[test]
    fn of_very_many_ledgers_no_list_is_read() {
        let moved = Moved::default();
        let all: Vec<_> = (1..=LISTED as u64 + 1).map(|n| (n, "a")).collect();
        moved.found(&[IssueNumber(1)], &tips(&all[1..]));
        assert_eq!(moved.has(IssueNumber(1)), Some(false));
        moved.found(&[IssueNumber(1)], &tips(&all));
        assert_eq!(moved.has(IssueNumber(1)), None);
    }
}
