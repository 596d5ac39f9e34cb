//! How far a run goes and what it did; and the run of one repository alone.

use std::{sync::Arc, time::Duration};

use hob_domain::IssueNumber;
use hob_forge::{CallCounts, Rate};
use serde::Serialize;

use crate::{
    WorkError, Worker,
    reconcile::Reconciled,
    schedule::{
        poll::{Poll, Scope, poll, reconcile_and_report},
        scheduler::{Mode, Scheduler},
    },
};

/// How far one run goes.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunLimits {
    /// Issues to work on at most.
    pub max_issues: Option<usize>,
    /// After this time the run ends as a stopped one does: work in progress is requeued.
    pub max_runtime: Option<Duration>,
}

/// What a run did.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RunSummary {
    /// Issues that were worked on.
    pub worked: usize,
    /// Issues whose labels, ledger or comment were brought up to date.
    pub reconciled: usize,
    /// Issues that failed in a way that left them to the next run.
    pub failed: usize,
    /// Repositories that could not be asked when they were asked last.
    pub repositories_failed: usize,
    /// Calls to the forge.
    pub calls: CallCounts,
    /// What is left of the forge's quotas.
    pub rates: Vec<Rate>,
}

impl RunSummary {
    pub(super) fn add(&mut self, result: &Result<Reconciled, WorkError>) {
        match result {
            Ok(Reconciled::Worked) => self.worked += 1,
            Ok(Reconciled::UpToDate) => self.reconciled += 1,
            Ok(Reconciled::Nothing) => {}
            Err(_) => self.failed += 1,
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.worked += other.worked;
        self.reconciled += other.reconciled;
        self.failed += other.failed;
    }

    /// This run after an `earlier` one of the same process.
    pub(super) fn after(self, earlier: &Self) -> Self {
        let (worked, reconciled) = (self.worked + earlier.worked, self.reconciled + earlier.reconciled);
        Self { worked, reconciled, failed: self.failed + earlier.failed, ..self }
    }
}

/// Polls one repository once and works on all that is there.
///
/// # Errors
/// [`WorkError`] when the forge could not be asked; one issue's trouble is not the run's.
pub async fn run_once(worker: &Arc<Worker>, limits: RunLimits) -> Result<RunSummary, WorkError> {
    scheduler_of(worker, limits, Mode::Once).run().await
}

/// Polls one repository until the worker is stopped or its limits are reached. It survives any error.
pub async fn run_forever(worker: &Arc<Worker>, limits: RunLimits) -> RunSummary {
    scheduler_of(worker, limits, Mode::Forever).run().await.unwrap_or_default()
}

/// Polls one repository once and works through what is there in this task, one issue after the other.
///
/// # Errors
/// [`WorkError`] when the forge could not be asked; one issue's trouble is not the run's.
pub async fn run_sequentially(worker: &Worker) -> Result<RunSummary, WorkError> {
    Ok(work_through(worker, &Scope::All).await?.0)
}

/// As [`run_sequentially`], over the issues of `scope`; what became of each issue that was worked on too.
pub(super) async fn work_through(
    worker: &Worker,
    scope: &Scope,
) -> Result<(RunSummary, Vec<(IssueNumber, Result<Reconciled, WorkError>)>), WorkError> {
    let connection = worker.forge.connection();
    let mut results = Vec::new();
    let mut summary = RunSummary::default();
    if let Some(Poll { reconciled, work, base: Some(base), .. }) = poll(worker, scope).await? {
        summary.merge(&reconciled);
        for number in work {
            if worker.cancel.is_cancelled() {
                break;
            }
            let work = reconcile_and_report(worker, number, &base);
            let hurry = async {
                worker.cancel.cancelled().await;
                connection.skip_spacing();
                std::future::pending::<()>().await;
            };
            let result = tokio::select! {
                result = work => result,
                () = hurry => break,
            };
            summary.add(&result);
            results.push((number, result));
        }
    }
    let (calls, rates) = (connection.call_counts(), connection.rates());
    Ok((RunSummary { calls, rates, ..summary }, results))
}

/// The scheduler of one worker.
pub(super) fn scheduler_of(worker: &Arc<Worker>, limits: RunLimits, mode: Mode) -> Scheduler {
    let connection = worker.forge.connection();
    let mut scheduler = Scheduler::new(connection, &worker.settings, worker.cancel.clone(), (limits, mode), None);
    scheduler.add(Arc::clone(worker));
    scheduler
}
