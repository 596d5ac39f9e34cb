//! The circuit breaker of routing, which all jobs share through the repository's ledger: it is read with the reservation, and
//! written only when a load failed.

use hob_domain::{RepositoryRecord, Timestamp, routing_is_off};
use hob_forge::Changed;

use crate::{Worker, held_issue::HeldIssue};

/// The end of the time in which routing is off, by the ledger that the attempt's reservation was written to; `None` if
/// it is on.
pub(super) fn routing_off_until(worker: &Worker) -> Option<Timestamp> {
    worker.forge.repository_ledger().known()?.failed_loads.off_until(worker.forge.now())
}

/// Notes a failed load of a profile for all jobs. A ledger that cannot be written stops no attempt.
pub(super) async fn note_failed_load(worker: &Worker, held: &HeldIssue) {
    let issue = held.issue.number;
    if routing_off_until(worker).is_some() {
        return;
    }
    let noted = worker.forge.repository_ledger().change_unless(&held.base.tree, |before, nonce, now| {
        let next = RepositoryRecord::next(before, nonce, now);
        // Another job turned it off meanwhile: there is nothing more to note.
        if let Some(until) = next.failed_loads.off_until(now) {
            return Err(until);
        }
        let failed_loads = next.failed_loads.and_one(now);
        let off_until = failed_loads.off_until(now);
        let sentence = format!("{} could not load the profiles for issue {issue}", worker.id);
        Ok((RepositoryRecord { failed_loads, ..next }, sentence, off_until))
    });
    match noted.await {
        Ok(Changed::Written(Some(until))) => tracing::error!(issue = issue.0, "{}", routing_is_off(until)),
        Ok(Changed::Written(None) | Changed::Refused(_)) => {}
        Err(error) => tracing::warn!(
            issue = issue.0,
            error = &error as &dyn std::error::Error,
            "the failed load of a profile is not counted: {error}"
        ),
    }
}
