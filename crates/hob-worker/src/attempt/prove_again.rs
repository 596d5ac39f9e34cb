//! The proof of an open pull request, made again on its head as it is now: without an agent, and without a round.
//!
//! # Guarantees
//! - The issue stays in review, and the request in the ledger until it is answered: a worker that dies leaves it to the next one,
//!   which makes the runs again and answers once.
//! - Nothing is committed or pushed.

use futures_util::future::BoxFuture;
use hob_domain::{
    Allowance, BaseChoice, Evidence, FailureClass, IssueNumber, Notable, Note, ProofStatus, PullNumber, ReviewEvent,
    Sha, Shown,
};
use hob_forge::{Look, once};
use hob_words::{answered_by, no_proof_answer, proof_answer, status_line};
use tokio::time::Instant;

use crate::{
    WorkError, Worker,
    attempt::{
        four_runs::four_runs,
        heartbeat::heartbeat,
        job::{AttemptLimits, Job},
        noticed::noticed,
        prepare::prepare,
        proof::evidence_of,
        runs_made::FourRuns,
    },
    held_issue::HeldIssue,
    proof_status::{set_proof, show_due},
    round_end::own_answers,
    transition::{release, settle_and_release},
};

/// Makes the proof of this pull request again, says what it showed, and releases the lease.
///
/// # Errors
/// [`WorkError`] where trying again may help, and if the lease is lost: the request is still in the ledger.
pub(crate) async fn prove_again(worker: &Worker, held: &HeldIssue, pull: PullNumber) -> Result<(), WorkError> {
    let made = tokio::select! {
        made = prove(worker, held, pull) => made.map(Some),
        // Somebody ended or paused the work: the next look at the issue carries that out.
        interrupt = heartbeat(worker, held) => interrupt.map(|_| None),
        () = worker.cancel.cancelled() => Ok(None),
    };
    let answered = match made {
        Ok(Some(Found { head, evidence, shown, notable })) => {
            let status = ProofStatus::of(head.clone(), &shown, evidence.tally(), &status_line(&shown));
            match set_proof(worker, &held.lease, pull, status).await {
                Ok(()) => answer(worker, held, pull, |to| proof_answer(to, &head, &evidence, &shown, &notable)).await,
                Err(error) => Err(error),
            }
        }
        Ok(None) => {
            show_due(worker, &held.lease).await?;
            return release(worker, held).await;
        }
        Err(error) if error.class() == FailureClass::Cancelled => return Err(error),
        Err(error) if matches!(error.class(), FailureClass::Transient { .. }) => Err(error),
        Err(error) => {
            worker.progress(held.issue.number, &format!("the proof of pull request {pull} could not be made: {error}"));
            show_due(worker, &held.lease).await?;
            answer(worker, held, pull, |to| no_proof_answer(to, &error.to_string())).await
        }
    };
    if answered.is_ok() {
        held.lease.note(Note::ProofAnswered).await;
    }
    // What the base showed of flakes is for all issues.
    if held.base_runs().lock().is_empty() {
        release(worker, held).await?;
    } else {
        settle_and_release(worker, held, held.lease.record().spend).await?;
    }
    answered
}

/// What the runs showed of a head.
struct Found {
    head: Sha,
    evidence: Evidence,
    shown: Shown,
    notable: Notable,
}

// Boxed, as that of an attempt.
fn prove<'a>(worker: &'a Worker, held: &'a HeldIssue, pull: PullNumber) -> BoxFuture<'a, Result<Found, WorkError>> {
    Box::pin(async move {
        let job = prepared(worker, held).await?;
        let Some(head) = job.checkout.pushed().cloned() else {
            return Err(WorkError::Misconfigured(format!("the branch of pull request {pull} is gone")));
        };
        set_proof(worker, &held.lease, pull, ProofStatus::working(head.clone())).await?;
        let evidence = evidence_of(worker, &job, &head).await?;
        let FourRuns { shown, .. } = four_runs(worker, &job, &head, &evidence).await?;
        let diff = job.checkout.diff(job.checkout.base(), &head).await?;
        let notable = noticed(worker, &job, &head, &diff).await?;
        Ok(Found { head, evidence, shown, notable })
    })
}

async fn prepared<'a>(worker: &Worker, held: &'a HeldIssue) -> Result<Job<'a>, WorkError> {
    let record = held.lease.record();
    let base = record.work.base.unwrap_or_else(|| BaseChoice::of_settings(&held.base.name));
    let allowance = Allowance { usd_micros: None, tokens: None, time: None };
    let limits = AttemptLimits { allowance, ends: Instant::now(), began: record.spend };
    Box::pin(prepare(worker, held, base, limits)).await
}

/// Answers the comment that asked for it, once. Nobody asks where the settings do.
async fn answer(
    worker: &Worker,
    held: &HeldIssue,
    pull: PullNumber,
    text: impl Fn(&ReviewEvent) -> String,
) -> Result<(), WorkError> {
    let lease = &held.lease;
    let asked = lease.record().pull.prove.and_then(|asked| asked.comment);
    let Some(to) = asked.map(|comment| ReviewEvent::Comment(comment.0)) else { return Ok(()) };
    let text = text(&to);
    let find = || -> BoxFuture<'_, _> {
        Box::pin(async {
            let own = worker.forge.comments().own_account(lease).await?;
            let said = own_answers(worker, own.as_ref(), pull).await?;
            Ok(said.iter().any(|body| answered_by(body, &to)).then_some(()))
        })
    };
    let write = || -> BoxFuture<'_, _> {
        Box::pin(async { worker.forge.comments().create_on(lease, IssueNumber(pull.0), &text).await.map(drop) })
    };
    Ok(once(&worker.forge, lease, Look::First, find, write).await?)
}
