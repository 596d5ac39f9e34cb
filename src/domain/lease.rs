//! The lease: who may claim, who may renew, who holds.
//!
//! # Flow
//! A claimant reads the tip of the issue's ref, asks [`acquire`] for the record to write, and writes it by
//! compare-and-set: creating the ref, or fast-forwarding it from the tip it read. The holder asks [`still_mine`] of each
//! tip it reads before it renews, changes state or releases.
//!
//! # Guarantees
//! - One generation has at most one holder: a generation comes only from a successful compare-and-set on the record
//!   before it, and each record has a nonce, so no two claimants write the same object.
//! - A live lease is never taken: a tip is free only when it has no holder, or when `now` is past its expiry and the margin.
//!
//! # Assumptions
//! The forge's ref update is a compare-and-set (create fails where the ref exists, `force: false` refuses anything but a
//! fast-forward), and `now` is the forge's own `Date`.
//!
//! # Caveats
//! A holder that cannot reach the forge does not see that it was superseded: it must stop visible work by itself when
//! [`remaining`] no longer covers the write.

use std::time::Duration;

use crate::domain::{
    Generation, Holder, IssueNumber, Nonce, RECORD_VERSION, Record, Spend, State, Timestamp, WorkerId,
};

/// Who wants a lease, when and for how long.
#[derive(Debug, Clone)]
pub struct Claimant {
    /// The worker.
    pub worker: WorkerId,
    /// Drawn for this acquisition.
    pub nonce: Nonce,
    /// How long the lease lasts without a renewal.
    pub duration: Duration,
    /// How far clocks may differ: waited out beyond the expiry.
    pub skew: Duration,
}

/// A lease that is not free.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("held by {holder} until {until}")]
pub struct Held {
    /// Who holds it.
    pub holder: WorkerId,
    /// When it expires without a renewal, the margin not counted.
    pub until: Timestamp,
}

/// A lease that is no longer the asker's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the lease is lost: generation {tip} stands in the ledger")]
pub struct Lost {
    /// The generation at the tip.
    pub tip: Generation,
}

/// When the record's lease ends, whoever holds it.
pub fn expires_at(record: &Record) -> Timestamp {
    record.renewed_at + Duration::from_secs(record.duration_seconds)
}

/// How long the lease still lasts; nothing once it has expired.
pub fn remaining(record: &Record, now: Timestamp) -> Duration {
    (expires_at(record) - now).to_std().unwrap_or_default()
}

/// Who keeps others out at `now`, if anyone does.
pub fn held_by(record: &Record, now: Timestamp, skew: Duration) -> Option<Held> {
    let holder = record.holder.as_ref()?;
    let until = expires_at(record);
    (now <= until + skew).then(|| Held { holder: holder.worker.clone(), until })
}

/// The record that takes the lease, to be written over exactly the tip that was read.
///
/// # Errors
/// [`Held`] when somebody's lease still lasts.
pub fn acquire(tip: Option<&Record>, issue: IssueNumber, claimant: &Claimant, now: Timestamp) -> Result<Record, Held> {
    let mut next = match tip {
        Some(record) => match held_by(record, now, claimant.skew) {
            Some(held) => return Err(held),
            None => record.clone(),
        },
        None => first_record(issue, now),
    };
    next.version = RECORD_VERSION;
    next.nonce = claimant.nonce.clone();
    next.generation = Generation(next.generation.0 + 1);
    next.holder = Some(Holder { worker: claimant.worker.clone(), nonce: claimant.nonce.clone() });
    next.renewed_at = now;
    next.duration_seconds = claimant.duration.as_secs();
    Ok(next)
}

/// Whether the record at the tip still gives the lease to the holder of `mine`.
///
/// # Errors
/// [`Lost`] when the tip has another generation or another holder.
pub fn still_mine(tip: &Record, mine: &Record) -> Result<(), Lost> {
    if tip.generation == mine.generation && tip.holder.is_some() && tip.holder == mine.holder {
        Ok(())
    } else {
        Err(Lost { tip: tip.generation })
    }
}

/// The record that renews the lease `mine`.
pub fn renewed(mine: &Record, nonce: Nonce, now: Timestamp) -> Record {
    Record { nonce, renewed_at: now, ..mine.clone() }
}

/// The record that lets the lease `mine` go.
pub fn released(mine: &Record, nonce: Nonce, now: Timestamp) -> Record {
    Record { holder: None, ..renewed(mine, nonce, now) }
}

fn first_record(issue: IssueNumber, now: Timestamp) -> Record {
    Record {
        version: RECORD_VERSION,
        issue,
        nonce: Nonce::from(""),
        generation: Generation(0),
        holder: None,
        renewed_at: now,
        duration_seconds: 0,
        state: State::Ready,
        claimed_at: now,
        attempt: 0,
        round: 0,
        retry_after: None,
        last_failure: None,
        blocked: None,
        answer: None,
        refused: None,
        branch: None,
        base_sha: None,
        head_sha: None,
        pull_request: None,
        status_comment: None,
        session: None,
        trigger: None,
        spend: Spend::default(),
        checks: None,
    }
}
