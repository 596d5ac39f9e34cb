//! Many repositories: one query says which of them have news, and only those are polled.
//!
//! # Guarantees
//! A repository is passed over only if its last poll found nothing that could change by itself, and what is seen from afar has been the
//! same since before that poll. It is polled twice an hour in any case.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use hob_domain::RepoName;
use hob_forge::{NEWS_MAX, outlines};
use tokio::time::Instant;

use crate::schedule::{
    poll::Scope,
    repository_queue::{PollState, RepositoryQueue},
    scheduler::{Completed, Mode, Scheduler},
    seen::Outlines,
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
        let connection = self.connection.clone();
        let task = async move {
            let asked = AssertUnwindSafe(outlines(&connection, &due)).catch_unwind().await;
            // Without an answer each of them is polled.
            let outlines = asked.ok().and_then(Result::ok).unwrap_or_else(|| vec![None; due.len()]);
            Completed::Outlines(Outlines { repos: due, outlines })
        };
        self.tasks.spawn(task);
        true
    }

    /// Lets the repositories with news be polled, and passes over the others.
    pub(super) fn note_outlines(&mut self, Outlines { repos, outlines }: Outlines) {
        for (repo, outline) in repos.into_iter().zip(outlines) {
            let Some(queue) = self.queues.get_mut(&repo) else { continue };
            let is_as_before = queue.seen.is_as_before(outline) && !std::mem::take(&mut queue.woken);
            queue.seen.is_asked = !is_as_before;
            queue.poll = match is_as_before {
                _retired if queue.retired => PollState::Never,
                true => PollState::Due(Instant::now() + queue.found_nothing(&self.poll)),
                false => PollState::Due(Instant::now()),
            };
        }
    }
}
