//! The plan before the work: the agent reads and says what it would do, or which issues it would open, and a person
//! approves that or asks for changes.
//!
//! # Guarantees
//! Before the approval nothing is pushed and no pull request is opened: the run's changes in its folder are discarded,
//! and a planning attempt keeps no work. The approval is of one plan for one text of the issue; afterwards the work
//! continues in the same session.

use std::ops::ControlFlow;

use hob_domain::{Allowance, BlockReason, Brings, CostLimit, Note, Spend, WorkPlan, failure_mark};

use crate::{
    WorkError, Worker,
    attempt::{end::AttemptEnd, job::Job, read_only::read_only},
};

/// Has the agent make a plan, and asks a person about it.
pub(super) async fn plan_first(worker: &Worker, job: &Job<'_>) -> Result<AttemptEnd, WorkError> {
    let summary = match Box::pin(read_only(worker, job)).await? {
        ControlFlow::Continue(summary) => summary,
        ControlFlow::Break(end) => return Ok(end),
    };
    let brings = job.active.now().loaded.brings;
    let plan = if brings == Brings::Issues { WorkPlan::read_split(&summary) } else { WorkPlan::read(&summary) };
    match plan {
        Ok(plan) => {
            let cost = cost_limit(worker, job);
            Ok(AttemptEnd::Blocked(BlockReason::PlanProposed { plan: Box::new(plan), cost }))
        }
        Err(no_plan) => {
            let failure = no_plan.to_string();
            Ok(match has_stalled(job, &failure).await? {
                true => AttemptEnd::Blocked(BlockReason::NoProgress { failure }),
                false => AttemptEnd::Retry { failure },
            })
        }
    }
}

/// Notes how the agent failed to make a plan, and on which work; returns whether it failed in the same way the last
/// time.
async fn has_stalled(job: &Job<'_>, failure: &str) -> Result<bool, WorkError> {
    let work = job.checkout.diff(job.checkout.base(), &job.checkout.tip().await?).await?;
    let mark = failure_mark(failure, &work.patch);
    let has_stalled = job.held.lease.record().failure.mark.as_ref() == Some(&mark);
    if !has_stalled {
        job.held.lease.note(Note::Failure(mark)).await;
    }
    Ok(has_stalled)
}

/// The limit on the cost of the work after the plan.
fn cost_limit(worker: &Worker, job: &Job<'_>) -> CostLimit {
    let (budgets, record) = (worker.settings.budgets(), job.held.lease.record());
    let money = |left: Allowance| left.usd_micros;
    CostLimit {
        attempt: budgets.attempt.left(Spend::default()).ok().and_then(money),
        // A used-up budget leaves zero, not an unlimited rest.
        issue: budgets.issue.usd_micros.map(|whole| whole.saturating_sub(record.spend.usd_micros)),
        quote: record.work.quote,
    }
}
