//! A draft whose checks are green is marked as ready for review, once.

use std::sync::Arc;

use hob_domain::{FailureClass, Note, PullNumber, Transition};
use hob_forge::BaseBranch;

use crate::{
    WorkError, WorkEvent, Worker,
    observe::Observed,
    reconcile::outcome::Reconciled,
    transition::{acquire, release},
};

/// Marks the pull request as ready, unless a person was faster, and notes that Hob no longer keeps it as a draft: a
/// person who makes it one again has the last word. If a worker dies in between, the next one finds it done.
pub(super) async fn mark_ready(
    worker: &Worker,
    observed: Observed,
    pull: PullNumber,
    base: &Arc<BaseBranch>,
) -> Result<Reconciled, WorkError> {
    let what = format!("marked pull request {pull} as ready for review: its checks have passed");
    let held = acquire(worker, observed, base, Transition::Reconcile { what: what.clone() }).await?;
    match worker.forge.pulls().mark_ready(&held.lease, pull).await {
        Ok(()) => {}
        Err(error) if matches!(error.class(), FailureClass::Transient { .. }) => return Err(error.into()),
        Err(error) => {
            let reason = format!("pull request {pull} stays a draft: {error}");
            tracing::warn!(issue = held.issue.number.0, "{reason}");
            worker.emit(&WorkEvent::Failed { issue: Some(held.issue.number), reason });
        }
    }
    held.lease.note(Note::MarkedReady(pull)).await;
    worker.progress(held.issue.number, &what);
    release(worker, &held).await?;
    Ok(Reconciled::UpToDate)
}
