//! A repository's queue at the scheduler: the waiting issues, those in progress, and the time of the next poll.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use hob_config::PollSettings;
use hob_domain::{FailureClass, IssueNumber, error_pause, poll_pause, until_due};
use hob_forge::BaseBranch;
use tokio::time::Instant;

use crate::{
    WorkError, Worker,
    metrics::METRICS,
    schedule::{
        poll::{Look, Poll, Work},
        seen::Seen,
        wake::APART,
    },
};

/// Whether and when a repository is polled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PollState {
    /// At this time.
    Due(Instant),
    /// The forge is asked whether there is anything to poll for.
    Asking,
    /// It is being polled.
    Polling,
    /// It is not polled any more.
    Never,
}

/// The result of a repository's last poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastPoll {
    /// There was none yet.
    None,
    /// Success.
    Ok,
    /// An error.
    Failed,
    /// An error that only an operator or a maintainer can fix.
    Lacking,
}

/// A repository's queue and its worker.
pub(super) struct RepositoryQueue {
    pub(super) worker: Arc<Worker>,
    /// The issues to work on, in the order of the plan.
    pub(super) waiting: VecDeque<Work>,
    /// Issues to look at, those first that have waited for longest.
    pub(super) looks: VecDeque<Look>,
    /// The work that the last poll found.
    queued: BTreeSet<IssueNumber>,
    /// Issues in progress.
    pub(super) in_progress: BTreeSet<IssueNumber>,
    /// Issues that are being looked at.
    pub(super) looked_at: BTreeSet<IssueNumber>,
    /// The branch that the waiting work starts from.
    pub(super) base: Option<Arc<BaseBranch>>,
    pub(super) poll: PollState,
    pub(super) last_poll: LastPoll,
    pub(super) seen: Seen,
    /// Whether it takes no new work: it left the installation.
    pub(super) retired: bool,
    /// Whether news came since its poll, or the question whether there is one to make, began.
    pub(super) woken: bool,
    idle_polls: u32,
    errors: u32,
}

impl RepositoryQueue {
    pub(super) fn new(worker: Arc<Worker>) -> Self {
        Self {
            worker,
            waiting: VecDeque::new(),
            looks: VecDeque::new(),
            queued: BTreeSet::new(),
            in_progress: BTreeSet::new(),
            looked_at: BTreeSet::new(),
            base: None,
            poll: PollState::Due(Instant::now()),
            last_poll: LastPoll::None,
            seen: Seen::default(),
            retired: false,
            woken: false,
            idle_polls: 0,
            errors: 0,
        }
    }

    /// Applies the result of a poll; returns the time until the next one.
    pub(super) fn found(&mut self, found: Poll, poll: &PollSettings) -> Duration {
        self.last_poll = LastPoll::Ok;
        self.errors = 0;
        self.waiting.retain(|work| !work.waits_for_room());
        let before = std::mem::take(&mut self.queued);
        let known: Vec<_> = self.waiting.iter().map(|work| work.issue()).collect();
        self.queued = found.work.iter().copied().collect();
        let is_new = |issue: &IssueNumber| !self.in_progress.contains(issue) && !known.contains(issue);
        self.waiting.extend(found.work.into_iter().filter(is_new).map(Work::Attempt));
        // Waiting issues keep their place: a poll that comes before all looks are done would start them over for ever.
        self.looks.retain(|look| found.looks.contains(look));
        for look in found.looks {
            let issue = look.issue();
            let is_known = self.looks.contains(&look) || self.looked_at.contains(&issue);
            let is_wanted = match look {
                Look::ForAnswer(_) => !self.waiting.iter().any(|work| work.issue() == issue),
                // What is found just now is mostly taken at once, and looked at then.
                Look::ForCommands(_) => !self.queued.contains(&issue) || before.contains(&issue),
            };
            if !is_known && is_wanted && !self.in_progress.contains(&issue) {
                self.looks.push_back(look);
            }
        }
        self.base = found.base;
        // Whether a waiting issue is work shows only when it is taken up: a blocked one may wait for months.
        let active = found.reconciled.reconciled > 0;
        self.idle_polls = if active { 0 } else { self.idle_polls.saturating_add(1) };
        until_due(poll_pause(self.idle_polls, poll.interval, poll.max_interval()), found.due)
    }

    /// Notes that there is nothing to poll for; returns the time until the next poll.
    pub(super) fn found_nothing(&mut self, poll: &PollSettings) -> Duration {
        METRICS.polls.nothing_new(self.worker.forge().repo());
        if let Some(watcher) = &self.worker.watcher {
            watcher.nothing_new(self.worker.forge().repo());
        }
        self.idle_polls = self.idle_polls.saturating_add(1);
        poll_pause(self.idle_polls, poll.interval, poll.max_interval())
    }

    /// Notes that the poll failed; returns the time until the next one.
    pub(super) fn failed(&mut self, error: &WorkError, poll: &PollSettings) -> Duration {
        let is_lacking = error.class() == FailureClass::Misconfigured;
        self.last_poll = if is_lacking { LastPoll::Lacking } else { LastPoll::Failed };
        self.waiting.clear();
        self.looks.clear();
        let pause = error_pause(self.errors, poll.interval, rand::random());
        self.errors = self.errors.saturating_add(1);
        match error.class() {
            FailureClass::Transient { retry_after: Some(wait) } => pause.max(wait),
            // The person who fixes it checks whether it works now.
            FailureClass::Misconfigured | FailureClass::NeedsHuman => pause.min(poll.interval.saturating_mul(2)),
            FailureClass::Transient { retry_after: None }
            | FailureClass::Unfinished
            | FailureClass::QuotaExhausted { .. }
            | FailureClass::Permanent
            | FailureClass::Cancelled => pause,
        }
    }

    /// Lets it be polled soon, because news came.
    pub(super) fn wake(&mut self) {
        match self.poll {
            // After an error it is polled when that says so.
            PollState::Due(due) if matches!(self.last_poll, LastPoll::None | LastPoll::Ok) => {
                let apart = self.seen.polled_at().map_or_else(Instant::now, |at| at + APART);
                self.poll = PollState::Due(due.min(apart));
                self.idle_polls = 0;
                // It is polled without the question whether there is anything to poll for.
                self.seen.is_asked = true;
            }
            PollState::Asking | PollState::Polling => self.woken = true,
            PollState::Due(_) | PollState::Never => {}
        }
    }

    /// Notes that there was work: more may follow soon.
    pub(super) fn was_active(&mut self, poll: &PollSettings) {
        self.idle_polls = 0;
        if let PollState::Due(due) = self.poll {
            self.poll = PollState::Due(due.min(Instant::now() + poll.interval));
        }
    }

    /// Notes a problem that only an operator or a maintainer can fix, and sets the time of the next check.
    pub(super) fn lacks_something(&mut self, error: &WorkError, poll: &PollSettings) {
        let pause = self.failed(error, poll);
        if let PollState::Due(_) = self.poll {
            self.poll = PollState::Due(Instant::now() + pause);
        }
    }

    /// Notes that the repository has no room: work that needs some waits for the next poll, which checks it.
    pub(super) fn is_full(&mut self) {
        self.waiting.retain(|work| !work.waits_for_room());
    }

    /// The place of the work to do next: an issue that is being looked at is held for a moment.
    pub(super) fn next_work(&self) -> Option<usize> {
        self.waiting.iter().position(|work| !self.looked_at.contains(&work.issue()))
    }

    /// Whether anything waits for a job or for a look.
    pub(super) fn has_work(&self) -> bool {
        !self.waiting.is_empty() || !self.looks.is_empty()
    }

    /// When its poll is due.
    pub(super) fn due(&self) -> Option<Instant> {
        match self.poll {
            PollState::Due(due) => Some(due),
            PollState::Asking | PollState::Polling | PollState::Never => None,
        }
    }

    /// Takes no new work; work in progress is finished.
    pub(super) fn retire(&mut self) {
        self.retired = true;
        METRICS.polls.forget(self.worker.forge().repo());
        if let Some(watcher) = &self.worker.watcher {
            watcher.forget(self.worker.forge().repo());
        }
        self.waiting.clear();
        self.looks.clear();
        if let PollState::Due(_) = self.poll {
            self.poll = PollState::Never;
        }
    }
}
