//! The memory of issues without news that wait for a person, a review or a job, so that they are not read again and again.

use std::time::Duration;

use hob_domain::{IssueNumber, IssueView, Timestamp};

use crate::memory::bounded_map::BoundedMap;

/// Issues that are remembered at most.
const KEPT: usize = 20_000;
/// The least age of the last change: lists of comments may lag behind the issue's own times and counts.
const SETTLED: Duration = Duration::from_secs(60);
/// How long a look counts: a person who answered in vain may have got the permission since.
const LOOK_AGAIN: Duration = Duration::from_secs(3_600);

/// Issues as of the last look at them.
#[derive(Debug, Default)]
pub(crate) struct LookedAt(BoundedMap<IssueNumber, Look, KEPT>);

/// The state of an issue at a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Look {
    updated_at: Timestamp,
    /// The same of its pull request, in whose conversation a comment does not change the issue.
    pull_updated_at: Option<Timestamp>,
    comments: u64,
    /// When its ledger was written last.
    renewed_at: Timestamp,
    at: Timestamp,
}

impl Look {
    /// `None` if the list may not show everything about the issue that may have changed.
    fn new(view: &IssueView, at: Timestamp) -> Option<Self> {
        let has_pull = view.record.as_ref().is_some_and(|record| record.pull.number.is_some());
        if has_pull && view.pull_updated_at.is_none() {
            return None;
        }
        let renewed_at = view.record.as_ref().map_or(Timestamp::UNIX_EPOCH, |record| record.renewed_at);
        let IssueView { updated_at, pull_updated_at, comments, .. } = *view;
        Some(Self { updated_at, pull_updated_at, comments, renewed_at, at })
    }

    /// The same; `None` also if the lists may lag behind the issue's last change.
    fn settled(view: &IssueView, now: Timestamp) -> Option<Self> {
        let is_settled =
            |look: &Self| Some(look.updated_at).max(look.pull_updated_at).is_none_or(|at| at + SETTLED < now);
        Self::new(view, now).filter(is_settled)
    }
}

impl LookedAt {
    /// Whether nothing can have been said on the issue since the last look.
    pub(crate) fn is_quiet(&self, view: &IssueView, now: Timestamp) -> bool {
        let Some(before) = self.0.get(&view.number) else { return false };
        now < before.at + LOOK_AGAIN && Look::new(view, before.at) == Some(before)
    }

    /// Whether a look at the issue in that state may be remembered.
    pub(crate) fn may_be_noted(view: &IssueView, now: Timestamp) -> bool {
        Look::settled(view, now).is_some()
    }

    /// Remembers that nothing was found on the issue in that state.
    pub(crate) fn note(&self, view: &IssueView, now: Timestamp) {
        if let Some(look) = Look::settled(view, now) {
            self.0.insert(view.number, look);
        }
    }
}

#[cfg(test)]
mod tests {
    use hob_domain::{Claimant, IssueStatus, PullLog, PullNumber, acquire};

    use super::*;

    fn at(seconds: u64) -> Timestamp {
        Timestamp::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    /// A blocked issue with two comments that changed last at second 100.
    fn view() -> IssueView {
        let lease = Duration::from_secs(300);
        let claimant = Claimant { worker: "w".into(), nonce: "n".into(), duration: lease, skew: lease, bill: None };
        IssueView {
            number: IssueNumber(7),
            title: String::new(),
            labels: Vec::new(),
            status: IssueStatus::Open,
            created_at: at(0),
            updated_at: at(100),
            comments: 2,
            record: Some(acquire(None, IssueNumber(7), &claimant, at(50)).unwrap()),
            assignees: Vec::new(),
            blockers: Vec::new(),
            begun: Vec::new(),
            pull: None,
            is_dashboard: false,
            review: None,
            goes_on: None,
            has_command_on_pull: false,
            is_quiet: false,
            pull_updated_at: None,
        }
    }

    #[test]
    fn an_issue_is_quiet_until_it_changes_or_an_hour_is_over() {
        let looked = LookedAt::default();
        assert!(!looked.is_quiet(&view(), at(200)));
        looked.note(&view(), at(200));
        assert!(looked.is_quiet(&view(), at(200)) && looked.is_quiet(&view(), at(3_799)));
        assert!(!looked.is_quiet(&view(), at(3_800)));
        let written = view().record.map(|record| hob_domain::Record { renewed_at: at(101), ..record });
        for news in [
            IssueView { updated_at: at(101), ..view() },
            IssueView { comments: 3, ..view() },
            IssueView { pull_updated_at: Some(at(100)), ..view() },
            IssueView { number: IssueNumber(8), ..view() },
            IssueView { record: written, ..view() },
            IssueView { record: None, ..view() },
        ] {
            assert!(!looked.is_quiet(&news, at(200)), "{news:?}");
        }
    }

    #[test]
    fn what_the_list_may_not_show_yet_is_looked_at_again() {
        let in_review = view().record.map(|record| hob_domain::Record { pull: PullLog::of(PullNumber(9)), ..record });
        for (view, now, is_kept) in [
            (view(), at(160), false),
            (view(), at(161), true),
            (IssueView { record: in_review.clone(), ..view() }, at(900), false),
            (IssueView { record: in_review.clone(), pull_updated_at: Some(at(839)), ..view() }, at(900), true),
            (IssueView { record: in_review, pull_updated_at: Some(at(840)), ..view() }, at(900), false),
        ] {
            let looked = LookedAt::default();
            looked.note(&view, now);
            assert_eq!(looked.is_quiet(&view, now), is_kept, "{now} {view:?}");
        }
    }
}
