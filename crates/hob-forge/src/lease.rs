//! The right to write: a held lease, which every visible write takes.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak, atomic::AtomicBool},
    time::Duration,
};

use hob_domain::{CommentId, Generation, IssueNumber, Note, Record, Sha, Spend, UnwrittenSpend};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How often a lease is renewed while it lasts.
pub const RENEWALS: u32 = 3;

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
pub struct HeldLease(Arc<Held>);

#[derive(Debug)]
struct Held {
    issue: IssueNumber,
    generation: Generation,
    lost: CancellationToken,
    comment_tried: AtomicBool,
    state: Mutex<Known>,
    /// One ledger write at a time: the heartbeat and the run share the lease, and the heartbeats of other leases renew it, too.
    turn: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Debug)]
struct Known {
    holding: Holding,
    /// The record as the ledger has it, without what was noted since.
    written: Box<Record>,
    /// When that was, which renewed the lease.
    written_at: Instant,
    /// The last comment that was written under this lease, and its id in GraphQL.
    comment: Option<(CommentId, String)>,
}

/// Held while a ledger is written.
pub(super) type Turn = tokio::sync::OwnedMutexGuard<()>;

impl HeldLease {
    pub(super) fn new(holding: Holding) -> Self {
        Self(Arc::new(Held {
            issue: holding.record.issue,
            generation: holding.record.generation,
            lost: CancellationToken::new(),
            comment_tried: AtomicBool::new(false),
            state: Mutex::new(Known {
                written: holding.record.clone(),
                holding,
                written_at: Instant::now(),
                comment: None,
            }),
            turn: Arc::default(),
        }))
    }

    /// The issue.
    pub fn issue(&self) -> IssueNumber {
        self.0.issue
    }

    /// The fencing token.
    pub fn generation(&self) -> Generation {
        self.0.generation
    }

    /// The record as it was last written.
    pub fn record(&self) -> Record {
        *self.holding().record
    }

    /// The ledger's commit that the holder last wrote or read.
    pub fn tip(&self) -> Sha {
        self.holding().tip
    }

    /// Cancelled once the lease is known to be lost: the run stops and writes nothing more.
    pub fn lost(&self) -> &CancellationToken {
        &self.0.lost
    }

    /// Whether a comment was written under this lease, so that there may be one that the ledger does not name.
    pub fn comment_tried(&self) -> &AtomicBool {
        &self.0.comment_tried
    }

    /// Adds what the holder learned; it is written with the next transition or renewal.
    pub async fn note(&self, note: Note) {
        let _turn = self.turn().await;
        self.known().holding.record.note(note);
    }

    /// The cost that was noted and that the ledger was not seen to accept; it is lost with this lease unless the caller keeps
    /// it.
    pub fn unwritten(&self) -> Option<UnwrittenSpend> {
        let written = self.written().spend;
        let spend = self.record().spend.since(written);
        (spend != Spend::default()).then_some(UnwrittenSpend { generation: self.0.generation, written, spend })
    }

    /// The bill that the ledger allows the holder to reach; `None` if it has no such limit yet.
    pub fn may_reach(&self) -> Option<Spend> {
        self.written().lease.and_then(|lease| lease.may_reach)
    }

    /// How long ago the ledger was last written, which renewed the lease.
    pub fn age(&self) -> Duration {
        self.known().written_at.elapsed()
    }

    /// Remembers a comment's id in GraphQL.
    pub(super) fn know_comment(&self, id: CommentId, node: String) {
        self.known().comment = Some((id, node)).filter(|(_, node)| !node.is_empty());
    }

    /// A comment's id in GraphQL, if it is the last one that was written under this lease.
    pub(super) fn node_of(&self, comment: CommentId) -> Option<String> {
        self.known().comment.as_ref().filter(|(id, _)| *id == comment).map(|(_, node)| node.clone())
    }

    /// Waits until nothing else writes this ledger.
    pub(super) async fn turn(&self) -> Turn {
        Arc::clone(&self.0.turn).lock_owned().await
    }

    /// The same if nothing does now.
    pub(super) fn free_turn(&self) -> Option<Turn> {
        Arc::clone(&self.0.turn).try_lock_owned().ok()
    }

    /// The record as the ledger has it.
    pub(super) fn written(&self) -> Box<Record> {
        self.known().written.clone()
    }

    pub(super) fn holding(&self) -> Holding {
        self.known().holding.clone()
    }

    /// Records a write.
    pub(super) fn wrote(&self, holding: Holding) {
        let mut known = self.known();
        known.written = holding.record.clone();
        known.holding = holding;
        known.written_at = Instant::now();
    }

    /// Records what another wrote: a request.
    pub(super) fn heard(&self, holding: Holding) {
        let mut known = self.known();
        known.written.control.clone_from(&holding.record.control);
        known.holding = holding;
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The leases that a process holds in a repository.
#[derive(Debug, Default)]
pub(super) struct Leases(Mutex<Vec<Weak<Held>>>);

impl Leases {
    pub(super) fn add(&self, lease: &HeldLease) {
        let mut leases = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        leases.retain(|lease| lease.strong_count() > 0);
        leases.push(Arc::downgrade(&lease.0));
    }

    /// The other leases that are past half of the time to their renewal and that nothing is writing.
    pub(super) fn due_with(&self, lease: &HeldLease) -> Vec<(HeldLease, Turn)> {
        let leases = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let others =
            leases.iter().filter_map(Weak::upgrade).filter(|other| !Arc::ptr_eq(other, &lease.0)).map(HeldLease);
        let due = others.filter(|other| {
            let record = other.written();
            let lasts =
                record.lease.as_ref().map(|lease| (lease.until - record.renewed_at).to_std().unwrap_or_default());
            !other.lost().is_cancelled() && lasts.is_some_and(|lasts| other.age() >= lasts / (2 * RENEWALS))
        });
        due.filter_map(|other| other.free_turn().map(|turn| (other, turn))).collect()
    }
}
