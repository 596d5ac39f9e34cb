//! The memory of blocked issues without news, so that they are not read again and again.

use std::time::Duration;

use hob_domain::{IssueNumber, IssueView, Timestamp};

use crate::memory::bounded_map::BoundedMap;

/// Issues that are remembered at most.
const KEPT: usize = 20_000;
/// The least age of the last change: lists of comments may lag behind the issue's own times and counts.
const SETTLED: Duration = Duration::from_secs(60);
/// How long a look counts: a person who answered in vain may have got the permission since.
const LOOK_AGAIN: Duration = Duration::from_secs(3_600);

/// Blocked issues as of the last look at them.
#[derive(Debug, Default)]
pub(crate) struct LookedAt(BoundedMap<IssueNumber, Look, KEPT>);

/// The state of an issue at a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Look {
    updated_at: Timestamp,
    comments: u64,
    /// When its ledger was written last.
    renewed_at: Timestamp,
    at: Timestamp,
}

impl Look {
    /// `None` if the list may not show everything about the issue that may have changed.
    fn new(view: &IssueView, at: Timestamp) -> Option<Self> {
        // A comment in its pull request's conversation does not change the issue.
        let record = view.record.as_ref().filter(|record| record.pull_request.is_none())?;
        let (updated_at, comments, renewed_at) = (view.updated_at, view.comments, record.renewed_at);
        Some(Self { updated_at, comments, renewed_at, at })
    }
}

impl LookedAt {
    /// Whether nothing can have been said on the issue since the last look.
    pub(crate) fn is_quiet(&self, view: &IssueView, now: Timestamp) -> bool {
        let Some(before) = self.0.get(&view.number) else { return false };
        now < before.at + LOOK_AGAIN && Look::new(view, before.at) == Some(before)
    }

    /// Remembers that nothing was found on the issue in that state.
    pub(crate) fn note(&self, view: &IssueView, now: Timestamp) {
        if let Some(look) = Look::new(view, now).filter(|look| look.updated_at + SETTLED < now) {
            self.0.insert(view.number, look);
        }
    }
}
