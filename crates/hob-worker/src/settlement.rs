//! Settlement: what an attempt cost takes the place of its reservation in the repository's day.
//!
//! # Guarantees
//! At rest the day has no reservation of an issue that nobody holds, and an issue's share of the day is what its ledger
//! says: an issue's lease is released only after its share is settled. A worker that dies in between leaves the lease, and
//! whoever takes it over settles the share.

use hob_domain::{Spend, close_reservation};
use hob_forge::{BaseBranch, HeldLease};

use crate::{WorkError, Worker};

/// Settles the issue's share of the day. `began` is the issue's bill when the attempt began.
///
/// # Errors
/// [`WorkError`] when the repository's ledger could not be written: the lease is not to be released.
pub(super) async fn settle(
    worker: &Worker,
    lease: &HeldLease,
    base: &BaseBranch,
    began: Spend,
) -> Result<(), WorkError> {
    let (issue, bills) = (lease.issue(), (began, lease.record().spend));
    let settled = worker.forge.repository_ledger().change(&base.tree, |before, nonce, now| {
        let record = close_reservation(before, issue, bills, nonce, now);
        Ok((record, format!("{} ended with issue {issue}: {}", worker.id, bills.1.since(began)), ()))
    });
    // Settling takes no room, so a record is never full for it.
    settled.await.map(drop).map_err(WorkError::from)
}

/// Settles what a worker that died left unsettled.
///
/// # Errors
/// As [`settle`]'s.
pub(super) async fn settle_what_is_left(
    worker: &Worker,
    lease: &HeldLease,
    base: &BaseBranch,
) -> Result<(), WorkError> {
    let Some(day) = worker.forge.repository_ledger().known() else { return Ok(()) };
    let (bill, now) = (lease.record().spend, worker.forge.now());
    // A record of another day tells nothing of this one: a reservation of today may have been written since it was read.
    if day.is_of(now) && day.is_settled(lease.issue(), bill, now) {
        return Ok(());
    }
    settle(worker, lease, base, bill).await
}
