//! What is known of a repository from afar, without a poll.

use std::time::Duration;

use hob_domain::{RepoName, Timestamp};
use hob_forge::Outline;
use tokio::time::Instant;

use crate::schedule::poll::Poll;

/// How long a repository may be passed over.
const UNREAD_MAX: Duration = Duration::from_secs(1_800);
/// News that are younger may have been missing in the answers to a poll.
const SETTLED: Duration = Duration::from_secs(60);

/// What repositories are like from afar.
pub(super) struct Outlines {
    pub(super) repos: Vec<RepoName>,
    /// In the order of the repositories; `None` of one that says nothing.
    pub(super) outlines: Vec<Option<Outline>>,
}

/// What a queue knows of its repository from afar.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// As it was before the last poll.
    outline: Option<Outline>,
    /// Whether that poll left nothing to wait for but news.
    is_still: bool,
    polled_at: Option<Instant>,
    /// Whether it was asked about since the last poll.
    pub(super) is_asked: bool,
}

impl Seen {
    /// When the last poll began.
    pub(super) fn polled_at(&self) -> Option<Instant> {
        self.polled_at
    }

    /// Notes the beginning of a poll.
    pub(super) fn polls(&mut self) {
        *self = Self { outline: self.outline.take(), polled_at: Some(Instant::now()), ..Self::default() };
    }

    /// Notes what the poll found.
    pub(super) fn polled(&mut self, found: &Poll, now: Timestamp) {
        let changed = self.outline.as_ref().and_then(Outline::changed_at);
        self.is_still = found.is_still && changed.is_none_or(|at| at + SETTLED < now);
    }

    /// Whether nothing came since the last poll; if something may have, the outline is kept for the next one.
    pub(super) fn is_as_before(&mut self, outline: Option<Outline>) -> bool {
        let is_fresh = self.polled_at.is_some_and(|at| at.elapsed() < UNREAD_MAX);
        let is_same = outline.is_some() && outline == self.outline;
        self.outline = outline;
        self.is_still && is_fresh && is_same
    }
}
