//! The loop: poll, decide, work, wait.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use futures_util::{StreamExt, stream};
use serde::Serialize;
use tokio::time::Instant;

use crate::{
    domain::{Action, Decision, IssueNumber, Planned, plan, poll_pause},
    forge::{BaseBranch, Tally},
    worker::{Notice, WorkError, Worker, claim::Taken},
};

/// The pause after an error that nothing explains (A8).
const ERROR_PAUSE: Duration = Duration::from_secs(300);

/// How far one run goes.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunLimits {
    /// Issues to work on at most.
    pub max_issues: Option<usize>,
    /// No issue is begun after this time.
    pub max_runtime: Option<Duration>,
}

/// What a run did.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RunSummary {
    /// Issues that were worked on.
    pub worked: usize,
    /// Issues whose labels, ledger or comment were brought up to date.
    pub tended: usize,
    /// Issues that failed in a way that left them to the next run.
    pub failed: usize,
    /// Calls to the forge.
    pub calls: Tally,
}

impl RunSummary {
    fn add(&mut self, taken: &Result<Taken, WorkError>) {
        match taken {
            Ok(Taken::Worked) => self.worked += 1,
            Ok(Taken::Tended) => self.tended += 1,
            Ok(Taken::Nothing) => {}
            Err(_) => self.failed += 1,
        }
    }

    fn found_work(&self) -> bool {
        self.worked + self.tended > 0
    }
}

impl Worker {
    /// Polls once and works on all that is there.
    ///
    /// # Errors
    /// [`WorkError`] when the forge could not be asked; one issue's trouble is not the run's.
    pub async fn run_once(&self, limits: RunLimits) -> Result<RunSummary, WorkError> {
        let mut summary = self.pass(limits, Instant::now()).await?;
        summary.calls = self.forge.tally();
        Ok(summary)
    }

    /// Polls until the worker is stopped or its limits are reached. It survives any error.
    pub async fn run_forever(&self, limits: RunLimits) -> RunSummary {
        let started = Instant::now();
        let mut total = RunSummary::default();
        let mut idle_polls = 0;
        loop {
            let room = limits.max_issues.map(|max| max.saturating_sub(total.worked));
            let pause = match self.pass(RunLimits { max_issues: room, ..limits }, started).await {
                Ok(pass) => {
                    idle_polls = if pass.found_work() { 0 } else { idle_polls + 1 };
                    total.worked += pass.worked;
                    total.tended += pass.tended;
                    total.failed += pass.failed;
                    poll_pause(idle_polls, self.settings.poll.interval, self.settings.poll.max_interval)
                }
                Err(error) => {
                    self.tell(&Notice::Failed { issue: None, reason: error.to_string() });
                    match error.class() {
                        crate::domain::FailureClass::Transient { retry_after: Some(wait) } => wait,
                        _class => ERROR_PAUSE,
                    }
                }
            };
            total.calls = self.forge.tally();
            let over = limits.max_runtime.is_some_and(|max| started.elapsed() + pause >= max);
            if over || limits.max_issues.is_some_and(|max| total.worked >= max) || self.cancel.is_cancelled() {
                return total;
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.cancel.cancelled() => return total,
            }
        }
    }

    async fn pass(&self, limits: RunLimits, started: Instant) -> Result<RunSummary, WorkError> {
        let found = self.discover().await?;
        let planned = plan(&found.snapshot, &self.settings.plan_rules(), self.forge.now());
        let (mut tend, mut work) = (Vec::new(), Vec::new());
        for planned in &planned {
            match &planned.decision {
                Decision::Act(Action::Claim | Action::Recover(_) | Action::SeekAnswer) => {
                    work.push(planned.issue.number)
                }
                Decision::Act(
                    Action::AskAboutRejection(_)
                    | Action::ReturnToReview(_)
                    | Action::Rebuild
                    | Action::SeekCommand
                    | Action::Obey(_)
                    | Action::Finish(_)
                    | Action::RepairLabels(_)
                    | Action::ShowState,
                ) => {
                    tend.push(planned.issue.number);
                }
                Decision::Wait(_) => {}
            }
        }
        self.tell(&Notice::Polled { issues: planned.len(), ready: work.len() });
        let mut summary = RunSummary::default();
        if tend.is_empty() && work.is_empty() {
            return Ok(summary);
        }
        self.prune(&planned).await;
        let base = self.forge.base_branch().await?;
        for number in tend {
            summary.add(&self.take_and_tell(number, &base).await);
        }
        if work.is_empty() {
            return Ok(summary);
        }
        self.forge.ensure_labels(&self.settings.labels.specs()).await?;
        let begun = AtomicUsize::new(0);
        let jobs = stream::iter(work).map(|number| {
            let (base, begun) = (&base, &begun);
            async move {
                let over = limits.max_runtime.is_some_and(|max| started.elapsed() >= max);
                let full = limits.max_issues.is_some_and(|max| begun.load(Ordering::Relaxed) >= max);
                if over || full || self.cancel.is_cancelled() {
                    return Ok(Taken::Nothing);
                }
                let taken = self.take_and_tell(number, base).await;
                if matches!(taken, Ok(Taken::Worked)) {
                    begun.fetch_add(1, Ordering::Relaxed);
                }
                taken
            }
        });
        let mut ended = jobs.buffer_unordered(self.settings.limits.jobs);
        while let Some(taken) = ended.next().await {
            summary.add(&taken);
        }
        Ok(summary)
    }

    /// Removes the checkouts of issues that nobody works on any more.
    async fn prune(&self, planned: &[Planned<'_>]) {
        let keep: Vec<IssueNumber> = planned.iter().map(|planned| planned.issue.number).collect();
        let before = self.forge.now() - self.settings.workspace.keep;
        if let Err(error) = self.workspace.prune(self.forge.repo(), before, &keep).await {
            // Room on the disk is not worth an issue's attempt.
            tracing::warn!(%error, "old checkouts could not be removed: {error}");
        }
    }

    async fn take_and_tell(&self, number: IssueNumber, base: &BaseBranch) -> Result<Taken, WorkError> {
        let taken = Box::pin(self.take(number, base)).await;
        if let Err(error) = &taken {
            self.tell(&Notice::Failed { issue: Some(number), reason: error.to_string() });
        }
        taken
    }
}
