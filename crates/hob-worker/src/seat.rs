//! A repository's place at the dispatcher: what waits there, what is in hand, and when it is asked again.

use std::{
    collections::{BTreeSet, VecDeque},
    ops::Deref,
    sync::Arc,
    time::Duration,
};

use hob_config::PollSettings;
use hob_domain::{FailureClass, IssueNumber, error_pause, poll_pause, until_due};
use hob_forge::BaseBranch;
use tokio::time::Instant;

use crate::{WorkError, Worker, survey::Survey};

/// When a repository is surveyed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Then.
    At(Instant),
    /// It is being surveyed.
    Now,
    /// No more.
    Never,
}

/// Whether a repository's last survey went well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// It did, or there was none yet.
    Well,
    /// It did not.
    Failed,
}

/// A repository and its worker.
pub(super) struct Seat<W> {
    pub(super) worker: W,
    /// Issues to work on, in the order of the plan.
    pub(super) queue: VecDeque<IssueNumber>,
    /// Issues in hand.
    pub(super) in_hand: BTreeSet<IssueNumber>,
    /// The branch that the queue's work starts from.
    pub(super) base: Option<Arc<BaseBranch>>,
    pub(super) next: Next,
    pub(super) standing: Standing,
    /// Whether it takes no new work: it left the installation.
    pub(super) retired: bool,
    idle_polls: u32,
    errors: u32,
}

impl<W: Deref<Target = Worker>> Seat<W> {
    pub(super) fn new(worker: W) -> Self {
        Self {
            worker,
            queue: VecDeque::new(),
            in_hand: BTreeSet::new(),
            base: None,
            next: Next::At(Instant::now()),
            standing: Standing::Well,
            retired: false,
            idle_polls: 0,
            errors: 0,
        }
    }

    /// Takes what a survey found; how long until the next one.
    pub(super) fn found(&mut self, survey: Survey, poll: &PollSettings) -> Duration {
        self.standing = Standing::Well;
        self.errors = 0;
        self.queue = survey.work.into_iter().filter(|number| !self.in_hand.contains(number)).collect();
        self.base = survey.base;
        // Whether what waits is work shows only when it is taken up: a blocked issue may wait for months.
        let active = survey.tended.tended > 0 || !self.in_hand.is_empty();
        self.idle_polls = if active { 0 } else { self.idle_polls.saturating_add(1) };
        until_due(poll_pause(self.idle_polls, poll.interval, poll.max_interval), survey.due)
    }

    /// Takes it that the survey failed; how long until the next one.
    pub(super) fn failed(&mut self, error: &WorkError, poll: &PollSettings) -> Duration {
        self.standing = Standing::Failed;
        self.queue.clear();
        let pause = error_pause(self.errors, poll.interval, rand::random());
        self.errors = self.errors.saturating_add(1);
        match error.class() {
            FailureClass::Transient { retry_after: Some(wait) } => pause.max(wait),
            FailureClass::Transient { retry_after: None }
            | FailureClass::QuotaExhausted { .. }
            | FailureClass::Permanent
            | FailureClass::NeedsHuman
            | FailureClass::Cancelled => pause,
        }
    }

    /// Takes it that there was work: more may follow soon.
    pub(super) fn was_active(&mut self, poll: &PollSettings) {
        self.idle_polls = 0;
        if let Next::At(due) = self.next {
            self.next = Next::At(due.min(Instant::now() + poll.interval));
        }
    }

    /// When it is due, where it is.
    pub(super) fn due(&self) -> Option<Instant> {
        match self.next {
            Next::At(due) => Some(due),
            Next::Now | Next::Never => None,
        }
    }

    /// Takes no new work any more; what is in hand is finished.
    pub(super) fn retire(&mut self) {
        self.retired = true;
        self.queue.clear();
    }
}
