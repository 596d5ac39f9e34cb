//! The memory of finished ledgers, so that no poll reads them again.

use std::sync::atomic::{AtomicBool, Ordering};

use hob_domain::{FinishedList, Sha};
use hob_forge::Tip;
use parking_lot::Mutex;

/// Ledgers that are remembered at most, those with the highest numbers: a few tens of megabytes.
const KEPT: usize = 1_000_000;

/// Ledgers that are finished. Their number only grows, and no cache of answers would hold them all.
#[derive(Debug, Default)]
pub(crate) struct FinishedLedgers {
    known: Mutex<FinishedList>,
    fetched: AtomicBool,
    listed: Mutex<Listed>,
}

/// What the repository's list has.
#[derive(Debug, Default)]
struct Listed {
    /// Where the list was read. `None` if there was none.
    tip: Option<Sha>,
    ledgers: usize,
    /// Set once the list could not be read or written.
    is_off: bool,
}

impl FinishedLedgers {
    /// Whether the ledger was finished at this tip.
    pub(crate) fn has(&self, tip: &Tip) -> bool {
        self.known.lock().has(tip.issue, &tip.commit)
    }

    /// Remembers the ledger.
    pub(crate) fn note(&self, tip: &Tip) {
        let mut known = self.known.lock();
        known.note(tip.issue, &tip.commit);
        known.keep(KEPT);
    }

    /// Whether they may be fetched: once a process, because later polls would only ask git again for what it does not
    /// tell now.
    pub(crate) fn may_be_fetched(&self) -> bool {
        !self.fetched.swap(true, Ordering::Relaxed)
    }

    /// Whether the list at this tip was read.
    pub(crate) fn has_read(&self, tip: Option<&Sha>) -> bool {
        self.listed.lock().tip.as_ref() == tip
    }

    /// Notes the list at a tip. What it has is known from now on if `learns`.
    pub(crate) fn note_list(&self, tip: &Sha, list: &FinishedList, learns: bool) {
        let is_off = self.listed.lock().is_off;
        *self.listed.lock() = Listed { tip: Some(tip.clone()), ledgers: list.len(), is_off };
        if learns {
            let mut known = self.known.lock();
            known.learn(list);
            known.keep(KEPT);
        }
    }

    /// Leaves the list alone from now on.
    pub(crate) fn give_list_up(&self) {
        self.listed.lock().is_off = true;
    }

    /// The next list, of those of these tips that are known to be finished. `None` while that adds less than one in twenty, or than
    /// `fewest`: each list has all of them.
    pub(crate) fn next_list(&self, tips: &[Tip], fewest: usize) -> Option<FinishedList> {
        let listed = self.listed.lock();
        let wanted = listed.ledgers + fewest.max(listed.ledgers / 20);
        if listed.is_off || self.known.lock().len() < wanted {
            return None;
        }
        let mut list = FinishedList::default();
        for tip in tips.iter().filter(|tip| self.has(tip)) {
            list.note(tip.issue, &tip.commit);
        }
        Some(list).filter(|list| list.len() >= wanted)
    }
}

#[cfg(test)]
mod tests {
    use hob_domain::IssueNumber;

    use super::*;

    fn tips(range: std::ops::Range<u64>) -> Vec<Tip> {
        range.map(|issue| Tip { issue: IssueNumber(issue), commit: Sha(format!("{issue:040x}")) }).collect()
    }

    /// Tips whose first 64 bits differ.
    fn moved(range: std::ops::Range<u64>) -> Vec<Tip> {
        range.map(|issue| Tip { issue: IssueNumber(issue), commit: Sha(format!("ff{issue:038x}")) }).collect()
    }

    #[test]
    fn they_are_fetched_once() {
        let finished = FinishedLedgers::default();
        assert_eq!([(); 3].map(|()| finished.may_be_fetched()), [true, false, false]);
    }

    #[test]
    fn a_list_is_due_when_it_adds_enough_of_what_is_there() {
        let (finished, commit) = (FinishedLedgers::default(), Sha::from("list"));
        let due = |all: &[Tip]| finished.next_list(all, 20).map(|list| list.len());
        tips(0..19).iter().for_each(|tip| finished.note(tip));
        assert_eq!(due(&tips(0..100)), None);
        tips(19..1000).iter().for_each(|tip| finished.note(tip));
        assert_eq!((due(&tips(0..100)), due(&tips(0..19)), due(&moved(0..100))), (Some(100), None, None));
        let list = finished.next_list(&tips(0..1000), 20).unwrap();
        assert!(!finished.has_read(Some(&commit)) && finished.has_read(None));
        finished.note_list(&commit, &list, false);
        assert!(finished.has_read(Some(&commit)) && !finished.has_read(None));
        tips(1000..1049).iter().for_each(|tip| finished.note(tip));
        assert_eq!(due(&tips(0..2000)), None, "one in twenty is 50");
        tips(1049..1050).iter().for_each(|tip| finished.note(tip));
        assert_eq!(due(&tips(0..2000)), Some(1050));
        finished.give_list_up();
        assert_eq!(due(&tips(0..2000)), None);
    }

    #[test]
    fn a_list_is_only_learned_from_if_nobody_needs_what_the_ledgers_say() {
        let mut list = FinishedList::default();
        let tip = &tips(7..8)[0];
        list.note(tip.issue, &tip.commit);
        for learns in [true, false] {
            let finished = FinishedLedgers::default();
            finished.note_list(&Sha::from("list"), &list, learns);
            assert_eq!(finished.has(tip), learns);
        }
    }
}
