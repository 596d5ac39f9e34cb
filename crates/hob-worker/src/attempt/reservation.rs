//! An attempt's share of the repository's day, reserved before the work: in one push with the lease, or after it. It is settled
//! when the lease is released.

use std::sync::Arc;

use hob_domain::{
    Allowance, BlockReason, Exhausted, Nonce, Record, RepositoryRecord, Reservation, Timestamp, Transition,
};
use hob_forge::{BaseBranch, Changed, Issue, RepositoryChange};

use crate::{
    WorkError, Worker, attempt::review::rounds_used_up, authorize::is_approved, held_issue::HeldIssue,
    observe::Observed, transition::acquire_with,
};

/// Why an attempt ends before it costs anything.
pub(super) fn ends_at_once(worker: &Worker, issue: &Issue, record: &Record) -> Option<BlockReason> {
    let attempts = worker.settings.limits.attempts;
    if record.attempts.now > attempts {
        return Some(BlockReason::AttemptsUsedUp { attempts });
    }
    if record.trigger.as_ref().is_some_and(|trigger| !is_approved(trigger, issue)) {
        return Some(BlockReason::EditedMeanwhile);
    }
    rounds_used_up(&worker.settings.limits, &record.review)
}

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
    // A worker that was suspended since the claim must not take the share of the one that took the issue over.
    worker.forge.cover(&held.lease, worker.settings.forge.timeout, "reserve a share of the day").await?;
    let record = held.lease.record();
    let reserved = worker
        .forge
        .repository_ledger()
        .change(&held.base.tree, |before, nonce, now| reserved(worker, &record, allowance, before, nonce, now));
    Ok(reserved.await?)
}

/// Acquires the lease on an observed issue for an attempt, and reserves its share in the same push, unless what is known speaks against
/// that: then the attempt looks again and says why.
pub(crate) async fn acquire_for_attempt(
    worker: &Worker,
    observed: Observed,
    base: &Arc<BaseBranch>,
    begin: Transition,
) -> Result<HeldIssue, WorkError> {
    let reserve = |issue: &Issue, record: &Record, before: Option<&RepositoryRecord>, nonce, now| {
        let splits = record.approved_plan().is_some_and(|plan| !plan.issues.is_empty());
        let allowance = issue_allowance(worker, record).ok().filter(|_| !splits);
        let allowance = allowance.filter(|_| ends_at_once(worker, issue, record).is_none()).ok_or(None)?;
        reserved(worker, record, allowance, before, nonce, now).map_err(Some)
    };
    Box::pin(acquire_with(worker, observed, base, begin, reserve)).await
}

fn reserved(
    worker: &Worker,
    record: &Record,
    allowance: Allowance,
    before: Option<&RepositoryRecord>,
    nonce: Nonce,
    now: Timestamp,
) -> RepositoryChange<Allowance> {
    let time = worker.settings.limits.attempt_time + worker.settings.lease.duration + worker.settings.lease.skew;
    let Record { issue, generation, spend: bill, .. } = *record;
    let ask = Reservation { worker: worker.id.clone(), issue, generation, bill, allowance, until: now + time };
    let (next, allowance) = hob_domain::reserve(before, &ask, &worker.settings.repository_rules(), nonce, now)?;
    Ok((next, format!("{} begins with issue {issue}", worker.id), allowance))
}
