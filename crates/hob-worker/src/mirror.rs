//! The mirror of the repository on this machine. Other processes of Hob use it, too, one at a time.

use std::time::Duration;

use hob_domain::Sha;
use hob_workspace::{BranchName, Remote, Workspace, WorkspaceError};
use tokio::time::Instant;

use crate::Worker;

/// The pause before a mirror that is in use is tried again.
const BUSY_PAUSE: Duration = Duration::from_millis(100);

/// Brings the mirror up to date; returns the tip of the base.
pub(super) async fn fetch(worker: &Worker, remote: &Remote, base: &BranchName) -> Result<Sha, WorkspaceError> {
    let patience = patience_of(&worker.workspace);
    loop {
        match worker.workspace.fetch(remote, base).await {
            Ok(sha) => return Ok(sha),
            Err(error) => wait_while_busy(error, patience).await?,
        }
    }
}

/// How long to wait for a mirror that another process uses: as long as a transfer may take.
pub(super) fn patience_of(workspace: &Workspace) -> Instant {
    Instant::now() + workspace.transfer_time()
}

/// Pauses before a mirror that is in use is tried again; any other error, or one after `patience`, is returned.
pub(super) async fn wait_while_busy(error: WorkspaceError, patience: Instant) -> Result<(), WorkspaceError> {
    match error {
        WorkspaceError::Busy { .. } if Instant::now() < patience => tokio::time::sleep(BUSY_PAUSE).await,
        error => return Err(error),
    }
    Ok(())
}
