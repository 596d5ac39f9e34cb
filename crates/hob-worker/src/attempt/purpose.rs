//! What the runs of an attempt are for: the work, a plan of it where somebody wants to see one first, a report, or an investigation.

use hob_domain::{PlanBrief, Record, RunPurpose};

use crate::{
    WorkError, Worker,
    attempt::{job::Job, specialist::Brings},
    authorize::label_counts,
    held_issue::HeldIssue,
};

/// What the runs of the attempt are for, by what it is to bring.
pub(super) async fn purpose(worker: &Worker, held: &HeldIssue, brings: Brings) -> Result<RunPurpose, WorkError> {
    Ok(match brings {
        Brings::Conclusion => RunPurpose::Investigate,
        Brings::Comment => RunPurpose::Report,
        Brings::Issues => RunPurpose::Plan,
        Brings::Change if wants_plan(worker, held).await? => RunPurpose::Plan,
        Brings::Change => RunPurpose::Work,
    })
}

/// Whether a label asks for an investigation.
pub(super) async fn wants_investigation(worker: &Worker, held: &HeldIssue) -> Result<bool, WorkError> {
    let record = held.lease.record();
    // What is in a pull request is judged there, and after the report of an investigation another profile goes on.
    if record.pull_request.is_some() || record.is_handed_on() {
        return Ok(false);
    }
    asked_by_label(worker, held, worker.settings.labels.asks_for_investigation(&held.issue.labels)).await
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
    asked_by_label(worker, held, worker.settings.labels.asks_for_plan(&issue.labels)).await
}

/// Whether the label is on, by an authorized account; why it is passed over is told.
async fn asked_by_label(worker: &Worker, held: &HeldIssue, label: Option<&str>) -> Result<bool, WorkError> {
    let Some(label) = label else { return Ok(false) };
    let counts = label_counts(worker, &held.issue, label).await?;
    if let Err(why) = &counts {
        worker.progress(held.issue.number, why);
    }
    Ok(counts.is_ok())
}

/// What the agent is told of a plan.
pub(super) fn plan_brief<'a>(job: &Job<'_>, record: &'a Record) -> Option<PlanBrief<'a>> {
    match job.purpose {
        RunPurpose::Plan if job.shifts.now().specialist.brings == Brings::Issues => {
            Some(PlanBrief::Split(record.plan.proposed.as_ref()))
        }
        RunPurpose::Plan => Some(PlanBrief::Make(record.plan.proposed.as_ref())),
        RunPurpose::Report | RunPurpose::Investigate | RunPurpose::Review => None,
        RunPurpose::Work => record.approved_plan().map(PlanBrief::CarryOut),
    }
}
