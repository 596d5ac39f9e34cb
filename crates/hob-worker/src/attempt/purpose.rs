//! The purpose of an attempt's runs: the work, a plan of it if one is wanted first, a report, or an investigation.

use hob_domain::{Brings, Record, RunPurpose};
use hob_words::PlanBrief;

use crate::{
    WorkError, Worker,
    attempt::job::Job,
    authorize::{LabelVerdict, label_counts},
    held_issue::HeldIssue,
};

/// The purpose of the attempt's runs, by its deliverable.
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
    // Work in a pull request is judged there, and another profile continues after the report of an investigation.
    if record.pull.number.is_some() || record.is_handed_on() {
        return Ok(false);
    }
    asked_by_label(worker, held, worker.settings.labels.asks_for_investigation(&held.issue.labels)).await
}

/// Whether a plan is wanted before the work, by the settings, a command or a label, and none is approved yet.
async fn wants_plan(worker: &Worker, held: &HeldIssue) -> Result<bool, WorkError> {
    let (record, issue) = (held.lease.record(), &held.issue);
    // Work in a pull request is judged there.
    if record.pull.number.is_some() || record.approved_plan().is_some() {
        return Ok(false);
    }
    if record.commands.wants_plan.is_some() || worker.settings.plan.applies_to(&issue.body) {
        return Ok(true);
    }
    asked_by_label(worker, held, worker.settings.labels.asks_for_plan(&issue.labels)).await
}

/// Whether the label is on, by an authorized account; reports why it is ignored otherwise.
async fn asked_by_label(worker: &Worker, held: &HeldIssue, label: Option<&str>) -> Result<bool, WorkError> {
    let Some(label) = label else { return Ok(false) };
    match label_counts(worker, &held.issue, label).await? {
        LabelVerdict::Counts => Ok(true),
        LabelVerdict::Ignored(why) => {
            worker.progress(held.issue.number, &why.to_string());
            Ok(false)
        }
    }
}

/// The agent's instructions for a plan.
pub(super) fn plan_brief<'a>(job: &Job<'_>, record: &'a Record) -> Option<PlanBrief<'a>> {
    match job.purpose {
        RunPurpose::Plan if job.active.now().loaded.brings == Brings::Issues => {
            Some(PlanBrief::Split(record.approval.plan.proposed.as_ref()))
        }
        RunPurpose::Plan => Some(PlanBrief::Make(record.approval.plan.proposed.as_ref())),
        RunPurpose::Report | RunPurpose::Investigate | RunPurpose::Review => None,
        RunPurpose::Work => record.approved_plan().map(PlanBrief::CarryOut),
    }
}
