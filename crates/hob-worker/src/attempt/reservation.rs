//! An attempt's share of the repository's day, reserved before the work. It is settled when the lease is released.

use hob_domain::{Allowance, Exhausted, Record, Reservation};
use hob_forge::Changed;

use crate::{WorkError, Worker, held_issue::HeldIssue};

/// The remaining allowance of attempt and issue.
///
/// # Errors
/// [`Exhausted`] names the limit of the issue's whole life that is reached.
pub(super) fn issue_allowance(worker: &Worker, record: &Record) -> Result<Allowance, Exhausted> {
    worker.settings.budgets().allowance(record.spend, record.attempts.ever, &record.commands)
}

/// Reserves the attempt's share of hour and day in the repository's ledger, unless they are full.
pub(super) async fn reserve(
    worker: &Worker,
    held: &HeldIssue,
    allowance: Allowance,
) -> Result<Changed<Allowance>, WorkError> {
    let rules = worker.settings.repository_rules();
    let (issue, bill) = (held.issue.number, held.lease.record().spend);
    let time = worker.settings.limits.attempt_time + worker.settings.lease.duration + worker.settings.lease.skew;
    let reserved = worker.forge.repository_ledger().change(&held.base.tree, |before, nonce, now| {
        let ask = Reservation { worker: worker.id.clone(), issue, bill, allowance, until: now + time };
        let (record, allowance) = hob_domain::reserve(before, &ask, &rules, nonce, now)?;
        Ok((record, format!("{} begins with issue {issue}", worker.id), allowance))
    });
    Ok(reserved.await?)
}
