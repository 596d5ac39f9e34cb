//! The memory of issues whose state label Hob did not add, so that no poll asks for their ledger again.

use hob_domain::{IssueNumber, Timestamp};

use crate::memory::bounded_map::BoundedMap;

/// The most issues that are remembered: anyone who may set a label can make one.
const KEPT: usize = 5_000;

/// Issues with a state label, without a ledger and without traces of Hob, by the time of the last change at which they
/// were found so. A missing ledger answers 404, which counts against the quota each time.
#[derive(Debug, Default)]
pub(crate) struct LabelledByHand(BoundedMap<IssueNumber, Timestamp, KEPT>);

impl LabelledByHand {
    /// Whether the issue was found so as of this change.
    pub(crate) fn has(&self, issue: IssueNumber, updated_at: Timestamp) -> bool {
        self.0.get(&issue) == Some(updated_at)
    }

    /// Remembers the issue as of this change.
    pub(crate) fn note(&self, issue: IssueNumber, updated_at: Timestamp) {
        self.0.insert(issue, updated_at);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_issue_is_looked_up_again_after_a_change() {
        let (then, labelled) = (Timestamp::UNIX_EPOCH, LabelledByHand::default());
        assert!(!labelled.has(IssueNumber(1), then));
        labelled.note(IssueNumber(1), then);
        assert!(labelled.has(IssueNumber(1), then) && !labelled.has(IssueNumber(2), then));
        assert!(!labelled.has(IssueNumber(1), then + Duration::from_secs(1)));
    }
}
