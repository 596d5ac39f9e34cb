//! Receipts: the reaction and reply to a command's comment once its effect is in the ledger, by the lease's holder.
//!
//! # Guarantees
//! One reply to a comment, even if workers die: it begins with a mark that names the comment, and is searched for
//! before it is written.

use hob_domain::{CommandVerdict, FailureClass, IssueNumber, Note, Receipt};
use hob_forge::{HeldLease, Look, Reaction};
use hob_words::{reply_body, reply_mark};
use tokio::sync::Mutex;

use crate::{WorkError, Worker};

/// Gives the receipts in the ledger, each once. The heartbeat and the run share the lease, so each waits for its turn.
pub(crate) async fn give_receipts(worker: &Worker, lease: &HeldLease, turn: &Mutex<()>) -> Result<(), WorkError> {
    let _turn = turn.lock().await;
    for receipt in lease.record().commands.receipts {
        match give(worker, lease, &receipt).await {
            Err(error) if matches!(error.class(), FailureClass::Transient { .. } | FailureClass::Cancelled) => {
                return Err(error);
            }
            // A conversation that is locked must not hold the issue up for ever.
            Err(error) => {
                tracing::warn!(issue = lease.issue().0, %error, "a comment got no reply: {error}");
            }
            Ok(()) => {}
        }
        lease.note(Note::Receipted(receipt.comment)).await;
    }
    Ok(())
}

async fn give(worker: &Worker, lease: &HeldLease, receipt: &Receipt) -> Result<(), WorkError> {
    let reaction = match receipt.verdict {
        CommandVerdict::Followed => Reaction::Eyes,
        CommandVerdict::Impossible => Reaction::Confused,
    };
    // Nothing depends on it.
    if let Err(error) = worker.forge.comments().react(lease, receipt.comment, reaction).await {
        tracing::warn!(issue = lease.issue().0, %error, "a comment got no reaction: {error}");
    }
    let Some(says) = &receipt.says else { return Ok(()) };
    let on = receipt.pull.map_or(lease.issue(), |pull| IssueNumber(pull.0));
    let (mark, body) = (reply_mark(receipt.comment), reply_body(&lease.record(), receipt.comment, says));
    worker.forge.comments().write_once(lease, on, &mark, &body, Look::First).await?;
    Ok(())
}
