//! Receipts: what the comment of a command gets once its effect is in the ledger, by whoever holds the lease then.
//!
//! # Guarantees
//! One reply to a comment, whoever dies: it begins with a mark that names the comment, and is looked for before it is written.

use hob_domain::{CommandVerdict, CommentId, FailureClass, IssueNumber, Note, Receipt, replied_to, reply_body};
use hob_forge::{HeldLease, Reaction};
use tokio::sync::Mutex;

use crate::{WorkError, Worker};

/// Gives the receipts that the ledger has, each once. The heartbeat and the run share the lease, so each waits for its turn.
pub(super) async fn give_receipts(worker: &Worker, lease: &HeldLease, turn: &Mutex<()>) -> Result<(), WorkError> {
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
    let mut tried = 0;
    while !is_said(worker, on, receipt.comment).await? {
        let error = match worker.forge.comments().create_on(lease, on, &reply_body(receipt.comment, says)).await {
            Ok(_id) => return Ok(()),
            Err(error) if error.outcome_is_unknown() => error,
            Err(error) => return Err(error.into()),
        };
        let Some(pause) = worker.forge.pause_within(lease, &error, tried) else { return Err(error.into()) };
        worker.forge.wait(&error, pause).await;
        tried += 1;
    }
    Ok(())
}

/// Whether a comment of the token's own account replies to this one; of any account, where nobody knows which that is.
async fn is_said(worker: &Worker, on: IssueNumber, to: CommentId) -> Result<bool, WorkError> {
    let own = worker.own_login().await?;
    let comments = worker.forge.comments().of(on).await?;
    Ok(comments.iter().any(|comment| {
        let is_own = own.as_ref().is_none_or(|own| comment.author.as_ref().is_some_and(|author| author.login.is(own)));
        is_own && replied_to(&comment.body) == Some(to)
    }))
}
