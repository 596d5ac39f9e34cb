//! The heartbeat: it renews the lease during an attempt, and watches what may interrupt the work: a lost lease, a
//! request in the ledger, an issue that is closed, unlabeled, or cancelled by a comment.

use hob_domain::{IssueStatus, Timestamp};
use hob_forge::{Issue, RENEWALS};

use crate::{
    WorkError, Worker,
    attempt::{
        end::Interrupt,
        listen::{follow_new_commands, requested},
        weather::survives,
    },
    held_issue::HeldIssue,
    trigger::trigger_is_gone,
};

/// Renews and watches until something interrupts the work.
///
/// # Errors
/// [`WorkError`] if the lease is lost, or ended before it could be renewed.
pub(super) async fn heartbeat(worker: &Worker, held: &HeldIssue) -> Result<Interrupt, WorkError> {
    let lease = &held.lease;
    let renewal = worker.settings.lease.duration / RENEWALS;
    let look = renewal.min(worker.settings.poll.interval);
    let mut seen = held.issue.updated_at;
    loop {
        tokio::time::sleep(look).await;
        // Each write of the ledger renews the lease, and so may the heartbeat of another one.
        let is_due = lease.age() + look > renewal;
        let watched =
            if is_due { worker.forge.ledger().renew(lease).await } else { worker.forge.ledger().watch(lease).await };
        match watched {
            Ok(()) => {}
            Err(error) if survives(worker, lease, &error) => {
                tracing::warn!(issue = lease.issue().0, %error, "the lease could not be renewed yet: {error}");
                continue;
            }
            Err(error) => {
                lease.lost().cancel();
                return Err(error.into());
            }
        }
        if let Some(interrupt) = requested(worker, lease) {
            return Ok(interrupt);
        }
        match withdrawn(worker, held, &mut seen).await {
            Ok(None) => {}
            Ok(Some(interrupt)) => return Ok(interrupt),
            // Whether the issue still wants the work is asked again before anything is published.
            Err(error) => {
                tracing::debug!(issue = held.issue.number.0, %error, "the issue could not be watched: {error}");
            }
        }
    }
}

/// Whether people no longer want the work: the issue is closed, or its trigger label was removed.
pub(super) async fn is_withdrawn(worker: &Worker, issue: &Issue) -> Result<bool, WorkError> {
    if worker.still_wanted(issue) {
        return Ok(false);
    }
    Ok(issue.status != IssueStatus::Open || trigger_is_gone(worker).await?.is_none())
}

/// The interrupt if the issue no longer asks for the work. `seen` is the time of its last known change.
async fn withdrawn(worker: &Worker, held: &HeldIssue, seen: &mut Timestamp) -> Result<Option<Interrupt>, WorkError> {
    let Some(now) = worker.forge.issues().get(held.issue.number).await? else { return Ok(Some(Interrupt::Withdrawn)) };
    if is_withdrawn(worker, &now).await? {
        return Ok(Some(Interrupt::Withdrawn));
    }
    // Comments on its pull request do not change the issue.
    if now.updated_at <= *seen && held.lease.record().pull.number.is_none() {
        return Ok(None);
    }
    let interrupt = follow_new_commands(worker, held, &now).await?;
    *seen = now.updated_at;
    Ok(interrupt)
}
