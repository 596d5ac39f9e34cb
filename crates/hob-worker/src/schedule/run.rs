//! The run of one repository alone.

use std::sync::Arc;

use hob_domain::IssueNumber;

use crate::{
    RunLimits, RunSummary, WorkError, Worker,
    reconcile::{Reconciled, Slot},
    schedule::{
        poll::{Look, Poll, Scope, Work, look, poll, take_up},
        scheduler::{Mode, Scheduler},
        tasks::within_stop_time,
    },
};

/// Polls one repository once and works on all that is there.
///
/// # Errors
/// [`WorkError`] if the forge could not be asked; the trouble of one issue does not fail the run.
pub async fn run_once(worker: &Arc<Worker>, limits: RunLimits) -> Result<RunSummary, WorkError> {
    scheduler_of(worker, limits, Mode::Once).run().await
}

/// Polls one repository until the worker is stopped or its limits are reached. It survives any error.
pub async fn run_forever(worker: &Arc<Worker>, limits: RunLimits) -> RunSummary {
    scheduler_of(worker, limits, Mode::Forever).run().await.unwrap_or_default()
}

/// Polls one repository once and works on its issues in this task, one after the other.
///
/// # Errors
/// [`WorkError`] if the forge could not be asked; the trouble of one issue does not fail the run.
pub async fn run_sequentially(worker: &Worker) -> Result<RunSummary, WorkError> {
    Ok(work_through(worker, &Scope::All).await?.0)
}

/// Like [`run_sequentially`], over the issues of `scope`; also returns the result for each issue that was worked on.
pub(super) async fn work_through(
    worker: &Worker,
    scope: &Scope,
) -> Result<(RunSummary, Vec<(IssueNumber, Result<Reconciled, WorkError>)>), WorkError> {
    let connection = worker.forge.connection();
    let mut results = Vec::new();
    let mut summary = RunSummary::default();
    if let Some(Poll { reconciled, work, looks, base: Some(base), .. }) = poll(worker, scope).await? {
        summary.merge(&reconciled);
        let mut is_full = false;
        let waiting = looks.iter().filter(|look| matches!(look, Look::ForCommands(_))).copied();
        let waiting: Vec<_> = waiting.filter(|look| !work.contains(&look.issue())).collect();
        for waits in waiting {
            summary.add(&look(worker, waits, &base, Slot::None).await);
        }
        let blocked = looks.into_iter().filter(|look| matches!(look, Look::ForAnswer(_)));
        // A sequential run looks at these and works in one.
        for work in work.into_iter().map(Work::Attempt).chain(blocked.map(|look| Work::Answered(look.issue()))) {
            if worker.cancel.is_cancelled() {
                break;
            }
            if is_full && work.waits_for_room() {
                continue;
            }
            let number = work.issue();
            let work = Box::pin(take_up(worker, work, &base));
            let Some(result) = within_stop_time(&worker.cancel, connection, work).await else { break };
            summary.add(&result);
            is_full |= matches!(result, Ok(Reconciled::NoRoom));
            results.push((number, result));
        }
    }
    let (calls, rates) = (connection.call_counts(), connection.rates());
    Ok((RunSummary { calls, rates, ..summary }, results))
}

/// The scheduler of one worker.
pub(super) fn scheduler_of(worker: &Arc<Worker>, limits: RunLimits, mode: Mode) -> Scheduler {
    let connection = worker.forge.connection();
    let mut scheduler = Scheduler::new(connection, &worker.settings, worker.cancel.clone(), limits, mode, None);
    scheduler.add(Arc::clone(worker));
    scheduler
}
