//! What the runs of an attempt are for: the work, a plan of it where somebody wants to see one first, or an investigation.

use hob_domain::{PlanBrief, Record, RunPurpose};

use crate::{
    WorkError, Worker,
    attempt::job::Job,
    authorize::{investigation_by_label, plan_by_label},
    transition::HeldIssue,
};

/// What the runs of the attempt are for, where nobody asked for an investigation.
pub(super) async fn purpose(worker: &Worker, held: &HeldIssue) -> Result<RunPurpose, WorkError> {
    Ok(if wants_plan(worker, held).await? { RunPurpose::Plan } else { RunPurpose::Work })
}

/// Whether a label asks for an investigation.
pub(super) async fn wants_investigation(worker: &Worker, held: &HeldIssue) -> Result<bool, WorkError> {
    // What is in a pull request is judged there.
    if held.lease.record().pull_request.is_some() {
        return Ok(false);
    }
    Ok(match investigation_by_label(worker, &held.issue).await? {
        None => false,
        Some(Ok(())) => true,
        Some(Err(why)) => {
            worker.progress(held.issue.number, &why);
            false
        }
    })
}

/// Whether somebody wants to see a plan before the work, by the settings, a command or a label, and nobody has approved one.
async fn wants_plan(worker: &Worker, held: &HeldIssue) -> Result<bool, WorkError> {
    let (record, issue) = (held.lease.record(), &held.issue);
    // What is in a pull request is judged there.
    if record.pull_request.is_some() || record.approved_plan().is_some() {
        return Ok(false);
    }
    if record.commands.wants_plan.is_some() || worker.settings.plan.applies_to(&issue.body) {
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
        RunPurpose::Investigate | RunPurpose::Review => None,
        RunPurpose::Work => record.approved_plan().map(PlanBrief::CarryOut),
    }
}
