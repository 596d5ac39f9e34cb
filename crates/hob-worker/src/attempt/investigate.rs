//! An attempt that investigates: its runs only look, and its end is one comment with the report.
//!
//! # Flow
//! A request for evidence and a change of the state that needs a word block the issue; the reply is evidence, and the same
//! session goes on with it, or, on another machine, one that begins anew from the issue and its comments. When the
//! investigation is concluded, the report is written, the trigger label goes off, and the ledger says that the work is done.
//!
//! # Guarantees
//! Nothing is pushed, and no pull request is opened. There is one report for each time that somebody put the trigger label on:
//! it has a mark, which is looked for before anything runs, and after a write whose answer was lost.

use hob_domain::{
    BlockReason, CommentId, EventId, Note,
    investigation::{report_comment, report_mark},
};
use hob_forge::Comment;

use crate::{
    WorkError, Worker,
    attempt::{end::AttemptEnd, job::Job, read_only::read_only},
};

/// Has the agent investigate, and reports what it concluded.
pub(super) async fn investigate(worker: &Worker, job: &Job<'_>) -> Result<AttemptEnd, WorkError> {
    let mark = mark(job);
    if let Some(written) = own_report(worker, job, &mark).await? {
        return Ok(concluded(job, written).await);
    }
    let shift = job.shifts.now();
    if !shift.specialist.agent.investigates() {
        let failure = format!(
            "the agent `{}` cannot investigate: only a native one can. Choose one with `/hob agent NAME`",
            shift.specialist.name
        );
        return Ok(AttemptEnd::Blocked(BlockReason::SetUpNeeded { failure }));
    }
    match Box::pin(read_only(worker, job)).await? {
        Ok(report) => Box::pin(write_report(worker, job, &mark, &report)).await,
        Err(end) => Ok(end),
    }
}

/// The mark of this investigation's report.
fn mark(job: &Job<'_>) -> String {
    report_mark(job.held.lease.record().trigger.map_or(EventId(0), |trigger| trigger.event))
}

/// Writes the report as a comment, once.
async fn write_report(worker: &Worker, job: &Job<'_>, mark: &str, report: &str) -> Result<AttemptEnd, WorkError> {
    let lease = &job.held.lease;
    let body = report_comment(report, mark);
    let mut tried = 0;
    loop {
        let error = match worker.forge.comments().create(lease, &body).await {
            Ok(written) => return Ok(concluded(job, written).await),
            Err(error) if error.outcome_is_unknown() => error,
            Err(error) => return Err(error.into()),
        };
        let Some(pause) = worker.forge.pause_within(lease, &error, tried) else { return Err(error.into()) };
        worker.forge.wait(&error, pause).await;
        tried += 1;
        if let Some(written) = own_report(worker, job, mark).await? {
            return Ok(concluded(job, written).await);
        }
    }
}

async fn concluded(job: &Job<'_>, report: CommentId) -> AttemptEnd {
    job.held.lease.note(Note::Reported(report)).await;
    AttemptEnd::Concluded
}

/// The report that is there already: by the token's own account, as anybody can write the mark. Where the forge does not tell which
/// one that is, it is the account of the status comment.
async fn own_report(worker: &Worker, job: &Job<'_>, mark: &str) -> Result<Option<CommentId>, WorkError> {
    let (own, status) = (worker.own_login().await?, job.held.lease.record().status_comment);
    let comments = worker.forge.comments().of(job.number()).await?;
    let author = |comment: &Comment| comment.author.as_ref().map(|author| author.login.clone());
    let of_status = || comments.iter().find(|comment| Some(comment.id) == status).and_then(author);
    let Some(own) = own.cloned().or_else(of_status) else { return Ok(None) };
    let is_own = |comment: &Comment| author(comment).is_some_and(|author| author.is(&own));
    let ours = comments.iter().find(|comment| comment.body.starts_with(mark) && is_own(comment));
    Ok(ours.map(|comment| comment.id))
}
