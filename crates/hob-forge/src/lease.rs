//! The right to write: a lease that is held, which each write that people see takes.

use std::sync::{Mutex, PoisonError, atomic::AtomicBool};

use hob_domain::{Generation, IssueNumber, Note, Record, Sha, Spend};
use tokio_util::sync::CancellationToken;

/// What the holder knows of its ledger: the tip it wrote last.
#[derive(Debug, Clone)]
pub(super) struct Holding {
    pub(super) tip: Sha,
    pub(super) tree: Sha,
    pub(super) record: Record,
}

/// A lease on one issue. Only [`Ledger::acquire`](crate::Ledger::acquire) makes one; without it a visible write does not compile.
#[derive(Debug)]
pub struct HeldLease {
    issue: IssueNumber,
    generation: Generation,
    lost: CancellationToken,
    comment_tried: AtomicBool,
    holding: Mutex<Holding>,
    /// The bill as the ledger has it.
    written: Mutex<Spend>,
    /// One ledger write at a time: the heartbeat and the run share the lease.
    pub(super) turn: tokio::sync::Mutex<()>,
}

impl HeldLease {
    pub(super) fn new(holding: Holding) -> Self {
        Self {
            issue: holding.record.issue,
            generation: holding.record.generation,
            lost: CancellationToken::new(),
            comment_tried: AtomicBool::new(false),
            written: Mutex::new(holding.record.spend),
            holding: Mutex::new(holding),
            turn: tokio::sync::Mutex::default(),
        }
    }

    /// The issue.
    pub fn issue(&self) -> IssueNumber {
        self.issue
    }

    /// The fencing token.
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// The record as it was written last.
    pub fn record(&self) -> Record {
        self.holding().record
    }

    /// Cancelled when the lease is known to be lost: the run stops and writes nothing more.
    pub fn lost(&self) -> &CancellationToken {
        &self.lost
    }

    /// Whether a comment was written under this lease: one that the ledger does not name may be there.
    pub fn comment_tried(&self) -> &AtomicBool {
        &self.comment_tried
    }

    /// Takes in what the holder learned: the ledger has it with the next transition or renewal.
    pub async fn note(&self, note: Note) {
        let _turn = self.turn.lock().await;
        self.holding.lock().unwrap_or_else(PoisonError::into_inner).record.note(note);
    }

    /// What was noted of the bill and is not in the ledger: it is lost with this lease unless somebody keeps it.
    pub fn unwritten(&self) -> Spend {
        self.record().spend.since(*self.written.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn holding(&self) -> Holding {
        self.holding.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes what was written.
    pub(super) fn wrote(&self, holding: Holding) {
        *self.written.lock().unwrap_or_else(PoisonError::into_inner) = holding.record.spend;
        self.set(holding);
    }

    pub(super) fn set(&self, holding: Holding) {
        *self.holding.lock().unwrap_or_else(PoisonError::into_inner) = holding;
    }
}
