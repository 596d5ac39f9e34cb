//! The scheduler: repositories take turns at the jobs of this process.
//!
//! # Flow
//! Each repository is polled when it is due, and of many those with news ([`news`](super::news)); issues that a poll finds wait in the repository's own queue, in the order
//! of the plan. A free job goes to the repository with the fewest issues in progress; among equals they take turns.
//! Blocked issues, and those that wait for a job, are looked at beside the jobs, a few at once: commands are followed,
//! and an answer that is found waits for a job like any other work.
//!
//! # Guarantees
//! - Never more than `jobs` issues are in progress, over all repositories; a repository with much to do cannot keep
//!   the others from their share.
//! - Each poll and each attempt is a task of its own: one that blocks its thread or panics delays no other's heartbeat.
//! - A repository that fails backs off by itself; the others are polled as before. Once the forge has answered well, a
//!   continuous run keeps polling after any failure: a problem for an operator may be fixed by now, or may have been an
//!   incident.
//! - An issue that waits for a look keeps its place from poll to poll, and a busy process polls as often as an idle
//!   one.
//! - No attempt begins whose writes, renewals of its lease included, do not fit into the hour.
//! - While the forge's gate is closed nothing is started, even if it is due.
//! - It ends within [`STOP_TIME`](super::tasks::STOP_TIME) of a stop: work that was not requeued by then is left to its
//!   lease.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use futures_util::FutureExt;
use hob_config::{PollSettings, Settings};
use hob_domain::{FailureClass, IssueNumber, RepoName};
use hob_forge::{BaseBranch, Connection};
use tokio::{task::JoinSet, time::Instant};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::{
    RunLimits, RunSummary, WorkError, WorkEvent, Worker, WorkerFactory,
    metrics::METRICS,
    reconcile::{Reconciled, Slot},
    schedule::{
        executor::begin,
        poll::{Look, Poll, Scope, Work, look, poll},
        repository_queue::{LastPoll, PollState, RepositoryQueue},
        seen::Outlines,
        source::{RepositoryChanges, RepositorySource},
        tasks::{next, unwound, within_stop_time, writes_an_attempt},
        turns::{FAR, Moment, shared, whose_turn},
        wake::{NewsReceiver, next_news},
    },
};

/// Polls under way at once. GitHub asks for serial requests; one slow repository should not hold up the rest.
const POLLS: usize = 3;
/// Looks at issues under way at once.
const LOOKS: usize = 3;

/// Whether repositories are polled again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Each is polled once.
    Once,
    /// Until the process is stopped.
    Forever,
}

/// A task that came to its end.
pub(super) enum Completed {
    Poll(RepoName, Result<Option<Poll>, WorkError>),
    Issue(RepoName, IssueNumber, Result<Reconciled, WorkError>),
    Look(RepoName, IssueNumber, Result<Reconciled, WorkError>),
    Source(Result<RepositoryChanges, WorkError>),
    Outlines(Outlines),
}

/// A run over repositories.
pub(super) struct Scheduler {
    pub(super) queues: BTreeMap<RepoName, RepositoryQueue>,
    pub(super) tasks: JoinSet<Completed>,
    pub(super) connection: Arc<Connection>,
    pub(super) poll: PollSettings,
    jobs: usize,
    cancel: CancellationToken,
    limits: RunLimits,
    pub(super) mode: Mode,
    pub(super) scope: Scope,
    /// The result for each issue, if the scope is a list of issues.
    results: Vec<(IssueNumber, Result<Reconciled, WorkError>)>,
    pub(super) source: Option<RepositorySource>,
    /// Makes the worker of a repository that was renamed.
    pub(super) factory: Option<Arc<WorkerFactory>>,
    source_due: Option<Instant>,
    /// Where news come from; `None` if none come.
    news: Option<NewsReceiver>,
    /// The repository that had the last turn.
    served: Option<RepoName>,
    /// The repository that had the last turn of the looks.
    looked_in: Option<RepoName>,
    pub(super) summary: RunSummary,
    first_error: Option<WorkError>,
    /// Repositories whose workers lack something.
    pub(super) given_up: usize,
    /// Whether any poll went well.
    was_good: bool,
    /// The most writes of one attempt here.
    writes_an_attempt: usize,
    /// When the run began.
    pub(super) begun: Instant,
    /// The time at which the hour's writes have room for another attempt.
    writes_due: Option<Instant>,
    ends: Option<Instant>,
}

impl Scheduler {
    /// A run without a repository yet; `source` finds those that come later.
    pub(super) fn new(
        connection: &Arc<Connection>,
        settings: &Settings,
        cancel: CancellationToken,
        limits: RunLimits,
        mode: Mode,
        source: Option<RepositorySource>,
    ) -> Self {
        let begun = Instant::now();
        METRICS.forge.watch(connection);
        Self {
            queues: BTreeMap::new(),
            tasks: JoinSet::new(),
            connection: Arc::clone(connection),
            poll: settings.poll.clone(),
            jobs: settings.jobs,
            cancel,
            limits,
            mode,
            scope: Scope::All,
            results: Vec::new(),
            factory: None,
            source_due: source.is_some().then_some(begun),
            source,
            news: None,
            served: None,
            looked_in: None,
            summary: RunSummary::default(),
            first_error: None,
            given_up: 0,
            was_good: false,
            writes_an_attempt: writes_an_attempt(settings),
            writes_due: None,
            begun,
            ends: limits.max_runtime.map(|time| begun + time.min(FAR * 365)),
        }
    }

    /// Follows repositories that are renamed or transferred, with workers that this makes.
    pub(super) fn follows(&mut self, factory: &Arc<WorkerFactory>) {
        self.factory = Some(Arc::clone(factory));
    }

    /// Polls a repository at once when it has news.
    pub(super) fn hears(&mut self, news: Option<NewsReceiver>) {
        self.news = news;
    }

    /// Works only on these issues.
    pub(super) fn select(&mut self, scope: Scope) {
        self.scope = scope;
    }

    /// The result for each issue, if the scope is a list of issues.
    pub(super) fn results(self) -> Vec<(IssueNumber, Result<Reconciled, WorkError>)> {
        self.results
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// The first [`WorkError`], if each repository was polled once and no poll succeeded.
    pub(super) async fn run(&mut self) -> Result<RunSummary, WorkError> {
        let cancel = self.cancel.clone();
        while !cancel.is_cancelled() && !self.is_full() && (self.mode == Mode::Once || !self.is_hopeless()) {
            let moment = Moment::new(&self.connection);
            self.see_writes(moment.now).await;
            self.start(moment);
            METRICS.runs.jobs(self.in_progress(), self.jobs);
            let wake = self.wakes_at(moment);
            if self.tasks.is_empty() && self.is_over(wake) {
                break;
            }
            let ends = self.ends.unwrap_or(wake + FAR);
            tokio::select! {
                biased;
                () = cancel.cancelled() => {}
                () = tokio::time::sleep_until(ends) => {
                    tracing::info!("out of time: requeuing work in progress");
                    cancel.cancel();
                }
                Some(completed) = next(&mut self.tasks) => self.note(completed),
                news = next_news(&mut self.news) => self.wake(&news),
                () = tokio::time::sleep_until(wake) => {}
            }
        }
        self.drain().await;
        let is_failed = |queue: &&RepositoryQueue| matches!(queue.last_poll, LastPoll::Failed | LastPoll::Lacking);
        let failed = self.queues.values().filter(is_failed).count() + self.given_up;
        let all_failed = failed == self.queues.len() + self.given_up;
        let ended = self.mode == Mode::Once || self.is_hopeless();
        let did_nothing = self.summary.worked + self.summary.reconciled == 0;
        if let Some(error) = self.first_error.take().filter(|_| all_failed && ended && did_nothing) {
            return Err(error);
        }
        let (calls, rates) = (self.connection.call_counts(), self.connection.rates());
        Ok(RunSummary { repositories_failed: failed, calls, rates, ..self.summary.clone() })
    }

    /// Waits for work in progress; not long, if the run was stopped.
    async fn drain(&mut self) {
        let (cancel, connection) = (self.cancel.clone(), Arc::clone(&self.connection));
        let rest = async {
            while let Some(completed) = next(&mut self.tasks).await {
                self.note(completed);
            }
        };
        if within_stop_time(&cancel, &connection, rest).await.is_none() {
            self.tasks.shutdown().await;
        }
    }

    /// Starts everything that may be started now.
    fn start(&mut self, moment: Moment) {
        let now = moment.now;
        if moment.opens > now {
            self.leave_to_the_next_run();
            return;
        }
        if let Some(source) = &self.source
            && self.source_due.is_some_and(|due| due <= now)
        {
            self.source_due = None;
            let known: BTreeSet<_> = self.queues.keys().cloned().collect();
            self.tasks.spawn(unwound(source(known)).map(Completed::Source));
        }
        let asks = self.asks_for_news(now);
        while self.queues.values().filter(|queue| queue.poll == PollState::Polling).count() < POLLS {
            let due = self.queues.iter_mut().filter(|(_, queue)| queue.due().is_some_and(|due| due <= now));
            let due = due.filter(|(_, queue)| queue.seen.is_asked || !asks);
            let Some((repo, queue)) = due.min_by_key(|(_, queue)| queue.due()) else { break };
            queue.poll = PollState::Polling;
            queue.seen.polls();
            let (repo, worker, scope) = (repo.clone(), Arc::clone(&queue.worker), self.scope.clone());
            let span = tracing::error_span!("poll", %repo);
            let task = async move { poll(&worker, &scope).await };
            self.tasks.spawn(unwound(task.instrument(span)).map(|found| Completed::Poll(repo, found)));
        }
        while let Some((repo, worker, next, base)) = self.next_look() {
            let waiting: usize = self.queues.values().map(|queue| queue.waiting.len()).sum();
            let slot = if self.in_progress() + waiting < self.jobs { Slot::Next } else { Slot::None };
            let task = async move { look(&worker, next, &base, slot).await };
            self.tasks.spawn(unwound(task).map(move |result| Completed::Look(repo, next.issue(), result)));
        }
        if self.writes_due.is_some_and(|due| due > now) {
            return;
        }
        while let Some((repo, worker, work, base)) = self.next_issue() {
            let task = async move { begin(&worker, work, &base).await };
            self.tasks.spawn(unwound(task).map(move |result| Completed::Issue(repo, work.issue(), result)));
        }
    }

    /// The issue whose turn it is, if a job is free: it is in progress from now on.
    fn next_issue(&mut self) -> Option<(RepoName, Arc<Worker>, Work, Arc<BaseBranch>)> {
        let in_progress = self.in_progress();
        let room = self.limits.max_issues.is_none_or(|max| self.summary.worked + in_progress < max);
        if in_progress >= self.jobs || !room {
            return None;
        }
        let waiting = self.queues.iter().filter(|(_, queue)| queue.next_work().is_some() && queue.base.is_some());
        let repo =
            whose_turn(waiting.map(|(repo, queue)| (repo, queue.in_progress.len())), self.served.as_ref())?.clone();
        self.served = Some(repo.clone());
        let queue = self.queues.get_mut(&repo)?;
        let (work, base) = (queue.next_work().and_then(|at| queue.waiting.remove(at))?, queue.base.clone()?);
        queue.looks.retain(|look| look.issue() != work.issue());
        queue.in_progress.insert(work.issue());
        Some((repo, Arc::clone(&queue.worker), work, base))
    }

    /// The issue to look at next, if there is room for a look: the repositories take turns.
    fn next_look(&mut self) -> Option<(RepoName, Arc<Worker>, Look, Arc<BaseBranch>)> {
        let under_way: usize = self.queues.values().map(|queue| queue.looked_at.len()).sum();
        if under_way >= LOOKS {
            return None;
        }
        let waiting = self.queues.iter().filter(|(_, queue)| !queue.looks.is_empty() && queue.base.is_some());
        let waiting = waiting.map(|(repo, queue)| (repo, queue.looked_at.len()));
        let repo = whose_turn(waiting, self.looked_in.as_ref())?.clone();
        self.looked_in = Some(repo.clone());
        let queue = self.queues.get_mut(&repo)?;
        let (next, base) = (queue.looks.pop_front()?, queue.base.clone()?);
        queue.looked_at.insert(next.issue());
        Some((repo, Arc::clone(&queue.worker), next, base))
    }

    /// Checks whether the hour's writes have room for one more attempt beside those in progress.
    async fn see_writes(&mut self, now: Instant) {
        let is_wanted = self.in_progress() < self.jobs && self.queues.values().any(|queue| !queue.waiting.is_empty());
        self.writes_due = None;
        if !is_wanted {
            return;
        }
        let needed = self.writes_an_attempt.saturating_mul(self.in_progress() + 1);
        let wait = self.connection.wait_for_writes(needed).await;
        if !wait.is_zero() {
            tracing::info!(wait_seconds = wait.as_secs(), "no attempt begins: the writes of this hour are used up");
            self.writes_due = Some(now + wait);
        }
    }

    fn in_progress(&self) -> usize {
        self.queues.values().map(|queue| queue.in_progress.len()).sum()
    }

    /// Applies the result of a task.
    fn note(&mut self, completed: Completed) {
        match completed {
            Completed::Poll(repo, found) => self.note_poll(&repo, found),
            Completed::Issue(repo, number, result) => {
                self.summary.add(&result);
                let result = match result {
                    Err(error) if error.class() == FailureClass::Misconfigured => Err(self.lacks(&repo, error)),
                    result => result,
                };
                if let Some(queue) = self.queues.get_mut(&repo) {
                    queue.in_progress.remove(&number);
                    match result {
                        Ok(Reconciled::Worked | Reconciled::UpToDate) => queue.was_active(&self.poll),
                        Ok(Reconciled::NoRoom) => queue.is_full(),
                        Ok(Reconciled::Nothing | Reconciled::Answered) | Err(_) => {}
                    }
                }
                match self.scope {
                    Scope::All => {}
                    Scope::Selected(_) => self.results.push((number, result)),
                }
            }
            Completed::Look(repo, number, result) => {
                self.summary.add(&result);
                let result = match result {
                    Err(error) if error.class() == FailureClass::Misconfigured => Err(self.lacks(&repo, error)),
                    result => result,
                };
                let is_answered = matches!(result, Ok(Reconciled::Answered));
                if let Some(queue) = self.queues.get_mut(&repo) {
                    queue.looked_at.remove(&number);
                    match result {
                        Ok(Reconciled::Answered) if !queue.retired => queue.waiting.push_front(Work::Answered(number)),
                        Ok(Reconciled::Worked | Reconciled::UpToDate) => queue.was_active(&self.poll),
                        Ok(Reconciled::Nothing | Reconciled::NoRoom | Reconciled::Answered) | Err(_) => {}
                    }
                }
                match self.scope {
                    Scope::Selected(_) if !is_answered => self.results.push((number, result)),
                    Scope::All | Scope::Selected(_) => {}
                }
            }
            Completed::Outlines(outlines) => self.note_outlines(outlines),
            Completed::Source(changes) => {
                let asks_again = self.mode == Mode::Forever && self.source.is_some();
                self.source_due = asks_again.then(|| Instant::now() + self.poll.max_interval());
                match changes {
                    Ok(changes) => self.regroup(changes),
                    Err(error) => {
                        tracing::warn!(%error, "the installation's repositories could not be listed: {error}");
                        self.first_error.get_or_insert(error);
                    }
                }
            }
        }
        let is_needed = |queue: &RepositoryQueue| {
            let is_at_work = !queue.in_progress.is_empty() || !queue.looked_at.is_empty();
            !queue.retired || is_at_work || matches!(queue.poll, PollState::Polling | PollState::Asking)
        };
        self.queues.retain(|_, queue| is_needed(queue));
    }

    /// Whether the run is hopeless: no poll ever succeeded, and in each repository for a reason that only an operator
    /// can fix.
    fn is_hopeless(&self) -> bool {
        let is_lacking = |queue: &RepositoryQueue| queue.last_poll == LastPoll::Lacking;
        !self.was_good && !self.queues.is_empty() && self.queues.values().all(is_lacking)
    }

    fn note_poll(&mut self, repo: &RepoName, found: Result<Option<Poll>, WorkError>) {
        let alone = self.queues.len() == 1;
        let Some(queue) = self.queues.get_mut(repo) else { return };
        let pause = match found {
            Ok(Some(found)) => {
                self.summary.merge(&found.reconciled);
                self.was_good = true;
                queue.seen.polled(&found, queue.worker.forge().now());
                queue.found(found, &self.poll)
            }
            // The worker was stopped.
            Ok(None) => FAR,
            Err(error) => {
                let is_once = self.mode == Mode::Once;
                if self.follow(repo, &error) {
                    if let Some(queue) = self.queues.get_mut(repo) {
                        queue.poll = PollState::Never;
                    }
                    return;
                }
                let Some(queue) = self.queues.get_mut(repo) else { return };
                if error.class() == FailureClass::Misconfigured && queue.last_poll == LastPoll::None && is_once {
                    queue.poll = PollState::Never;
                    let error = self.give_up(repo, error);
                    self.first_error.get_or_insert(error);
                    return;
                }
                let (reason, pause) = (error.to_string(), queue.failed(&error, &self.poll));
                self.first_error.get_or_insert(error);
                // If it is the run's only error, the caller reports it.
                let is_told = alone && (self.mode == Mode::Once || self.is_hopeless());
                if let Some(queue) = self.queues.get(repo).filter(|_| !is_told) {
                    queue.worker.emit(&WorkEvent::Failed { issue: None, reason });
                }
                pause
            }
        };
        let now = Instant::now();
        let Some(queue) = self.queues.get_mut(repo) else { return };
        if queue.retired {
            queue.retire();
        }
        queue.poll = match self.mode {
            Mode::Forever if !queue.retired && queue.seen.is_still() => PollState::Due(shared(self.begun, now, pause)),
            Mode::Forever if !queue.retired => PollState::Due(now + pause),
            Mode::Forever | Mode::Once => PollState::Never,
        };
        // What came during the poll may have come after its reads.
        if std::mem::take(&mut queue.woken) {
            queue.wake();
        }
    }

    /// While the forge closes its gate for long, a run that polls once has nothing to wait for.
    fn leave_to_the_next_run(&mut self) {
        let patience = self.connection.patience();
        let Some(wait) = self.connection.closed_for().filter(|wait| self.mode == Mode::Once && *wait > patience) else {
            return;
        };
        for queue in self.queues.values_mut().filter(|queue| queue.has_work() || queue.due().is_some()) {
            queue.waiting.clear();
            queue.looks.clear();
            queue.poll = PollState::Never;
            let reason =
                format!("the forge's rate limit is used up for {} s: the rest is left to a later run", wait.as_secs());
            queue.worker.emit(&WorkEvent::Failed { issue: None, reason });
        }
        self.source_due = None;
    }

    /// Whether the limit of issues is reached.
    fn is_full(&self) -> bool {
        self.limits.max_issues.is_some_and(|max| self.summary.worked >= max)
    }

    /// Whether nothing is left to do, or nothing before the run's end.
    fn is_over(&self, wake: Instant) -> bool {
        let done = |queue: &RepositoryQueue| queue.poll == PollState::Never && !queue.has_work();
        let done = self.source_due.is_none() && self.queues.values().all(done);
        done || self.ends.is_some_and(|ends| wake >= ends)
    }

    /// When something is due, the gate's opening included.
    fn wakes_at(&self, moment: Moment) -> Instant {
        let waiting = self.queues.values().any(RepositoryQueue::has_work);
        let dues = self.queues.values().filter_map(RepositoryQueue::due).chain(self.source_due).chain(self.writes_due);
        moment.next(dues, waiting)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::schedule::tasks::STOP_TIME;

    /// On the runtime's own clock, which does not advance while there is anything to do.
    #[tokio::test(start_paused = true)]
    async fn work_of_a_stopped_run_has_little_time_and_that_of_any_other_as_much_as_it_takes() {
        let settings = Settings::load(None, std::collections::HashMap::new(), &[]).unwrap();
        let token = hob_forge::Authentication::Token("none".into());
        let connection = Connection::new(
            "http://127.0.0.1:1",
            token,
            &settings.forge,
            hob_forge::Access::ReadOnly,
            hob_text::KnownSecrets::default(),
        )
        .unwrap();
        let hour = Duration::from_secs(3_600);
        for (stopped_after, takes, result) in [
            (None, hour, Some(hour)),
            (Some(hour), hour, Some(hour)),
            (
                Some(hour),
                hour + STOP_TIME - Duration::from_millis(1),
                Some(hour + STOP_TIME - Duration::from_millis(1)),
            ),
            (Some(hour), hour * 2, None),
        ] {
            let (cancel, began) = (CancellationToken::new(), Instant::now());
            let stop = async {
                match stopped_after {
                    Some(time) => tokio::time::sleep(time).await,
                    None => std::future::pending().await,
                }
                cancel.cancel();
                std::future::pending::<()>().await;
            };
            let work = async {
                tokio::time::sleep(takes).await;
                takes
            };
            let ended = tokio::select! {
                ended = within_stop_time(&cancel, &connection, work) => ended,
                () = stop => unreachable!("it never ends"),
            };
            assert_eq!(ended, result, "stopped after {stopped_after:?}, takes {takes:?}");
            assert_eq!(began.elapsed(), result.unwrap_or(hour + STOP_TIME));
        }
    }
}
