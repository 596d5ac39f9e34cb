//! Receipts: the reaction and reply to a command's comment once its effect is in the ledger, by the lease's holder.
//!
//! # Guarantees
//! One reply to a comment, even if workers die: it begins with a mark that names the comment, and is searched for
//! before it is written.

use hob_domain::{CommandVerdict, IssueNumber, Note, Receipt, SaidIn};
use hob_forge::{ForgeError, HeldLease, Look, Reaction, Reviews};
use hob_words::{reply_body, reply_mark};
use tokio::sync::Mutex;

use crate::{WorkError, Worker};

/// Gives the receipts in the ledger, each once. The heartbeat and the run share the lease, so each waits for its turn.
pub(crate) async fn give_receipts(worker: &Worker, lease: &HeldLease, turn: &Mutex<()>) -> Result<(), WorkError> {
    let _turn = turn.lock().await;
    for receipt in lease.record().commands.receipts {
        match give(worker, lease, &receipt).await {
            Err(error) if error.class().is_temporary() => {
                return Err(error);
            }
            // A conversation that is locked must not hold the issue up for ever.
            Err(error) => {
                tracing::warn!(issue = lease.issue().0, %error, "a comment got no reply: {error}");
            }
            Ok(()) => {}
        }
        lease.note(Note::Receipted(receipt.to())).await;
    }
    Ok(())
}

async fn give(worker: &Worker, lease: &HeldLease, receipt: &Receipt) -> Result<(), WorkError> {
    let reaction = match receipt.verdict {
        CommandVerdict::Followed => Reaction::Eyes,
        CommandVerdict::Impossible => Reaction::Confused,
    };
    match react(worker, lease, receipt, reaction).await {
        // The receipt stays due.
        Err(error) if error.class().is_temporary() => {
            return Err(error.into());
        }
        // Nothing depends on a reaction that is not allowed.
        Err(error) => tracing::warn!(issue = lease.issue().0, %error, "a comment got no reaction: {error}"),
        Ok(()) => {}
    }
    let Some(says) = &receipt.says else { return Ok(()) };
    let on = receipt.pull.map_or(lease.issue(), |pull| IssueNumber(pull.0));
    let (mark, body) = (reply_mark(receipt.to()), reply_body(&lease.record(), receipt.to(), says));
    worker.forge.comments().write_once(lease, on, &mark, &body, Look::First).await?;
    Ok(())
}

async fn react(worker: &Worker, lease: &HeldLease, receipt: &Receipt, reaction: Reaction) -> Result<(), ForgeError> {
    if receipt.said_in.is_comment() {
        return worker.forge.comments().react(lease, receipt.comment, reaction).await;
    }
    let Some(pull) = receipt.pull else { return Ok(()) };
    let reviews = worker.forge.reviews(pull);
    let node = match node_in(reviews, receipt).await {
        // Reads can lag.
        Ok(None) => node_in(reviews, receipt).await?,
        Err(error) if error.is_not_found() => node_in(reviews, receipt).await?,
        found => found?,
    };
    match node.filter(|node| !node.is_empty()) {
        Some(node) => reviews.react(lease, &[node], reaction).await,
        // It was deleted.
        None => Ok(()),
    }
}

/// The id for GraphQL of what was said in a review. `None` if the lists do not show it.
async fn node_in(reviews: Reviews<'_>, receipt: &Receipt) -> Result<Option<String>, ForgeError> {
    let id = receipt.comment.0;
    Ok(match receipt.said_in {
        SaidIn::Review => reviews.all().await?.into_iter().find(|review| review.id == id).map(|review| review.node),
        SaidIn::Line => reviews.remarks().await?.into_iter().find(|remark| remark.id == id).map(|remark| remark.node),
        SaidIn::Comment => None,
    })
}
