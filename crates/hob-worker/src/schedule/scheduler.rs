//! The scheduler: repositories take turns at the jobs of this process.
//!
//! # Flow
//! Each repository is polled when it is due; what a poll finds waits in the repository's own queue, in the order of the
//! plan. A free job goes to the repository with the fewest issues in progress; among equals they take turns.
//!
//! # Guarantees
//! - Never more than `limits.jobs` issues are in progress, over all repositories; a repository with much to do cannot keep
//!   the others from their share.
//! - Each poll and each attempt is a task of its own: one that blocks its thread or panics delays no other's heartbeat.
//! - A repository that fails backs off by itself; the others are polled as before.
//! - While the forge's gate is closed nothing is started, whatever is due.
//! - It ends within [`STOP_TIME`] of a stop: what was not requeued by then is left to its lease.

use std::{
    any::Any,
    collections::{BTreeMap, BTreeSet},
    panic::AssertUnwindSafe,
    sync::Arc,
    time::Duration,
};

use futures_util::FutureExt;
use hob_config::{PollSettings, Settings};
use hob_domain::{FailureClass, IssueNumber, RepoName};
use hob_forge::{BaseBranch, Connection};
use tokio::{task::JoinSet, time::Instant};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::{
    RunLimits, RunSummary, WorkError, WorkEvent, Worker,
    reconcile::Reconciled,
    schedule::{
        poll::{Poll, Scope, Work, poll, take_up},
        repository_queue::{LastPoll, PollState, RepositoryQueue},
        source::{RepositoryChanges, RepositorySource},
    },
};

/// Polls under way at once. GitHub asks for serial requests; one slow repository should not hold up the rest.
const POLLS: usize = 3;
/// How long work in progress may take to be requeued.
const STOP_TIME: Duration = Duration::from_millis(4_500);
/// The longest sleep: nothing is that far away.
const FAR: Duration = Duration::from_secs(86_400);

/// Whether repositories are polled again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Each is polled once.
    Once,
    /// Until the process is stopped.
    Forever,
}

/// A task that came to its end.
enum Completed {
    Poll(RepoName, Result<Option<Poll>, WorkError>),
    Issue(RepoName, IssueNumber, Result<Reconciled, WorkError>),
    Source(Result<RepositoryChanges, WorkError>),
}

/// A run over repositories.
pub(super) struct Scheduler {
    queues: BTreeMap<RepoName, RepositoryQueue>,
    tasks: JoinSet<Completed>,
    connection: Arc<Connection>,
    poll: PollSettings,
    jobs: usize,
    cancel: CancellationToken,
    limits: RunLimits,
    mode: Mode,
    scope: Scope,
    /// What became of each issue, where the scope is some issues alone.
    results: Vec<(IssueNumber, Result<Reconciled, WorkError>)>,
    source: Option<RepositorySource>,
    source_due: Option<Instant>,
    /// Whose turn it was last.
    served: Option<RepoName>,
    summary: RunSummary,
    first_error: Option<WorkError>,
    /// Repositories whose workers lack something.
    given_up: usize,
    ends: Option<Instant>,
}

impl Scheduler {
    /// A run without a repository yet; `source` finds those that come later.
    pub(super) fn new(
        connection: &Arc<Connection>,
        settings: &Settings,
        cancel: CancellationToken,
        (limits, mode): (RunLimits, Mode),
        source: Option<RepositorySource>,
    ) -> Self {
        let begun = Instant::now();
        Self {
            queues: BTreeMap::new(),
            tasks: JoinSet::new(),
            connection: Arc::clone(connection),
            poll: settings.poll.clone(),
            jobs: settings.limits.jobs,
            cancel,
            limits,
            mode,
            scope: Scope::All,
            results: Vec::new(),
            source_due: source.is_some().then_some(begun),
            source,
            served: None,
            summary: RunSummary::default(),
            first_error: None,
            given_up: 0,
            ends: limits.max_runtime.map(|time| begun + time.min(FAR * 365)),
        }
    }

    /// Gives a repository its queue.
    pub(super) fn add(&mut self, worker: Arc<Worker>) {
        let repo = worker.forge().repo().clone();
        self.queues.entry(repo).or_insert_with(|| RepositoryQueue::new(worker));
    }

    /// Works on these issues alone.
    pub(super) fn select(&mut self, scope: Scope) {
        self.scope = scope;
    }

    /// What became of each issue, where the scope is some issues alone.
    pub(super) fn results(self) -> Vec<(IssueNumber, Result<Reconciled, WorkError>)> {
        self.results
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// The first [`WorkError`], where each repository was polled once and no poll succeeded.
    pub(super) async fn run(&mut self) -> Result<RunSummary, WorkError> {
        let cancel = self.cancel.clone();
        while !cancel.is_cancelled() && !self.is_full() {
            let moment = Moment::of(&self.connection);
            self.start(moment);
            let wake = self.wakes_at(moment);
            if self.tasks.is_empty() && self.is_over(wake) {
                break;
            }
            let ends = self.ends.unwrap_or(wake + FAR);
            tokio::select! {
                biased;
                () = cancel.cancelled() => {}
                () = tokio::time::sleep_until(ends) => {
                    tracing::info!("the run's time is over: work in progress is requeued");
                    cancel.cancel();
                }
                Some(completed) = next(&mut self.tasks) => self.note(completed),
                () = tokio::time::sleep_until(wake) => {}
            }
        }
        self.drain().await;
        let failed = self.queues.values().filter(|queue| queue.last_poll == LastPoll::Failed).count() + self.given_up;
        let all_failed = failed == self.queues.len() + self.given_up;
        let ended = self.mode == Mode::Once || self.given_up > 0;
        let did_nothing = self.summary.worked + self.summary.reconciled == 0;
        if let Some(error) = self.first_error.take().filter(|_| all_failed && ended && did_nothing) {
            return Err(error);
        }
        let (calls, rates) = (self.connection.call_counts(), self.connection.rates());
        Ok(RunSummary { repositories_failed: failed, calls, rates, ..self.summary.clone() })
    }

    /// Waits for what is in progress; not long, where the run was stopped.
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

    /// Starts all that may be started now.
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
        while self.queues.values().filter(|queue| queue.poll == PollState::Polling).count() < POLLS {
            let due = self.queues.iter_mut().filter(|(_, queue)| queue.due().is_some_and(|due| due <= now));
            let Some((repo, queue)) = due.min_by_key(|(_, queue)| queue.due()) else { break };
            queue.poll = PollState::Polling;
            let (repo, worker, scope) = (repo.clone(), Arc::clone(&queue.worker), self.scope.clone());
            let span = tracing::error_span!("poll", %repo);
            let task = async move { poll(&worker, &scope).await };
            self.tasks.spawn(unwound(task.instrument(span)).map(|found| Completed::Poll(repo, found)));
        }
        while let Some((repo, worker, work, base)) = self.next_issue() {
            let task = async move { take_up(&worker, work, &base).await };
            self.tasks.spawn(unwound(task).map(move |result| Completed::Issue(repo, work.issue(), result)));
        }
    }

    /// The issue whose turn it is, where a job is free: now it is in progress.
    fn next_issue(&mut self) -> Option<(RepoName, Arc<Worker>, Work, Arc<BaseBranch>)> {
        let in_progress = self.in_progress();
        let room = self.limits.max_issues.is_none_or(|max| self.summary.worked + in_progress < max);
        if in_progress >= self.jobs || !room {
            return None;
        }
        let waiting = self.queues.iter().filter(|(_, queue)| !queue.waiting.is_empty() && queue.base.is_some());
        let repo =
            whose_turn(waiting.map(|(repo, queue)| (repo, queue.in_progress.len())), self.served.as_ref())?.clone();
        self.served = Some(repo.clone());
        let queue = self.queues.get_mut(&repo)?;
        let (work, base) = (queue.waiting.pop_front()?, queue.base.clone()?);
        queue.in_progress.insert(work.issue());
        Some((repo, Arc::clone(&queue.worker), work, base))
    }

    fn in_progress(&self) -> usize {
        self.queues.values().map(|queue| queue.in_progress.len()).sum()
    }

    /// Takes in what a task came to.
    fn note(&mut self, completed: Completed) {
        match completed {
            Completed::Poll(repo, found) => self.note_poll(&repo, found),
            Completed::Issue(repo, number, result) => {
                self.summary.add(&result);
                let result = match result {
                    Err(error) if error.class() == FailureClass::Misconfigured => Err(self.give_up(&repo, error)),
                    result => result,
                };
                if let Some(queue) = self.queues.get_mut(&repo) {
                    queue.in_progress.remove(&number);
                    match result {
                        Ok(Reconciled::Worked | Reconciled::UpToDate) => queue.was_active(&self.poll),
                        Ok(Reconciled::NoRoom) => queue.is_full(),
                        Ok(Reconciled::Nothing) | Err(_) => {}
                    }
                }
                match self.scope {
                    Scope::All => {}
                    Scope::Selected(_) => self.results.push((number, result)),
                }
            }
            Completed::Source(changes) => {
                self.source_due = (self.mode == Mode::Forever).then(|| Instant::now() + self.poll.max_interval);
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
            !queue.retired || !queue.in_progress.is_empty() || queue.poll == PollState::Polling
        };
        self.queues.retain(|_, queue| is_needed(queue));
    }

    fn note_poll(&mut self, repo: &RepoName, found: Result<Option<Poll>, WorkError>) {
        let busy = self.in_progress() >= self.jobs;
        let alone = self.queues.len() == 1;
        let Some(queue) = self.queues.get_mut(repo) else { return };
        let pause = match found {
            Ok(Some(found)) => {
                self.summary.merge(&found.reconciled);
                let pause = queue.found(found, &self.poll);
                // Nothing could be begun before a job is free, which asks anew.
                if busy { pause.max(self.poll.max_interval) } else { pause }
            }
            // The worker was stopped.
            Ok(None) => FAR,
            Err(error) => {
                if error.class() == FailureClass::Misconfigured && queue.last_poll == LastPoll::None {
                    queue.poll = PollState::Never;
                    let error = self.give_up(repo, error);
                    self.first_error.get_or_insert(error);
                    return;
                }
                // Where it is the run's one error, whoever asked for the run tells it.
                if self.mode == Mode::Forever || !alone {
                    queue.worker.emit(&WorkEvent::Failed { issue: None, reason: error.to_string() });
                }
                let pause = queue.failed(&error, &self.poll);
                self.first_error.get_or_insert(error);
                pause
            }
        };
        if queue.retired {
            queue.retire();
        }
        queue.poll = match self.mode {
            Mode::Forever if !queue.retired => PollState::Due(Instant::now() + pause),
            Mode::Forever | Mode::Once => PollState::Never,
        };
    }

    /// Works no more on a repository whose worker lacks something, which the next issue would only find again.
    fn give_up(&mut self, repo: &RepoName, error: WorkError) -> WorkError {
        let error = Arc::new(error);
        // Where it is the run's one repository, whoever asked for the run tells it.
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
    fn regroup(&mut self, changes: RepositoryChanges) {
        for (repo, queue) in &mut self.queues {
            if !changes.all.contains(repo) {
                tracing::info!(%repo, "{repo} is no longer in the installation");
                queue.retire();
            }
        }
        for worker in changes.new {
            tracing::info!(repo = %worker.forge().repo(), "{} is polled from now on", worker.forge().repo());
            self.add(worker);
        }
    }

    /// While the forge does not want to be asked for long, a run that asks once has nothing to wait for.
    fn leave_to_the_next_run(&mut self) {
        let patience = self.connection.patience();
        let Some(wait) = self.connection.closed_for().filter(|wait| self.mode == Mode::Once && *wait > patience) else {
            return;
        };
        for queue in self.queues.values_mut().filter(|queue| !queue.waiting.is_empty() || queue.due().is_some()) {
            queue.waiting.clear();
            queue.poll = PollState::Never;
            let reason =
                format!("the forge's rate limit is used up for {} s: the rest is left to a later run", wait.as_secs());
            queue.worker.emit(&WorkEvent::Failed { issue: None, reason });
        }
        self.source_due = None;
    }

    /// Whether as many issues were worked on as there may be.
    fn is_full(&self) -> bool {
        self.limits.max_issues.is_some_and(|max| self.summary.worked >= max)
    }

    /// Whether nothing is left to do, or nothing before the run's end.
    fn is_over(&self, wake: Instant) -> bool {
        let done = |queue: &RepositoryQueue| queue.poll == PollState::Never && queue.waiting.is_empty();
        let done = self.source_due.is_none() && self.queues.values().all(done);
        done || self.ends.is_some_and(|ends| wake >= ends)
    }

    /// When something is due, the gate's opening included.
    fn wakes_at(&self, moment: Moment) -> Instant {
        let waiting = self.queues.values().any(|queue| !queue.waiting.is_empty());
        let dues = self.queues.values().filter_map(RepositoryQueue::due).chain(self.source_due);
        moment.next(dues, waiting)
    }
}

/// What `work` comes to; none: the worker was stopped, and `work` did not end within [`STOP_TIME`] of that.
pub(super) async fn within_stop_time<T>(
    cancel: &CancellationToken,
    connection: &Connection,
    work: impl Future<Output = T>,
) -> Option<T> {
    let stopped = async {
        cancel.cancelled().await;
        connection.skip_spacing();
        tokio::time::sleep(STOP_TIME).await;
    };
    tokio::select! {
        biased;
        result = work => Some(result),
        () = stopped => {
            tracing::warn!("not all work could be requeued in time: its leases expire");
            None
        }
    }
}

/// The next task that came to its end; none: there is none.
async fn next(tasks: &mut JoinSet<Completed>) -> Option<Completed> {
    loop {
        match tasks.join_next().await? {
            Ok(completed) => return Some(completed),
            // Panics are caught in the task: only the runtime's own end cancels one.
            Err(error) => tracing::error!(%error, "a task of the scheduler did not end: {error}"),
        }
    }
}

/// A task whose panic is an error like any other: one bad issue stops neither the worker nor another issue.
async fn unwound<T>(task: impl Future<Output = Result<T, WorkError>>) -> Result<T, WorkError> {
    AssertUnwindSafe(task).catch_unwind().await.unwrap_or_else(|panic| Err(WorkError::Panicked(message_of(&*panic))))
}

fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it gave no reason".to_owned())
}

/// What the clocks say, read once for what is started and for the sleep after it: what came due between two
/// readings would be neither started nor waited for.
#[derive(Debug, Clone, Copy)]
struct Moment {
    now: Instant,
    /// When the forge may be asked; not after `now`: it may.
    opens: Instant,
}

impl Moment {
    fn of(connection: &Connection) -> Self {
        let now = Instant::now();
        Self { now, opens: now + connection.closed_for().unwrap_or_default() }
    }

    /// The moment to wake at, where `waiting` says that there is work which only the gate keeps back.
    fn next(self, dues: impl Iterator<Item = Instant>, waiting: bool) -> Instant {
        let Self { now, opens } = self;
        let is_closed = opens > now;
        let next = dues.chain((waiting && is_closed).then_some(opens)).filter(|due| *due > now || is_closed).min();
        // What is due now and was not started has to wait for a job or a survey, whose end wakes.
        next.map_or(now + FAR, |next| next.max(opens))
    }
}

/// The repository whose turn it is: of those with the fewest issues in hand the next one after `served`.
fn whose_turn<'a>(
    waiting: impl Iterator<Item = (&'a RepoName, usize)>,
    served: Option<&RepoName>,
) -> Option<&'a RepoName> {
    let key = |(repo, in_progress): &(&'a RepoName, usize)| {
        (*in_progress, served.is_some_and(|served| *repo <= served), *repo)
    };
    waiting.min_by_key(key).map(|(repo, _)| repo)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sleep_ends_with_the_first_thing_that_comes_due_after_the_moment_of_starting() {
        let now = Instant::now();
        let (open, shut) = (Moment { now, opens: now }, Moment { now, opens: now + Duration::from_secs(9) });
        let at = |nanos: u64| now + Duration::from_nanos(nanos);
        for (moment, dues, waiting, wake) in [
            (open, vec![], false, now + FAR),
            (open, vec![at(0)], false, now + FAR),
            (open, vec![at(0), at(1), at(2)], true, at(1)),
            (shut, vec![at(0)], false, shut.opens),
            (shut, vec![], true, shut.opens),
            (shut, vec![], false, now + FAR),
            (shut, vec![at(10_000_000_000)], false, at(10_000_000_000)),
        ] {
            assert_eq!(moment.next(dues.into_iter(), waiting), wake);
        }
    }

    /// On the runtime's own clock, which stands still while anything is left to do.
    #[tokio::test(start_paused = true)]
    async fn work_of_a_stopped_run_has_little_time_and_that_of_any_other_as_much_as_it_takes() {
        let settings = Settings::load(None, std::collections::HashMap::new(), &[]).unwrap();
        let token = hob_forge::Authentication::Token("none".into());
        let connection = Connection::new(
            "http://127.0.0.1:1",
            token,
            &settings.forge,
            hob_forge::Access::ReadOnly,
            hob_domain::KnownSecrets::default(),
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

    #[test]
    fn repositories_take_turns_and_who_has_less_in_progress_comes_first() {
        let [a, b, c] = ["o/a", "o/b", "o/c"].map(|name| name.parse::<RepoName>().unwrap());
        for (waiting, served, turn) in [
            (vec![(&a, 0), (&b, 0), (&c, 0)], None, Some(&a)),
            (vec![(&a, 0), (&b, 0), (&c, 0)], Some(&a), Some(&b)),
            (vec![(&a, 0), (&b, 0), (&c, 0)], Some(&c), Some(&a)),
            (vec![(&a, 3), (&b, 1), (&c, 1)], Some(&b), Some(&c)),
            (vec![(&a, 3), (&c, 2)], Some(&b), Some(&c)),
            (vec![(&a, 9)], Some(&a), Some(&a)),
            (vec![], Some(&a), None),
        ] {
            assert_eq!(whose_turn(waiting.into_iter(), served), turn);
        }
    }
}
