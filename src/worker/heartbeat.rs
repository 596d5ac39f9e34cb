//! The heartbeat: the lease is renewed while the work goes on; a lease that is lost ends the work.

use std::future::Future;

use crate::{
    domain::FailureClass,
    forge::{ForgeError, HeldLease},
    worker::{WorkError, Worker},
};

impl Worker {
    /// Runs `work` while the lease is renewed beside it. When the lease is lost, the work is dropped, which ends its
    /// children, and writes nothing more; so it is when the worker is asked to stop.
    pub(super) async fn with_heartbeat<T>(
        &self,
        lease: &HeldLease,
        work: impl Future<Output = Result<T, WorkError>>,
    ) -> Result<T, WorkError> {
        tokio::select! {
            result = work => result,
            error = self.beat(lease) => Err(error.into()),
            () = self.cancel.cancelled() => Err(WorkError::Stopped),
        }
    }

    /// Renews until the lease is lost.
    async fn beat(&self, lease: &HeldLease) -> ForgeError {
        loop {
            tokio::time::sleep(self.heartbeat_interval()).await;
            if let Err(error) = self.forge.renew(lease).await {
                let expired = self.forge.permit(lease, std::time::Duration::ZERO, "renew the lease").is_err();
                match error.class() {
                    // Until the lease ends there is time to reach the forge again.
                    FailureClass::Transient { .. } if !expired => {
                        tracing::warn!(issue.number = lease.issue().0, %error, "the lease could not be renewed yet");
                    }
                    FailureClass::Transient { .. }
                    | FailureClass::Permanent
                    | FailureClass::NeedsHuman
                    | FailureClass::Cancelled => {
                        lease.lost().cancel();
                        return error;
                    }
                }
            }
        }
    }
}
