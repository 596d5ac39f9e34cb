//! The right to write: a held lease, which every visible write takes.

use std::sync::{Mutex, PoisonError, atomic::AtomicBool};

use hob_domain::{Generation, IssueNumber, Note, Record, Sha, Spend, UnwrittenSpend};
use tokio_util::sync::CancellationToken;

/// The holder's view of its ledger: the tip that it last wrote.
#[derive(Debug, Clone)]
pub(super) struct Holding {
    pub(super) tip: Sha,
    pub(super) tree: Sha,
    /// Boxed: it is about 3 KiB, and every future that writes under a lease holds several.
    pub(super) record: Box<Record>,
}

/// A lease on one issue. Only [`Ledger::acquire`](crate::Ledger::acquire) makes one; without it a visible write does not compile.
#[derive(Debug)]
pub struct HeldLease {
    issue: IssueNumber,
    generation: Generation,
    lost: CancellationToken,
    comment_tried: AtomicBool,
    holding: Mutex<Holding>,
    /// The record as the ledger has it, without what was noted since.
    written: Mutex<Box<Record>>,
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
            written: Mutex::new(holding.record.clone()),
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

    /// The record as it was last written.
    pub fn record(&self) -> Record {
        *self.holding().record
    }

    /// Cancelled once the lease is known to be lost: the run stops and writes nothing more.
    pub fn lost(&self) -> &CancellationToken {
        &self.lost
    }

    /// Whether a comment was written under this lease, so that there may be one that the ledger does not name.
    pub fn comment_tried(&self) -> &AtomicBool {
        &self.comment_tried
    }

    /// Adds what the holder learned; it is written with the next transition or renewal.
    pub async fn note(&self, note: Note) {
        let _turn = self.turn.lock().await;
        self.holding.lock().unwrap_or_else(PoisonError::into_inner).record.note(note);
    }

    /// The cost that was noted and that the ledger was not seen to accept; it is lost with this lease unless the caller keeps
    /// it.
    pub fn unwritten(&self) -> Option<UnwrittenSpend> {
        let written = self.written().spend;
        let spend = self.record().spend.since(written);
        (spend != Spend::default()).then_some(UnwrittenSpend { generation: self.generation, written, spend })
    }

    /// The bill that the ledger allows the holder to reach; `None` if it has no such limit yet.
    pub fn may_reach(&self) -> Option<Spend> {
        self.written().lease.and_then(|lease| lease.may_reach)
    }

    /// The record as the ledger has it.
    pub(super) fn written(&self) -> Box<Record> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn holding(&self) -> Holding {
        self.holding.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Records a write.
    pub(super) fn wrote(&self, holding: Holding) {
        *self.written.lock().unwrap_or_else(PoisonError::into_inner) = holding.record.clone();
        self.set(holding);
    }

    /// Records what another wrote: a request.
    pub(super) fn heard(&self, holding: Holding) {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).control.clone_from(&holding.record.control);
        self.set(holding);
    }

    fn set(&self, holding: Holding) {
        *self.holding.lock().unwrap_or_else(PoisonError::into_inner) = holding;
    }
}
