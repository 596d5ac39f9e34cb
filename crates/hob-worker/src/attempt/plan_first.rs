//! The plan before the work: the agent reads and says what it would do, and a person approves that or says what should be
//! different.
//!
//! # Guarantees
//! Before the approval nothing is pushed and no pull request is opened: what the run changed in its folder is thrown away, and
//! no work is kept of an attempt that plans. The approval is of one plan for one text of the issue; after it the work goes on in
//! the same session.

use hob_domain::{
    Allowance, BlockReason, ChangeText, CostLimit, FailureClass, Outcome, PlanBrief, Record, RunPurpose, Spend,
    WorkPlan,
};
use hob_workspace::WorkspaceError;

use crate::{
    WorkError, Worker,
    attempt::{
        agent_run::run_agent,
        branch::commit,
        end::AttemptEnd,
        job::Job,
        rounds::{failed, left},
    },
    authorize::plan_by_label,
    transition::HeldIssue,
};

/// What the runs of the attempt are for.
pub(super) async fn purpose(worker: &Worker, held: &HeldIssue) -> Result<RunPurpose, WorkError> {
    Ok(if wants_plan(worker, held).await? { RunPurpose::Plan } else { RunPurpose::Work })
}

/// Whether somebody wants to see a plan before the work, by the settings or on the issue, and nobody has approved one.
async fn wants_plan(worker: &Worker, held: &HeldIssue) -> Result<bool, WorkError> {
    let (record, issue) = (held.lease.record(), &held.issue);
    // What is in a pull request is judged there.
    if record.pull_request.is_some() || record.approved_plan().is_some() {
        return Ok(false);
    }
    if worker.settings.plan.applies_to(&issue.body) {
        return Ok(true);
    }
    Ok(match plan_by_label(worker, issue).await? {
        None => false,
        Some(Ok(())) => true,
        Some(Err(why)) => {
            worker.progress(issue.number, &why);
            false
        }
    })
}

/// What the agent is told of a plan.
pub(super) fn plan_brief<'a>(job: &Job<'_>, record: &'a Record) -> Option<PlanBrief<'a>> {
    match job.purpose {
        RunPurpose::Plan => Some(PlanBrief::Make(record.plan.proposed.as_ref())),
        RunPurpose::Work => record.approved_plan().map(PlanBrief::CarryOut),
    }
}

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
            Ok(plan) => BlockReason::PlanProposed { plan, cost: cost_limit(worker, job) },
            Err(no_plan) => {
                let passing = FailureClass::Transient { retry_after: None };
                return Box::pin(failed(worker, job, no_plan.to_string(), passing)).await;
            }
        },
        Outcome::NothingToDo { reason: said } => BlockReason::NoChanges { said },
        Outcome::Question { question } => BlockReason::Question { question },
        Outcome::ApprovalNeeded { proposed } => BlockReason::ApprovalNeeded(proposed),
        Outcome::Failed { reason, failure } => return Box::pin(failed(worker, job, reason, failure)).await,
    }))
}

/// Takes the folder back to the branch: an agent that plans only reads, and where no sandbox holds it to that, Hob does.
async fn throw_away(worker: &Worker, job: &Job<'_>) -> Result<(), WorkError> {
    let before = job.checkout.tip().await?;
    // Never pushed: it tells whether there is anything.
    let is_changed = match commit(worker, job, &ChangeText::untitled("Thrown away")).await {
        Ok(()) => job.checkout.tip().await? != before,
        Err(WorkError::Workspace(WorkspaceError::Unfit(_))) => true,
        Err(error) => return Err(error),
    };
    if is_changed {
        worker.progress(job.number(), "the agent changed files while it planned: they are thrown away");
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
