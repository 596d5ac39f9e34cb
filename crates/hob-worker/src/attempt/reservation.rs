//! An attempt's share of the repository's day: reserved before the work, replaced by what it cost after it.

use hob_domain::{Allowance, Budget, Exhausted, Full, Record, Reservation, Spend, close_reservation};

use crate::{WorkError, Worker, transition::HeldIssue};

/// What attempt and issue may still take.
///
/// # Errors
/// [`Exhausted`] names the limit of the issue's whole life that is reached.
pub(super) fn issue_allowance(worker: &Worker, record: &Record) -> Result<Allowance, Exhausted> {
    let budgets = worker.settings.limits.budgets();
    // The attempt that begins is counted already.
    budgets.issue.next_attempt(record.attempts_ever.saturating_sub(1))?;
    let attempt = budgets.attempt.left(Spend::default())?;
    Ok(budgets.issue.left(record.spend)?.and(attempt))
}

/// Reserves the attempt's share of hour and day in the repository's ledger. The inner error says why there is none.
pub(super) async fn reserve(
    worker: &Worker,
    held: &HeldIssue,
    allowance: Allowance,
) -> Result<Result<Allowance, Full>, WorkError> {
    let rules = worker.settings.repository_rules();
    let (issue, bill) = (held.issue.number, held.lease.record().spend);
    let time = worker.settings.limits.attempt_time + worker.settings.lease.duration + worker.settings.lease.skew;
    let reserved = worker.forge.repository_ledger().change(&held.base.tree, |before, nonce, now| {
        let ask = Reservation { issue, bill, allowance, until: now + time };
        let (record, allowance) = hob_domain::reserve(before, &ask, &rules, nonce, now)?;
        Ok((record, format!("{} begins with issue {issue}", worker.id), allowance))
    });
    Ok(reserved.await?)
}

/// Puts what the attempt cost in the place of its reservation. `began` is the bill it began with. What fails here costs only
/// room: the reservation ends by itself, and the next attempt at the issue tells its bill again.
pub(super) async fn settle(worker: &Worker, held: &HeldIssue, began: Spend) {
    let Budget { usd_micros, tokens, wall_seconds, attempts: _ } = worker.settings.limits.budgets().day;
    if usd_micros.is_none() && tokens.is_none() && wall_seconds.is_none() {
        return;
    }
    let (issue, bills) = (held.issue.number, (began, held.lease.record().spend));
    let settled = worker.forge.repository_ledger().change(&held.base.tree, |before, nonce, now| {
        let record = close_reservation(before, issue, bills, nonce, now);
        Ok((record, format!("{} ended with issue {issue}: {}", worker.id, bills.1.since(began)), ()))
    });
    if let Err(error) = settled.await {
        tracing::warn!(issue = issue.0, %error, "the day's bill could not be written: {error}");
    }
}
