//! The memory of the pull requests and branches of issues that wait for people: no list shows when these change.

use std::time::Duration;

use hob_domain::{IssueNumber, OthersWork, Timestamp};

use crate::memory::bounded_map::BoundedMap;

/// Issues that are remembered at most.
const KEPT: usize = 2_000;
/// How long a look counts: each is a query, and most of these issues wait for days.
const LOOK_AGAIN: Duration = Duration::from_secs(120);

/// What was linked to each issue at the last look, and when that was.
#[derive(Debug, Default)]
pub(crate) struct Linked(BoundedMap<IssueNumber, (Timestamp, OthersWork), KEPT>);

impl Linked {
    /// What was linked, if a look counts still.
    pub(crate) fn get(&self, issue: IssueNumber, now: Timestamp) -> Option<OthersWork> {
        self.0.get(&issue).filter(|(at, _)| now < *at + LOOK_AGAIN).map(|(_, linked)| linked)
    }

    /// Remembers what is linked.
    pub(crate) fn note(&self, issue: IssueNumber, linked: OthersWork, now: Timestamp) {
        self.0.insert(issue, (now, linked));
    }
}
