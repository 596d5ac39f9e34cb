//! The scheduler's tasks: their cost in writes, and the guard that keeps them from ending the process.

use std::{any::Any, panic::AssertUnwindSafe, time::Duration};

use futures_util::FutureExt;
use hob_config::Settings;
use hob_forge::{Connection, RENEWALS};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::WorkError;

/// The time limit for requeueing work in progress.
pub(super) const STOP_TIME: Duration = Duration::from_millis(4_500);

/// Writes of an attempt beside the renewals of its lease, if no ledger moves by push: 22 from label to pull request, and a lost race
/// (`lab/measure/figures.py`).
const WRITES_AN_ATTEMPT: u64 = 24;
/// Writes of a renewal over the API: a commit and the move of a ref.
const WRITES_A_RENEWAL: u64 = 2;
/// Writes of this process that an attempt takes, if it lasts as long as it may.
pub(super) fn writes_an_attempt(settings: &Settings) -> usize {
    if settings.executor.is_remote() {
        return 0;
    }
    let renewal = (settings.lease.duration / RENEWALS).as_secs().max(1);
    let renewals = settings.limits.attempt_time.as_secs() / renewal;
    usize::try_from(WRITES_AN_ATTEMPT + WRITES_A_RENEWAL * renewals).unwrap_or(usize::MAX)
}

/// A task whose panic is an error like any other: one bad issue stops neither the worker nor another issue.
pub(super) async fn unwound<T>(task: impl Future<Output = Result<T, WorkError>>) -> Result<T, WorkError> {
    AssertUnwindSafe(task).catch_unwind().await.unwrap_or_else(|panic| Err(WorkError::Panicked(message_of(&*panic))))
}

fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it gave no reason".to_owned())
}

/// The result of `work`; `None` if the worker was stopped and `work` did not end within [`STOP_TIME`] of that.
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

/// The next task that ended; `None` if there is none.
pub(super) async fn next<T: 'static>(tasks: &mut JoinSet<T>) -> Option<T> {
    loop {
        match tasks.join_next().await? {
            Ok(completed) => return Some(completed),
            // Panics are caught in the task: only the runtime's own end cancels one.
            Err(error) => tracing::error!(%error, "a task of the scheduler did not end: {error}"),
        }
    }
}
