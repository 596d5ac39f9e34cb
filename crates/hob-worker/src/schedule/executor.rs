//! Has an issue worked on where the settings say: by this process, or by a job elsewhere, which claims the issue by itself.

use std::sync::Arc;

use hob_domain::{Headroom, IssueNumber, Sha};
use hob_forge::BaseBranch;

use crate::{
    RemoteEnd, RemoteExecutor, RemoteTask, WorkError, Worker,
    attempt::room_after_pause,
    reconcile::Reconciled,
    schedule::{
        poll::{Work, take_up, told},
        ready::longest_at,
    },
};

/// Has the issue worked on where the settings say.
pub(super) async fn begin(worker: &Worker, work: Work, base: &Arc<BaseBranch>) -> Result<Reconciled, WorkError> {
    match &worker.remote {
        None => take_up(worker, work, base).await,
        Some(remote) => told(worker, work.issue(), Box::pin(hand_out(worker, work, base, &**remote)).await),
    }
}

async fn hand_out(
    worker: &Worker,
    work: Work,
    base: &BaseBranch,
    remote: &dyn RemoteExecutor,
) -> Result<Reconciled, WorkError> {
    let issue = work.issue();
    if work.waits_for_room() && matches!(room_after_pause(worker, issue).await, Ok(Headroom::None)) {
        return Ok(Reconciled::NoRoom);
    }
    let before = ledger_at(worker, issue).await?;
    if worker.memory.handed_out.waits(issue, before.as_ref()) {
        return Ok(Reconciled::Nothing);
    }
    let repo = worker.forge.repo().clone();
    let task = RemoteTask { repo, issue, ledger: before.clone(), longest: longest_at(worker, &base.sha).await? };
    let redaction = worker.forge.connection().secrets().redaction();
    let tell = |text: &str| worker.progress(issue, &redaction.text(text));
    let end = remote.work_on(&task, &tell, &worker.cancel).await?;
    if end == RemoteEnd::Cancelled {
        return Ok(Reconciled::Nothing);
    }
    let after = ledger_at(worker, issue).await?;
    if after != before {
        // The ledger does not know what ended its worker from outside, such as an eviction.
        if let RemoteEnd::Failed { what, said } = &end {
            tell(&format!("{what}: {said}"));
        }
        return Ok(Reconciled::Worked);
    }
    let pause = worker.memory.handed_out.note(issue, after, end == RemoteEnd::Succeeded);
    match end {
        RemoteEnd::Failed { what, said } => {
            Err(WorkError::Executor { what, said: redaction.text(&said).into_owned(), pause })
        }
        RemoteEnd::Succeeded | RemoteEnd::Cancelled => {
            tracing::info!(issue = issue.0, "the executor's job ended, and the issue is as before");
            Ok(Reconciled::Nothing)
        }
    }
}

/// The commit that the issue's ledger is at.
async fn ledger_at(worker: &Worker, issue: IssueNumber) -> Result<Option<Sha>, WorkError> {
    Ok(worker.forge.ledger().tip(issue).await?.map(|tip| tip.commit))
}
