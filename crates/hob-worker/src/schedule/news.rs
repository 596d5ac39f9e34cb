//! Many repositories: one query says which of them have news, and one which of their pull requests, and only those are polled.
//!
//! # Guarantees
//! A repository is passed over only if its last poll found nothing that could change by itself, and what is seen from afar has been the
//! same since before that poll. It is polled twice an hour in any case.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use hob_domain::RepoName;
use hob_forge::{NEWS_MAX, outlines, pull_outlines};
use tokio::time::Instant;

use crate::schedule::{
    poll::Scope,
    repository_queue::{PollState, RepositoryQueue},
    scheduler::{Completed, Mode, Scheduler},
    seen::Outlines,
    turns::shared,
    wake::News,
};

/// The fewest repositories that are asked about in one query: fewer are polled at once, since answers without news are free.
const NEWS_MIN: usize = 5;

impl Scheduler {
    /// Lets a repository with news be polled, unless they are of Hob's own deed.
    pub(super) fn wake(&mut self, news: &News) {
        if news.sender.is_some() && news.sender == self.connection.known_login() {
            return;
        }
        if let Some((repo, queue)) = self.queues.iter_mut().find(|(repo, _)| repo.is(&news.repo)) {
            tracing::debug!(%repo, "news came: it is polled");
            queue.wake();
        }
    }

    /// Asks which of the repositories whose polls are due have news, if they are many; whether the polls wait for that.
    pub(super) fn asks_for_news(&mut self, now: Instant) -> bool {
        if self.mode == Mode::Once || !matches!(self.scope, Scope::All) {
            return false;
        }
        if self.queues.values().any(|queue| queue.poll == PollState::Asking) {
            return true;
        }
        let is_due = |queue: &RepositoryQueue| queue.due().is_some_and(|due| due <= now) && !queue.seen.is_asked;
        let due = self.queues.iter().filter(|(_, queue)| is_due(queue)).map(|(repo, _)| repo.clone());
        let due: Vec<RepoName> = due.take(NEWS_MAX).collect();
        if due.len() < NEWS_MIN {
            return false;
        }
        for repo in &due {
            if let Some(queue) = self.queues.get_mut(repo) {
                queue.poll = PollState::Asking;
            }
        }
        let queues = due.iter().filter_map(|repo| self.queues.get(repo));
        let pulls: Vec<String> = queues.flat_map(|queue| queue.seen.pulls().cloned()).collect();
        let connection = self.connection.clone();
        let task = async move {
            let ids: Vec<&str> = pulls.iter().map(String::as_str).collect();
            let asked = async { (outlines(&connection, &due).await, pull_outlines(&connection, &ids).await) };
            // Without an answer each of them is polled.
            let (found, told) = AssertUnwindSafe(asked)
                .catch_unwind()
                .await
                .map_or_else(|_panic| (None, None), |(found, told)| (found.ok(), told.ok()));
            let outlines = found.unwrap_or_else(|| vec![None; due.len()]);
            let told = pulls.into_iter().zip(told.unwrap_or_default());
            let pulls = told.filter_map(|(id, outline)| Some((id, outline?))).collect();
            Completed::Outlines(Outlines { repos: due, outlines, pulls })
        };
        self.tasks.spawn(task);
        true
    }

    /// Lets the repositories with news be polled, and passes over the others.
    pub(super) fn note_outlines(&mut self, Outlines { repos, outlines, pulls }: Outlines) {
        let now = Instant::now();
        for (repo, outline) in repos.into_iter().zip(outlines) {
            let Some(queue) = self.queues.get_mut(&repo) else { continue };
            let is_as_before = queue.seen.is_as_before(outline, &pulls) && !std::mem::take(&mut queue.woken);
            queue.seen.is_asked = !is_as_before;
            queue.poll = match is_as_before {
                _retired if queue.retired => PollState::Never,
                true => PollState::Due(shared(self.begun, now, queue.found_nothing(&self.poll))),
                false => PollState::Due(now),
            };
        }
    }
}
