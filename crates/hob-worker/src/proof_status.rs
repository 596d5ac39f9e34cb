//! The commit status `hob/proof` of a pull request's head, which a ruleset can require.
//!
//! # Guarantees
//! - The ledger has what a head shows, so that nothing is sent twice but after a crash, where it does no harm.
//! - Nothing depends on it: a token that may not set it is told to the operator, and the work goes on.

use hob_domain::{Note, ProofStatus, PullLog, PullNumber, Sha, State};
use hob_forge::HeldLease;

use crate::{WorkError, Worker};

/// Sets the status, unless the head shows it, and notes it.
///
/// # Errors
/// [`WorkError`] where trying again may help, and if the lease is lost.
pub(crate) async fn set_proof(
    worker: &Worker,
    lease: &HeldLease,
    pull: PullNumber,
    status: ProofStatus,
) -> Result<(), WorkError> {
    if lease.record().pull.shows(&status) {
        return Ok(());
    }
    let target = format!("{}/pull/{pull}", worker.repo_url());
    match worker.forge.statuses().set(lease, &status, &target).await {
        Ok(()) => {}
        Err(error) if error.class().is_temporary() => {
            return Err(error.into());
        }
        Err(error) => {
            let reason = format!("pull request {pull} has no status `hob/proof`: {error}");
            tracing::warn!(issue = lease.issue().0, %error, "{reason}");
            worker.progress(lease.issue(), &reason);
        }
    }
    lease.note(Note::ProofStatus(status)).await;
    Ok(())
}

/// Shows that a round works on this pull request. A failure is the forge's, and nothing waits for it.
pub(crate) async fn show_work(worker: &Worker, lease: &HeldLease) {
    let record = lease.record();
    if let (Some(pull), Some(head)) = (record.pull.number, record.review.from) {
        note_failure(lease, set_proof(worker, lease, pull, ProofStatus::working(head)).await);
    }
}

/// Shows what is due: the status of a new head, or the one from before a round that ended without one.
///
/// # Errors
/// As for [`set_proof`], if the head is new. That it is shown again waits for nothing.
pub(crate) async fn show_due(worker: &Worker, lease: &HeldLease) -> Result<(), WorkError> {
    let record = lease.record();
    let (Some(pull), Some(status)) = (record.pull.number, record.pull.due_status()) else { return Ok(()) };
    let is_new = record.state == State::InReview && record.work.head.as_ref() == Some(&status.head);
    let set = set_proof(worker, lease, pull, status).await;
    if is_new {
        return set;
    }
    note_failure(lease, set);
    Ok(())
}

/// Shows on `to` what `from` shows, whose files it has.
pub(crate) async fn show_moved(worker: &Worker, lease: &HeldLease, from: &Sha, to: &Sha) {
    let PullLog { number, proof, .. } = lease.record().pull;
    if let (Some(pull), Some(status)) = (number, proof.filter(|status| status.head == *from)) {
        let status = ProofStatus { head: to.clone(), ..*status };
        note_failure(lease, set_proof(worker, lease, pull, status).await);
    }
}

fn note_failure(lease: &HeldLease, set: Result<(), WorkError>) {
    if let Err(error) = set {
        tracing::warn!(issue = lease.issue().0, %error, "the status `hob/proof` was not set: {error}");
    }
}
