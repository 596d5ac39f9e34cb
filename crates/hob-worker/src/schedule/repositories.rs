//! Repositories that come, go, are renamed, or whose worker lacks something.

use std::{collections::BTreeSet, sync::Arc};

use futures_util::FutureExt;
use hob_domain::RepoName;

use crate::{
    WorkError, WorkEvent, Worker,
    metrics::METRICS,
    schedule::{
        repository_queue::RepositoryQueue,
        scheduler::{Completed, Mode, Scheduler},
        source::RepositoryChanges,
        tasks::unwound,
    },
};

impl Scheduler {
    /// Gives a repository its queue.
    pub(super) fn add(&mut self, worker: Arc<Worker>) {
        let repo = worker.forge().repo().clone();
        METRICS.begin(&repo);
        self.queues.entry(repo).or_insert_with(|| RepositoryQueue::new(worker));
    }

    /// Continues with a repository under its new name, if an error says that it has one; returns whether it does.
    pub(super) fn follow(&mut self, repo: &RepoName, error: &WorkError) -> bool {
        let (Some(factory), Some(to)) = (&self.factory, error.moved_to().cloned()) else { return false };
        if self.queues.contains_key(&to) {
            return false;
        }
        tracing::warn!(%repo, to = %to, "the repository {repo} is `{to}` now, and worked on by that name");
        let mut all: BTreeSet<_> = self.queues.keys().filter(|known| *known != repo).cloned().collect();
        all.insert(to.clone());
        let factory = Arc::clone(factory);
        let made = async move {
            let new = vec![Arc::new(Worker::new(factory(to)).await?)];
            Ok(RepositoryChanges { all, new })
        };
        self.tasks.spawn(unwound(made).map(Completed::Source));
        true
    }

    /// Handles a problem in a repository that only an operator or a maintainer can fix. A continuous run looks again
    /// soon; one that polls once stops working on the repository, where the next issue would only find the same.
    pub(super) fn lacks(&mut self, repo: &RepoName, error: WorkError) -> WorkError {
        if self.follow(repo, &error) {
            return error;
        }
        if self.mode == Mode::Once {
            return self.give_up(repo, error);
        }
        let error = Arc::new(error);
        if let Some(queue) = self.queues.get_mut(repo) {
            queue.worker.emit(&WorkEvent::Failed { issue: None, reason: error.to_string() });
            queue.lacks_something(&error, &self.poll);
        }
        WorkError::Shared(error)
    }

    /// Stops working on a repository whose worker lacks something, which the next issue would only find again.
    pub(super) fn give_up(&mut self, repo: &RepoName, error: WorkError) -> WorkError {
        let error = Arc::new(error);
        // If it is the run's one repository, the caller reports it.
        let alone = self.queues.len() == 1 && self.source.is_none();
        if let Some(queue) = self.queues.get_mut(repo).filter(|queue| !queue.retired) {
            queue.retire();
            if !alone {
                queue.worker.emit(&WorkEvent::Failed { issue: None, reason: error.to_string() });
            }
            self.given_up += 1;
            self.summary.lacks.get_or_insert(Arc::clone(&error));
        }
        WorkError::Shared(error)
    }

    /// Gives new repositories their queue, and retires those of repositories that are gone.
    pub(super) fn regroup(&mut self, changes: RepositoryChanges) {
        for (repo, queue) in &mut self.queues {
            if !changes.all.contains(repo) {
                tracing::info!(%repo, "{repo} no longer exists under that name");
                queue.retire();
            }
        }
        for worker in changes.new {
            tracing::info!(repo = %worker.forge().repo(), "{} is polled from now on", worker.forge().repo());
            self.add(worker);
        }
    }
}
