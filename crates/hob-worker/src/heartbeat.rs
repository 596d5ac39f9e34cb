//! The heartbeat: the lease is renewed while the work goes on, and everything that may end the work is watched: a lost
//! lease, a request in the ledger, an issue that is closed, or its label taken off, or cancelled by a comment.

use std::{future::Future, time::Duration};

use hob_domain::{Command, Control, FailureClass, Timestamp};
use hob_forge::{ForgeError, HeldLease, Issue};
use tokio::time::Instant;

use crate::{WorkError, Worker};

impl Worker {
    /// Runs `work` while the lease is renewed beside it. When the lease is lost or somebody ends the work, it is dropped,
    /// which ends its children; so it is when the worker is asked to stop.
    pub(super) async fn with_heartbeat<T>(
        &self,
        lease: &HeldLease,
        issue: &Issue,
        work: impl Future<Output = Result<T, WorkError>>,
    ) -> Result<T, WorkError> {
        tokio::select! {
            result = work => result,
            error = Box::pin(self.beat(lease, issue)) => Err(error),
            () = self.cancel.cancelled() => Err(WorkError::Stopped),
        }
    }

    /// Looks and renews until something ends the work.
    async fn beat(&self, lease: &HeldLease, issue: &Issue) -> WorkError {
        let renewal = self.heartbeat_interval();
        let look = renewal.min(self.settings.poll.interval);
        let mut renewed = Instant::now();
        let mut seen = issue.updated_at;
        loop {
            tokio::time::sleep(look).await;
            let due = renewed.elapsed() + look > renewal;
            let watched = if due { self.forge.renew(lease).await } else { self.forge.watch(lease).await };
            match watched {
                Ok(()) if due => renewed = Instant::now(),
                Ok(()) => {}
                Err(error) => match self.survivable(lease, error) {
                    Ok(()) => continue,
                    Err(error) => return error.into(),
                },
            }
            if let Some(end) = self.asked_to_end(lease) {
                return end;
            }
            match self.withdrawn(lease, &mut seen).await {
                Ok(None) => {}
                Ok(Some(end)) => return end,
                // Whether the issue still wants the work is asked again before anything is published.
                Err(error) => tracing::debug!(issue.number = issue.number.0, %error, "the issue could not be watched"),
            }
        }
    }

    /// Until the lease ends there is time to reach the forge again.
    fn survivable(&self, lease: &HeldLease, error: ForgeError) -> Result<(), ForgeError> {
        let expired = self.forge.permit(lease, Duration::ZERO, "renew the lease").is_err();
        match error.class() {
            FailureClass::Transient { .. } if !expired => {
                tracing::warn!(issue.number = lease.issue().0, %error, "the lease could not be renewed yet");
                Ok(())
            }
            FailureClass::Transient { .. }
            | FailureClass::QuotaExhausted { .. }
            | FailureClass::Permanent
            | FailureClass::NeedsHuman
            | FailureClass::Cancelled => {
                lease.lost().cancel();
                Err(error)
            }
        }
    }

    fn asked_to_end(&self, lease: &HeldLease) -> Option<WorkError> {
        let request = lease.record().request?;
        Some(match request.control {
            Control::Pause => WorkError::Paused(request.pause(self.forge.now())),
            Control::Terminate => WorkError::Terminated(request.by),
        })
    }

    /// Whether the issue no longer asks for the work. `seen` is when it had last changed.
    async fn withdrawn(&self, lease: &HeldLease, seen: &mut Timestamp) -> Result<Option<WorkError>, WorkError> {
        let Some(now) = self.forge.issue(lease.issue()).await? else { return Ok(Some(WorkError::Withdrawn)) };
        if !self.still_wanted(&now) {
            return Ok(Some(WorkError::Withdrawn));
        }
        if now.updated_at <= *seen || now.comments == 0 {
            return Ok(None);
        }
        let since = lease.record().claimed_at;
        let command = self.command_since(&now, since).await?;
        *seen = now.updated_at;
        Ok(command.and_then(|said| match said.command {
            Command::Cancel => Some(WorkError::Terminated(said.by)),
            Command::Retry | Command::Unblock(_) | Command::Approve(_) => None,
        }))
    }
}
