//! The plan before the work: the agent reads and says what it would do, and a person approves that or says what should be
//! different.
//!
//! # Guarantees
//! Before the approval nothing is pushed and no pull request is opened: what the run changed in its folder is thrown away, and
//! no work is kept of an attempt that plans. The approval is of one plan for one text of the issue; after it the work goes on in
//! the same session.

use hob_domain::{
    Allowance, BlockReason, ChangeText, CostLimit, FailureClass, Outcome, Spend, WorkPlan, without_tokens,
};
use hob_workspace::WorkspaceError;

use crate::{
    WorkError, Worker,
    attempt::{agent_run::run_agent, branch::commit, end::AttemptEnd, job::Job, left::left, rounds::failed},
};

/// Has the agent make a plan, and asks a person about it.
pub(super) async fn plan_first(worker: &Worker, job: &Job<'_>) -> Result<AttemptEnd, WorkError> {
    let allowance = match left(worker, job) {
        Ok(allowance) => allowance,
        Err(reason) => return Ok(AttemptEnd::Blocked(reason)),
    };
    let report = Box::pin(run_agent(worker, job, 0, &[], allowance)).await?;
    Box::pin(throw_away(worker, job)).await?;
    Ok(AttemptEnd::Blocked(match report.outcome {
        Outcome::Done { summary, .. } => match WorkPlan::read(&summary) {
            Ok(plan) => BlockReason::PlanProposed { plan: Box::new(plan), cost: cost_limit(worker, job) },
            Err(no_plan) => {
                let passing = FailureClass::Transient { retry_after: None };
                return Box::pin(failed(worker, job, no_plan.to_string(), passing)).await;
            }
        },
        Outcome::NothingToDo { reason: said } => BlockReason::NoChanges { said },
        Outcome::Question { question } => BlockReason::Question { question },
        // A plan is handed to a person.
        Outcome::HandOver(given) => BlockReason::Question { question: without_tokens(&given.as_question()) },
        Outcome::ApprovalNeeded { proposed } => BlockReason::ApprovalNeeded(proposed),
        Outcome::Failed { reason, failure } => return Box::pin(failed(worker, job, reason, failure)).await,
    }))
}

/// Takes the folder back to the branch: such an agent only reads, and where no sandbox holds it to that, Hob does.
pub(super) async fn throw_away(worker: &Worker, job: &Job<'_>) -> Result<(), WorkError> {
    let before = job.checkout.tip().await?;
    // Never pushed: it tells whether there is anything.
    let is_changed = match commit(worker, job, &ChangeText::untitled("Thrown away")).await {
        Ok(()) => job.checkout.tip().await? != before,
        Err(WorkError::Workspace(WorkspaceError::Unfit(_))) => true,
        Err(error) => return Err(error),
    };
    if is_changed {
        worker.progress(job.number(), "the agent was only to read, and changed files: they are thrown away");
    }
    job.checkout.unwind(&before).await?;
    Ok(job.checkout.restore().await?)
}

/// What the work may cost after the plan.
fn cost_limit(worker: &Worker, job: &Job<'_>) -> CostLimit {
    let budgets = worker.settings.limits.budgets();
    let money = |left: Allowance| left.usd_micros;
    CostLimit {
        attempt: budgets.attempt.left(Spend::default()).ok().and_then(money),
        // What is used up leaves nothing, not no limit.
        issue: budgets.issue.usd_micros.map(|whole| whole.saturating_sub(job.held.lease.record().spend.usd_micros)),
    }
}
