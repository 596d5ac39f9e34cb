//! A run that only reads, instead of the work: its agent's final text is for people.

use std::ops::ControlFlow;

use hob_domain::{BlockReason, ChangeText, Outcome};
use hob_text::without_tokens;
use hob_workspace::WorkspaceError;

use crate::{
    WorkError, Worker,
    attempt::{
        agent_run::run_agent, branch::commit, end::AttemptEnd, job::Job, remaining_allowance::remaining_allowance,
        rounds::failed,
    },
};

/// Has the agent read; returns its final text, or how the attempt ends instead.
pub(super) async fn read_only(worker: &Worker, job: &Job<'_>) -> Result<ControlFlow<AttemptEnd, String>, WorkError> {
    let allowance = match remaining_allowance(worker, job) {
        Ok(allowance) => allowance,
        Err(reason) => return Ok(ControlFlow::Break(AttemptEnd::Blocked(reason))),
    };
    let report = Box::pin(run_agent(worker, job, 0, &[], allowance)).await?;
    throw_away(worker, job).await?;
    Ok(ControlFlow::Break(AttemptEnd::Blocked(match report.outcome {
        Outcome::Done { summary, .. } => return Ok(ControlFlow::Continue(summary)),
        Outcome::NothingToDo { reason: said } => BlockReason::NoChanges { said },
        Outcome::Question { question } => BlockReason::Question { question },
        // There is no work yet that another profile could continue, so a person is asked.
        Outcome::HandOff(given) => BlockReason::Question { question: without_tokens(&given.as_question()) },
        Outcome::ApprovalNeeded { proposed } => BlockReason::ApprovalNeeded(proposed),
        Outcome::Failed { reason, failure } => {
            return Ok(ControlFlow::Break(failed(worker, job, reason, failure).await?));
        }
    })))
}

/// Restores the folder to the branch: such an agent only reads, and if no sandbox enforces that, Hob does.
async fn throw_away(worker: &Worker, job: &Job<'_>) -> Result<(), WorkError> {
    let before = job.checkout.tip().await?;
    // Never pushed: it tells whether there is anything.
    let is_changed = match commit(worker, job, &ChangeText::untitled("Thrown away")).await {
        Ok(()) => job.checkout.tip().await? != before,
        Err(WorkError::Workspace(WorkspaceError::Unfit(_))) => true,
        Err(error) => return Err(error),
    };
    if is_changed {
        worker.progress(job.number(), "discarding the files that the agent changed: it was only allowed to read");
    }
    job.checkout.unwind(&before).await?;
    Ok(job.checkout.restore(job.checkout.start()).await?)
}
