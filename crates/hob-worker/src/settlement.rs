//! Settlement: what an attempt cost takes the place of its reservation in the repository's day. The same write has how long its
//! steps took, what the issue cost and how often flaky checks failed on its base, and of merged work what it showed and what
//! maintainers corrected in it.
//!
//! # Guarantees
//! At rest the day has no reservation of an issue that nobody holds, and an issue's share of the day is what its ledger
//! says: an issue's lease is released only after its share is settled. A worker that dies in between leaves the lease, and
//! the worker that takes it over settles the share.

use std::mem;

use hob_domain::{
    AttemptCost, Bill, CheckResult, Corrections, Durations, Lessons, Memory, Nonce, Note, Remarks, RepositoryRecord,
    Spend, State, Timestamp, bill_of, close_reservation,
};
use hob_forge::{HeldLease, RepositoryChange};

use crate::{WorkError, Worker, held_issue::HeldIssue};

/// What settles an attempt's share of the day.
pub(super) struct Settlement<'a> {
    worker: &'a Worker,
    attempt: AttemptCost,
    /// The bill that quotes are made of, if the issue's work is done.
    cost: Option<Bill>,
    durations: Durations,
    base_runs: Vec<CheckResult>,
    lessons: Lessons,
    remarks: Remarks,
}

impl<'a> Settlement<'a> {
    /// With what the attempt measured: nobody else settles that.
    pub(super) fn of(worker: &'a Worker, held: &HeldIssue, began: Spend) -> Self {
        let (durations, base_runs) = (mem::take(&mut *held.durations()), mem::take(&mut *held.base_runs().lock()));
        let (record, (lessons, remarks)) = (held.lease.record(), merged(&held.lease));
        let cost = bill_of(&record);
        let attempt = AttemptCost { issue: record.issue, generation: record.generation, began, bill: record.spend };
        Self { worker, attempt, cost, durations, base_runs, lessons, remarks }
    }

    /// The repository's record after it. Settling takes no room, so a record is never full for it.
    pub(super) fn after(
        &self,
        before: Option<&RepositoryRecord>,
        nonce: Nonce,
        now: Timestamp,
    ) -> RepositoryChange<()> {
        let Self { worker, attempt, .. } = *self;
        let AttemptCost { issue, began, bill, .. } = attempt;
        let mut record = close_reservation(before, attempt, nonce, now);
        record.durations = record.durations.and(&self.durations);
        if let Some(cost) = &self.cost {
            record.bills = record.bills.and(cost.clone());
        }
        let mut sentence = format!("{} ended with issue {issue}: {}", worker.id, bill.since(began));
        let rates = record.flakes.rates_on_base(&self.base_runs);
        record.flakes = record.flakes.after(&rates, now).unwrap_or(record.flakes);
        if let Some(memory) = record.memory.after(&self.lessons, issue, now) {
            record.memory = memory;
            sentence.push_str("; what its work showed is remembered");
        }
        if let Some(corrections) = record.corrections.after(&self.remarks, now) {
            record.corrections = corrections;
            sentence.push_str("; what maintainers corrected in it is noted");
        }
        Ok((record, sentence, ()))
    }
}

/// Settles the issue's share of the day. `began` is the issue's bill when the attempt began.
///
/// # Errors
/// [`WorkError`] when the repository's ledger could not be written: the lease is not to be released.
pub(super) async fn settle(worker: &Worker, held: &HeldIssue, began: Spend) -> Result<(), WorkError> {
    let settlement = Settlement::of(worker, held, began);
    let change = |before: Option<&_>, nonce, now| settlement.after(before, nonce, now);
    drop(worker.forge.repository_ledger().change(&held.base.tree, change).await?);
    if !settlement.lessons.is_empty() {
        held.lease.note(Note::Learned(Lessons::default())).await;
    }
    if !settlement.remarks.is_empty() {
        held.lease.note(Note::Remarked(Remarks::default())).await;
    }
    Ok(())
}

/// What the issue's work showed and what was corrected in it, where it was merged: an end without a merge takes both out of the
/// record.
fn merged(lease: &HeldLease) -> (Lessons, Remarks) {
    let record = lease.record();
    if record.state == State::Done { (record.taught.facts, record.taught.remarks) } else { Default::default() }
}

/// Whether the repository is to remember something of the issue's merged work.
pub(super) fn has_lessons(lease: &HeldLease) -> bool {
    let (lessons, remarks) = merged(lease);
    !lessons.is_empty() || !remarks.is_empty()
}

/// Whether the issue's share of the day is settled, and what merged work showed is remembered. A worker that died may have left
/// either.
pub(super) fn is_settled(worker: &Worker, held: &HeldIssue) -> bool {
    let (lease, known) = (&held.lease, worker.forge.repository_ledger().known());
    let (issue, bill, now) = (lease.issue(), lease.record().spend, worker.forge.now());
    // A record of another day tells nothing of this one: a reservation of today may have been written since it was read.
    let is_settled = known.as_ref().is_none_or(|day| day.is_of(now) && day.is_settled(issue, bill, now));
    let (lessons, remarks) = merged(lease);
    let (memory, corrections): (Memory, Corrections) =
        known.map(|record| (record.memory, record.corrections)).unwrap_or_default();
    let is_known = memory.after(&lessons, issue, now).is_none() && corrections.after(&remarks, now).is_none();
    is_settled && is_known
}
