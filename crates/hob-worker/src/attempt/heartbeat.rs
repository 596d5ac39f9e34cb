//! The heartbeat: it renews the lease during an attempt, and watches what may interrupt the work: a lost lease, a
//! request in the ledger, an issue that is closed, unlabeled, or cancelled by a comment.

use std::time::Duration;

use hob_domain::{Command, Control, FailureClass, Timestamp};
use hob_forge::{ForgeError, HeldLease};
use tokio::time::Instant;

use crate::{WorkError, Worker, attempt::end::Interrupt, authorize::command_since, transition::HeldIssue};

/// Renews and watches until something interrupts the work.
///
/// # Errors
/// [`WorkError`] when the lease is lost, or ended before it could be renewed.
pub(super) async fn heartbeat(worker: &Worker, held: &HeldIssue) -> Result<Interrupt, WorkError> {
    let lease = &held.lease;
    let renewal = worker.settings.lease.duration / 3;
    let look = renewal.min(worker.settings.poll.interval);
    let mut renewed = Instant::now();
    let mut seen = held.issue.updated_at;
    loop {
        tokio::time::sleep(look).await;
        let due = renewed.elapsed() + look > renewal;
        let watched =
            if due { worker.forge.ledger().renew(lease).await } else { worker.forge.ledger().watch(lease).await };
        match watched {
            Ok(()) if due => renewed = Instant::now(),
            Ok(()) => {}
            Err(error) => {
                survive(worker, lease, error)?;
                continue;
            }
        }
        if let Some(request) = lease.record().request {
            return Ok(match request.control {
                Control::Pause => Interrupt::Paused(request.pause(worker.forge.now())),
                Control::Terminate => Interrupt::Terminated(request.by),
            });
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

/// Until the lease ends there is time to reach the forge again.
fn survive(worker: &Worker, lease: &HeldLease, error: ForgeError) -> Result<(), ForgeError> {
    let expired = worker.forge.permit(lease, Duration::ZERO, "renew the lease").is_err();
    match error.class() {
        FailureClass::Transient { .. } if !expired => {
            tracing::warn!(issue = lease.issue().0, %error, "the lease could not be renewed yet: {error}");
            Ok(())
        }
        FailureClass::Transient { .. }
        | FailureClass::QuotaExhausted { .. }
        | FailureClass::Permanent
        | FailureClass::NeedsHuman
        | FailureClass::Misconfigured
        | FailureClass::Cancelled => {
            lease.lost().cancel();
            Err(error)
        }
    }
}

/// Whether the issue no longer asks for the work. `seen` is when it had last changed.
async fn withdrawn(worker: &Worker, held: &HeldIssue, seen: &mut Timestamp) -> Result<Option<Interrupt>, WorkError> {
    let Some(now) = worker.forge.issues().get(held.issue.number).await? else { return Ok(Some(Interrupt::Withdrawn)) };
    if !worker.still_wanted(&now) {
        return Ok(Some(Interrupt::Withdrawn));
    }
    if now.updated_at <= *seen || now.comments == 0 {
        return Ok(None);
    }
    let since = held.lease.record().claimed_at;
    let given = command_since(worker, &now, since).await?;
    *seen = now.updated_at;
    Ok(given.and_then(|given| match given.command {
        Command::Cancel => Some(Interrupt::Terminated(given.by)),
        Command::Retry | Command::Unblock(_) | Command::Approve(_) => None,
    }))
}
