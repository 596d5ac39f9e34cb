//! An attempt whose result is one comment: the conclusion of an investigation, or the findings of a profile that
//! reports. Its runs only read.
//!
//! # Flow
//! A request for evidence and a change of state that needs a person's word block the issue; the reply is evidence, and
//! the same session continues with it, or, on another machine, a new one from the issue and its comments. When there is
//! a result, the report is written, the trigger label is removed, and the ledger records that the work is done. If the
//! conclusion names a profile to continue, the issue is handed off to it instead, and its work is an attempt of its
//! own.
//!
//! # Guarantees
//! Nothing is pushed, and no pull request is opened. There is one report for each time that the trigger label was
//! added: it has a mark, which is searched for before anything runs, and after a write whose answer was lost.

use std::ops::ControlFlow;

use hob_domain::{BlockReason, EventId, Note, investigation::next_profile};
use hob_forge::Look;
use hob_words::{report_comment, report_mark, report_of};

use crate::{
    WorkError, Worker,
    attempt::{end::AttemptEnd, hand_off::hand_on, job::Job, read_only::read_only},
    held_issue::HeldIssue,
};

/// Has the agent investigate, and reports its findings.
pub(super) async fn report(worker: &Worker, job: &Job<'_>) -> Result<AttemptEnd, WorkError> {
    let report = match reported(worker, job.held, &mark(job.held)).await? {
        Some(report) => report,
        None => match look(worker, job).await? {
            ControlFlow::Continue(report) => report,
            ControlFlow::Break(end) => return Ok(end),
        },
    };
    // Only an investigation names a profile to continue.
    Ok(match next_profile(&report).filter(|_| job.case.is_some()) {
        Some(to) if hand_on(worker, job, &to, &report).await? => AttemptEnd::HandedOn,
        Some(_) | None => AttemptEnd::Concluded,
    })
}

/// Has the agent investigate, and writes its report; returns how the attempt ends instead.
async fn look(worker: &Worker, job: &Job<'_>) -> Result<ControlFlow<AttemptEnd, String>, WorkError> {
    let active = job.active.now();
    if job.case.is_some() && !active.loaded.agent.investigates() {
        let failure = format!(
            "the agent `{}` cannot investigate: it only applies what its recipe says. Choose another with `/hob agent NAME`",
            active.loaded.backend
        );
        return Ok(ControlFlow::Break(AttemptEnd::Blocked(BlockReason::SetUpNeeded { failure })));
    }
    let said = match Box::pin(read_only(worker, job)).await? {
        ControlFlow::Continue(said) => said,
        end @ ControlFlow::Break(_) => return Ok(end),
    };
    // An investigation writes its report from its record.
    let report = if job.case.is_some() { said } else { report_of(&active.loaded.name, &said) };
    write_report(worker, job.held, &report, &mark(job.held)).await?;
    Ok(ControlFlow::Continue(report))
}

/// The report with this mark that is already on the issue; it is noted in the ledger.
pub(super) async fn reported(worker: &Worker, held: &HeldIssue, mark: &str) -> Result<Option<String>, WorkError> {
    let Some(written) = worker.forge.comments().own(&held.lease, held.issue.number, mark).await? else {
        return Ok(None);
    };
    held.lease.note(Note::Reported(written.id)).await;
    Ok(Some(written.body))
}

/// The mark of this time's report.
fn mark(held: &HeldIssue) -> String {
    let record = held.lease.record();
    report_mark(record.trigger.as_ref().map_or(EventId(0), |trigger| trigger.event), record.is_handed_on())
}

/// Writes the report as a comment, once.
pub(super) async fn write_report(worker: &Worker, held: &HeldIssue, report: &str, mark: &str) -> Result<(), WorkError> {
    let (lease, body) = (&held.lease, report_comment(report, mark));
    let written = worker.forge.comments().write_once(lease, held.issue.number, mark, &body, Look::AfterFailure).await?;
    lease.note(Note::Reported(written)).await;
    Ok(())
}
