//! Work that passed its checks and could not go to its branch: it waits under a ref of Hob's own, where another machine finds it.
//!
//! # Guarantees
//! Only the commit that the ledger names is taken from there: other writes to the ref change nothing.

use std::time::Duration;

use hob_domain::Sha;
use hob_forge::Staging;
use hob_workspace::{WorkspaceError, stage};

use crate::{WorkError, Worker, attempt::job::Job};

/// The longest time for keeping the work of an attempt that ends early. A job of Actions that is cancelled has 7.5 s in all.
pub(super) const KEEP_TIME: Duration = Duration::from_secs(3);

/// Stages a commit of the issue: pushes it to a ref of Hob's own, which no branch has.
pub(super) async fn stage_commit(
    worker: &Worker,
    job: &Job<'_>,
    place: Staging<'_>,
    head: &Sha,
) -> Result<(), WorkError> {
    let (lease, remote) = (&job.held.lease, worker.remote().await?);
    let deadline = worker.settings.workspace.transfer_time.min(worker.settings.lease.duration / 2);
    worker.forge.cover(lease, deadline, "push commits that are on no branch").await?;
    match stage(&worker.workspace, &job.checkout, &remote, head, place.name()).await {
        // An attempt before left it.
        Err(WorkspaceError::LeaseLost { .. }) => {
            place.remove(lease).await?;
            Ok(stage(&worker.workspace, &job.checkout, &remote, head, place.name()).await?)
        }
        staged => Ok(staged?),
    }
}

/// Keeps the work that passed its checks, where it is on no branch and that can be done soon.
pub(super) async fn keep_proven(worker: &Worker, job: &Job<'_>) {
    let record = job.held.lease.record();
    let Some(head) = record.unpublished().filter(|head| job.pushed().as_ref() != Some(*head)) else { return };
    if job.kept.as_ref() == Some(head) {
        return;
    }
    let staged = stage_commit(worker, job, worker.forge.kept(job.number()), head);
    let kept = tokio::time::timeout(KEEP_TIME, staged).await;
    match kept.map_or_else(|_elapsed| Err("timed out".to_owned()), |kept| kept.map_err(|error| error.to_string())) {
        Ok(()) => worker.activity(job.number(), "keeping the work that passed its checks for the next attempt"),
        Err(why) => {
            tracing::warn!(issue = job.number().0, why, "the work is kept on this machine only: {why}")
        }
    }
}

/// Removes the kept work of an issue that no longer needs it. If that fails, it is removed when the issue is next
/// published.
pub(super) async fn remove_kept(worker: &Worker, job: &Job<'_>) {
    if job.kept.is_none() {
        return;
    }
    if let Err(error) = worker.forge.kept(job.number()).remove(&job.held.lease).await {
        tracing::warn!(issue = job.number().0, %error, "the work that was kept before stays on the forge: {error}");
    }
}
