//! What is known of a repository from afar, without a poll.

use std::{collections::BTreeMap, time::Duration};

use hob_domain::{RepoName, Timestamp};
use hob_forge::{Outline, PullOutline};
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
    /// Those of pull requests, by their ids in GraphQL.
    pub(super) pulls: BTreeMap<String, PullOutline>,
}

/// What a queue knows of its repository from afar.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// As it was before the last poll.
    outline: Option<Outline>,
    /// What its pull requests were like then, as far as they had been asked about.
    pulls: BTreeMap<String, PullOutline>,
    /// If that poll left nothing to wait for but news and checks, the pull requests with those, as they were before it or in it.
    still: Option<BTreeMap<String, PullOutline>>,
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
        let (outline, pulls) = (self.outline.take(), std::mem::take(&mut self.pulls));
        *self = Self { outline, pulls, polled_at: Some(Instant::now()), ..Self::default() };
    }

    /// Notes what the poll found.
    pub(super) fn polled(&mut self, found: &Poll, now: Timestamp) {
        let changed = self.outline.as_ref().and_then(Outline::changed_at);
        let is_settled = changed.is_none_or(|at| at + SETTLED < now);
        // What was told before the poll is older than what it found, or the poll knew it from an earlier one.
        let before = std::mem::take(&mut self.pulls);
        let watched = found.still.as_ref().filter(|_| is_settled);
        self.still = watched.map(|watched| {
            let pulls = watched.iter().map(|one| (&one.node, before.get(&one.node).unwrap_or(&one.outline)));
            pulls.map(|(node, outline)| (node.clone(), outline.clone())).collect()
        });
    }

    /// Whether the last poll left nothing to wait for but news and checks.
    pub(super) fn is_still(&self) -> bool {
        self.still.is_some()
    }

    /// The ids of the pull requests to ask about.
    pub(super) fn pulls(&self) -> impl Iterator<Item = &String> {
        self.still.iter().flat_map(BTreeMap::keys)
    }

    /// Whether nothing came since the last poll; if something may have, what they are like is kept for the next one.
    pub(super) fn is_as_before(&mut self, outline: Option<Outline>, pulls: &BTreeMap<String, PullOutline>) -> bool {
        let is_fresh = self.polled_at.is_some_and(|at| at.elapsed() < UNREAD_MAX);
        let is_same = outline.is_some() && outline == self.outline;
        self.outline = outline;
        let Some(still) = &self.still else { return false };
        let is_as_before = is_fresh && is_same && still.iter().all(|(node, before)| pulls.get(node) == Some(before));
        if !is_as_before {
            self.pulls = still.keys().filter_map(|node| Some((node.clone(), pulls.get(node)?.clone()))).collect();
        }
        is_as_before
    }
}
