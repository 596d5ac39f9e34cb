//! The heartbeat: it renews the lease during an attempt, and watches what may interrupt the work: a lost lease, a
//! request in the ledger, an issue that is closed, unlabeled, or cancelled by a comment.

use std::time::Duration;

use hob_domain::{Asked, Command, Control, FailureClass, Note, Timestamp, follow};
use hob_forge::{ForgeError, HeldLease};
use tokio::time::Instant;

use crate::{WorkError, Worker, attempt::end::Interrupt, authorize::commands_since, transition::HeldIssue};

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
    let record = held.lease.record();
    let given = Box::pin(commands_since(worker, &now, record.claimed_at, &record.commands.handled)).await?;
    let interrupts = |asked: &Asked| matches!(asked, Asked::Known(Command::Cancel | Command::Pause(_)));
    if let Some(given) = given.iter().find(|given| interrupts(&given.asked)) {
        // Whoever takes the issue over obeys it, too.
        let request = follow(&record, &given.asked, given.comment, &given.by, worker.forge.now());
        Box::pin(worker.forge.ledger().transition(&held.lease, request)).await?;
    }
    if given.iter().any(|given| !interrupts(&given.asked)) {
        held.lease.note(Note::CommandWaits).await;
    }
    *seen = now.updated_at;
    Ok(requested(worker, &held.lease))
}

/// What the ledger asks of the holder.
fn requested(worker: &Worker, lease: &HeldLease) -> Option<Interrupt> {
    let request = lease.record().request?;
    Some(match request.control {
        Control::Pause => Interrupt::Paused(request.pause(worker.forge.now())),
        Control::Terminate => Interrupt::Terminated(request.by),
    })
}
