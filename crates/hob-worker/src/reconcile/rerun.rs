//! Reruns failed jobs of the forge before an agent works on what may only be flaky.
//!
//! # Guarantees
//! The ledger records the rerun before the forge is asked: a worker that dies in between leaves the jobs to a round,
//! and no job of a head is rerun twice.

use std::{collections::BTreeSet, sync::Arc};

use hob_domain::{ForgeCheckState, ReviewEvent, Sha, Transition};
use hob_forge::BaseBranch;

use crate::{
    WorkError, Worker,
    held_issue::HeldIssue,
    observe::Observed,
    pull_facts::head_checks,
    reconcile::outcome::Reconciled,
    transition::{acquire, release},
};

/// Reruns the jobs among these checks of the head. Those that cannot be rerun are worked on at the next poll.
pub(super) async fn rerun(
    worker: &Worker,
    observed: Observed,
    failed: Vec<ReviewEvent>,
    head: &Sha,
    base: &Arc<BaseBranch>,
) -> Result<Reconciled, WorkError> {
    let held = acquire(worker, observed, base, Transition::Rerun { failed: failed.clone() }).await?;
    if let Err(error) = run_again(worker, &held, &failed, head).await {
        tracing::warn!(issue = held.issue.number.0, %error, "failed jobs do not run once more: {error}");
    }
    release(worker, &held).await?;
    Ok(Reconciled::UpToDate)
}

async fn run_again(worker: &Worker, held: &HeldIssue, failed: &[ReviewEvent], head: &Sha) -> Result<(), WorkError> {
    let is_it =
        |name: &str| failed.iter().any(|event| matches!(event, ReviewEvent::Check { name: of, .. } if of == name));
    let mut runs = BTreeSet::new();
    for check in head_checks(worker, head).await? {
        if let Some(job) = check.run.filter(|_| check.is_job && check.state == ForgeCheckState::Failed)
            && is_it(&check.name)
        {
            runs.insert(worker.forge.failed_job(job).run().await?);
        }
    }
    for run in runs {
        worker.forge.workflow_run(run).rerun_failed_jobs(&held.lease).await?;
    }
    Ok(())
}
