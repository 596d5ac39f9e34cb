//! Settlement: what an attempt cost takes the place of its reservation in the repository's day. The same write has how long its
//! steps took and how often flaky checks failed on its base, and of merged work what it showed and what maintainers corrected in it.
//!
//! # Guarantees
//! At rest the day has no reservation of an issue that nobody holds, and an issue's share of the day is what its ledger
//! says: an issue's lease is released only after its share is settled. A worker that dies in between leaves the lease, and
//! the worker that takes it over settles the share.

use std::mem;

use hob_domain::{Corrections, Lessons, Memory, Note, Remarks, Spend, State, close_reservation};
use hob_forge::HeldLease;

use crate::{WorkError, Worker, held_issue::HeldIssue};

/// Settles the issue's share of the day. `began` is the issue's bill when the attempt began.
///
/// # Errors
/// [`WorkError`] when the repository's ledger could not be written: the lease is not to be released.
pub(super) async fn settle(worker: &Worker, held: &HeldIssue, began: Spend) -> Result<(), WorkError> {
    let (lease, durations) = (&held.lease, mem::take(&mut *held.durations()));
    let base_runs = mem::take(&mut *held.base_runs().lock());
    let (issue, bill, (lessons, remarks)) = (lease.issue(), lease.record().spend, merged(lease));
    let settled = worker.forge.repository_ledger().change(&held.base.tree, |before, nonce, now| {
        let mut record = close_reservation(before, issue, began, bill, nonce, now);
        record.durations = record.durations.and(&durations);
        let mut sentence = format!("{} ended with issue {issue}: {}", worker.id, bill.since(began));
        let rates = record.flakes.rates_on_base(&base_runs);
        record.flakes = record.flakes.after(&rates, now).unwrap_or(record.flakes);
        if let Some(memory) = record.memory.after(&lessons, issue, now) {
            record.memory = memory;
            sentence.push_str("; what its work showed is remembered");
        }
        if let Some(corrections) = record.corrections.after(&remarks, now) {
            record.corrections = corrections;
            sentence.push_str("; what maintainers corrected in it is noted");
        }
        Ok((record, sentence, ()))
    });
    // Settling takes no room, so a record is never full for it.
    drop(settled.await?);
    if !lessons.is_empty() {
        lease.note(Note::Learned(Lessons::default())).await;
    }
    if !remarks.is_empty() {
        lease.note(Note::Remarked(Remarks::default())).await;
    }
    Ok(())
}

/// What the issue's work showed and what was corrected in it, where it was merged: an end without a merge takes both out of the
/// record.
fn merged(lease: &HeldLease) -> (Lessons, Remarks) {
    let record = lease.record();
    if record.state == State::Done { (record.taught.facts, record.taught.remarks) } else { Default::default() }
}

/// Settles what a worker that died left unsettled, and remembers what merged work showed, where that is news.
///
/// # Errors
/// As [`settle`]'s.
pub(super) async fn settle_what_is_left(worker: &Worker, held: &HeldIssue) -> Result<(), WorkError> {
    let (lease, known) = (&held.lease, worker.forge.repository_ledger().known());
    let (issue, bill, now) = (lease.issue(), lease.record().spend, worker.forge.now());
    // A record of another day tells nothing of this one: a reservation of today may have been written since it was read.
    let is_settled = known.as_ref().is_none_or(|day| day.is_of(now) && day.is_settled(issue, bill, now));
    let (lessons, remarks) = merged(lease);
    let (memory, corrections): (Memory, Corrections) =
        known.map(|record| (record.memory, record.corrections)).unwrap_or_default();
    let is_known = memory.after(&lessons, issue, now).is_none() && corrections.after(&remarks, now).is_none();
    if is_settled && is_known {
        return Ok(());
    }
    settle(worker, held, bill).await
}
