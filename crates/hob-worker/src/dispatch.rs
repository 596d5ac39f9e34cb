//! The dispatcher: repositories take turns at the jobs of this process.
//!
//! # Flow
//! Each repository is surveyed when it is due; what a survey finds waits in the repository's own queue, in the order of
//! the plan. A free job goes to the repository with the fewest in hand; among equals they take turns.
//!
//! # Guarantees
//! - Never more than `limits.jobs` issues are in hand, over all repositories; a repository with much to do cannot keep
//!   the others from their share.
//! - A repository that fails has its own pause, which grows; the others go on.
//! - While the forge's gate is closed nothing is started, whatever is due.
//! - It ends within [`STOP_TIME`] of a stop: what was not put back by then is left to its lease.

use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
    ops::Deref,
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use futures_util::{StreamExt, stream::FuturesUnordered};
use hob_config::{PollSettings, Settings};
use hob_domain::{IssueNumber, RepoName};
use hob_forge::{BaseBranch, Connection};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{
    Notice, RunLimits, RunSummary, WorkError, Worker,
    claim::Taken,
    crew::{News, Recruit},
    seat::{Next, Seat, Standing},
    survey::{Scope, Survey},
};

/// Surveys under way at once. GitHub asks for serial requests; one slow repository should not hold up the rest.
const SURVEYS: usize = 3;
/// How long work in hand may take to be put back.
const STOP_TIME: Duration = Duration::from_millis(4_500);
/// The longest sleep: nothing is that far away.
const FAR: Duration = Duration::from_secs(86_400);

/// Whether repositories are asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Each is asked once.
    Once,
    /// Until the process is stopped.
    Forever,
}

/// Something that came to its end.
enum Event<W> {
    Surveyed(RepoName, Result<Survey, WorkError>),
    Taken(RepoName, IssueNumber, Result<Taken, WorkError>),
    Recruited(Result<News<W>, WorkError>),
}

type Job<'a, W> = Pin<Box<dyn Future<Output = Event<W>> + 'a>>;

/// A run over repositories.
pub(super) struct Dispatch<W> {
    seats: BTreeMap<RepoName, Seat<W>>,
    connection: Arc<Connection>,
    poll: PollSettings,
    jobs: usize,
    cancel: CancellationToken,
    limits: RunLimits,
    mode: Mode,
    scope: Scope,
    /// What became of each issue that was taken up, where the scope is some issues alone.
    taken: Vec<(IssueNumber, Result<Taken, WorkError>)>,
    recruit: Option<Recruit<W>>,
    recruit_due: Option<Instant>,
    /// Whose turn it was last.
    served: Option<RepoName>,
    summary: RunSummary,
    first_error: Option<WorkError>,
    ends: Option<Instant>,
}

impl<W: Deref<Target = Worker> + Clone> Dispatch<W> {
    /// A run without a repository yet; `recruit` finds those that come later.
    pub(super) fn new(
        connection: &Arc<Connection>,
        settings: &Settings,
        cancel: CancellationToken,
        (limits, mode): (RunLimits, Mode),
        recruit: Option<Recruit<W>>,
    ) -> Self {
        let begun = Instant::now();
        Self {
            seats: BTreeMap::new(),
            connection: Arc::clone(connection),
            poll: settings.poll.clone(),
            jobs: settings.limits.jobs,
            cancel,
            limits,
            mode,
            scope: Scope::All,
            taken: Vec::new(),
            recruit_due: recruit.is_some().then_some(begun),
            recruit,
            served: None,
            summary: RunSummary::default(),
            first_error: None,
            ends: limits.max_runtime.map(|time| begun + time.min(FAR * 365)),
        }
    }

    /// Gives a repository its place.
    pub(super) fn seat(&mut self, worker: W) {
        let repo = worker.forge().repo().clone();
        self.seats.entry(repo).or_insert_with(|| Seat::new(worker));
    }

    /// Works on these issues alone.
    pub(super) fn about(&mut self, scope: Scope) {
        self.scope = scope;
    }

    /// What became of each issue that was taken up, where the scope is some issues alone.
    pub(super) fn taken(self) -> Vec<(IssueNumber, Result<Taken, WorkError>)> {
        self.taken
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// The first [`WorkError`], where each repository was asked once and none could be.
    pub(super) async fn run<'a>(&mut self) -> Result<RunSummary, WorkError>
    where
        W: 'a,
    {
        let mut pool: FuturesUnordered<Job<'a, W>> = FuturesUnordered::new();
        let cancel = self.cancel.clone();
        while !cancel.is_cancelled() && !self.is_full() {
            let moment = Moment::of(&self.connection);
            self.start(&mut pool, moment);
            let wake = self.wakes_at(moment);
            if pool.is_empty() && self.is_over(wake) {
                break;
            }
            let ends = self.ends.unwrap_or(wake + FAR);
            tokio::select! {
                biased;
                () = cancel.cancelled() => {}
                () = tokio::time::sleep_until(ends) => {
                    tracing::info!("the run's time is over: work in hand is put back");
                    cancel.cancel();
                }
                Some(event) = pool.next() => self.note(event),
                () = tokio::time::sleep_until(wake) => {}
            }
        }
        self.drain(&mut pool).await;
        let failed = self.seats.values().filter(|seat| seat.standing == Standing::Failed).count();
        let all_failed = failed == self.seats.len();
        if let Some(error) = self.first_error.take().filter(|_| all_failed && self.mode == Mode::Once) {
            return Err(error);
        }
        let (calls, rates) = (self.connection.tally(), self.connection.rates());
        Ok(RunSummary { repositories_failed: failed, calls, rates, ..self.summary.clone() })
    }

    /// Waits for what is in hand; not long, where the run was stopped.
    async fn drain(&mut self, pool: &mut FuturesUnordered<Job<'_, W>>) {
        let cancel = self.cancel.clone();
        while !cancel.is_cancelled() {
            tokio::select! {
                () = cancel.cancelled() => {}
                event = pool.next() => match event {
                    Some(event) => self.note(event),
                    None => return,
                }
            }
        }
        self.connection.hurry();
        let rest = async {
            while let Some(event) = pool.next().await {
                self.note(event);
            }
        };
        if tokio::time::timeout(STOP_TIME, rest).await.is_err() {
            tracing::warn!("not all work could be put back in time: its leases run out");
        }
    }

    /// Starts all that may be started now.
    fn start<'a>(&mut self, pool: &mut FuturesUnordered<Job<'a, W>>, moment: Moment)
    where
        W: 'a,
    {
        let now = moment.now;
        if moment.opens > now {
            self.leave_to_the_next_run();
            return;
        }
        if let Some(recruit) = &self.recruit
            && self.recruit_due.is_some_and(|due| due <= now)
        {
            self.recruit_due = None;
            let known: BTreeSet<_> = self.seats.keys().cloned().collect();
            let found = recruit(known);
            pool.push(Box::pin(async move { Event::Recruited(found.await) }));
        }
        while self.seats.values().filter(|seat| seat.next == Next::Now).count() < SURVEYS {
            let due = self.seats.iter_mut().filter(|(_, seat)| seat.due().is_some_and(|due| due <= now));
            let Some((repo, seat)) = due.min_by_key(|(_, seat)| seat.due()) else { break };
            seat.next = Next::Now;
            let (repo, worker, scope) = (repo.clone(), seat.worker.clone(), self.scope.clone());
            pool.push(Box::pin(async move { Event::Surveyed(repo, worker.survey(&scope).await) }));
        }
        while let Some((repo, worker, number, base)) = self.next_issue() {
            pool.push(Box::pin(async move {
                let taken = worker.take_and_tell(number, &base).await;
                Event::Taken(repo, number, taken)
            }));
        }
    }

    /// The issue whose turn it is, where a job is free: now it is in hand.
    fn next_issue(&mut self) -> Option<(RepoName, W, IssueNumber, Arc<BaseBranch>)> {
        let in_hand = self.in_hand();
        let room = self.limits.max_issues.is_none_or(|max| self.summary.worked + in_hand < max);
        if in_hand >= self.jobs || !room {
            return None;
        }
        let waiting = self.seats.iter().filter(|(_, seat)| !seat.queue.is_empty() && seat.base.is_some());
        let repo = whose_turn(waiting.map(|(repo, seat)| (repo, seat.in_hand.len())), self.served.as_ref())?.clone();
        self.served = Some(repo.clone());
        let seat = self.seats.get_mut(&repo)?;
        let (number, base) = (seat.queue.pop_front()?, seat.base.clone()?);
        seat.in_hand.insert(number);
        Some((repo, seat.worker.clone(), number, base))
    }

    fn in_hand(&self) -> usize {
        self.seats.values().map(|seat| seat.in_hand.len()).sum()
    }

    /// Takes what came to its end.
    fn note(&mut self, event: Event<W>) {
        match event {
            Event::Surveyed(repo, found) => self.note_survey(&repo, found),
            Event::Taken(repo, number, taken) => {
                self.summary.add(&taken);
                if let Some(seat) = self.seats.get_mut(&repo) {
                    seat.in_hand.remove(&number);
                    if matches!(taken, Ok(Taken::Worked | Taken::Tended)) {
                        seat.was_active(&self.poll);
                    }
                }
                match self.scope {
                    Scope::All => {}
                    Scope::These(_) => self.taken.push((number, taken)),
                }
            }
            Event::Recruited(news) => {
                self.recruit_due = (self.mode == Mode::Forever).then(|| Instant::now() + self.poll.max_interval);
                match news {
                    Ok(news) => self.regroup(news),
                    Err(error) => {
                        tracing::warn!(%error, "the installation's repositories could not be listed: {error}");
                        self.first_error.get_or_insert(error);
                    }
                }
            }
        }
        self.seats.retain(|_, seat| !seat.retired || !seat.in_hand.is_empty() || seat.next == Next::Now);
    }

    fn note_survey(&mut self, repo: &RepoName, found: Result<Survey, WorkError>) {
        let busy = self.in_hand() >= self.jobs;
        let alone = self.seats.len() == 1;
        let Some(seat) = self.seats.get_mut(repo) else { return };
        let pause = match found {
            Ok(survey) => {
                self.summary.merge(&survey.tended);
                let pause = seat.found(survey, &self.poll);
                // Nothing could be begun before a job is free, which asks anew.
                if busy { pause.max(self.poll.max_interval) } else { pause }
            }
            Err(WorkError::Stopped) => FAR,
            Err(error) => {
                // Where it is the run's one error, whoever asked for the run tells it.
                if self.mode == Mode::Forever || !alone {
                    seat.worker.tell(&Notice::Failed { issue: None, reason: error.to_string() });
                }
                let pause = seat.failed(&error, &self.poll);
                self.first_error.get_or_insert(error);
                pause
            }
        };
        if seat.retired {
            seat.retire();
        }
        seat.next = match self.mode {
            Mode::Forever if !seat.retired => Next::At(Instant::now() + pause),
            Mode::Forever | Mode::Once => Next::Never,
        };
    }

    /// Gives new repositories their place, and takes it from those that are gone.
    fn regroup(&mut self, news: News<W>) {
        for (repo, seat) in &mut self.seats {
            if !news.all.contains(repo) {
                tracing::info!(%repo, "{repo} is no longer the installation's");
                seat.retire();
            }
        }
        for worker in news.new {
            tracing::info!(repo = %worker.forge().repo(), "{} is worked on from now on", worker.forge().repo());
            self.seat(worker);
        }
    }

    /// While the forge does not want to be asked for long, a run that asks once has nothing to wait for.
    fn leave_to_the_next_run(&mut self) {
        let patience = self.connection.patience();
        let Some(wait) = self.connection.closed_for().filter(|wait| self.mode == Mode::Once && *wait > patience) else {
            return;
        };
        for seat in self.seats.values_mut().filter(|seat| !seat.queue.is_empty() || seat.due().is_some()) {
            seat.queue.clear();
            seat.next = Next::Never;
            let reason =
                format!("the forge's rate limit is used up for {} s: the rest is left to a later run", wait.as_secs());
            seat.worker.tell(&Notice::Failed { issue: None, reason });
        }
        self.recruit_due = None;
    }

    /// Whether as many issues were worked on as there may be.
    fn is_full(&self) -> bool {
        self.limits.max_issues.is_some_and(|max| self.summary.worked >= max)
    }

    /// Whether nothing is left to do, or nothing before the run's end.
    fn is_over(&self, wake: Instant) -> bool {
        let done = |seat: &Seat<W>| seat.next == Next::Never && seat.queue.is_empty();
        let done = self.recruit_due.is_none() && self.seats.values().all(done);
        done || self.ends.is_some_and(|ends| wake >= ends)
    }

    /// When something is due, the gate's opening included.
    fn wakes_at(&self, moment: Moment) -> Instant {
        let waiting = self.seats.values().any(|seat| !seat.queue.is_empty());
        let dues = self.seats.values().filter_map(Seat::due).chain(self.recruit_due);
        moment.next(dues, waiting)
    }
}

/// What the clocks say, read once for what is started and for the sleep after it: what came due between two readings
/// would be neither started nor waited for.
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
    let key = |(repo, in_hand): &(&'a RepoName, usize)| (*in_hand, served.is_some_and(|served| *repo <= served), *repo);
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

    #[test]
    fn repositories_take_turns_and_who_has_less_in_hand_comes_first() {
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
