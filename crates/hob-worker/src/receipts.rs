//! Receipts: what the comment of a command gets once its effect is in the ledger, by whoever holds the lease then.

use hob_domain::{CommandVerdict, Note, Receipt, replied_to, reply_body};
use hob_forge::Reaction;

use crate::{WorkError, Worker, transition::HeldIssue};

/// Gives the receipts that the ledger has, each once.
pub(super) async fn give_receipts(worker: &Worker, held: &HeldIssue) -> Result<(), WorkError> {
    for receipt in held.lease.record().commands.receipts {
        give(worker, held, &receipt).await?;
        held.lease.note(Note::Receipted(receipt.comment)).await;
    }
    Ok(())
}

async fn give(worker: &Worker, held: &HeldIssue, receipt: &Receipt) -> Result<(), WorkError> {
    let reaction = match receipt.verdict {
        CommandVerdict::Followed => Reaction::Eyes,
        CommandVerdict::Impossible => Reaction::Confused,
    };
    // Nothing depends on it.
    if let Err(error) = worker.forge.comments().react(&held.lease, receipt.comment, reaction).await {
        tracing::warn!(issue = held.issue.number.0, %error, "a comment got no reaction: {error}");
    }
    let Some(says) = &receipt.says else { return Ok(()) };
    // A worker that died may have said it.
    let own = worker.own_login().await?;
    let comments = worker.forge.comments().of(held.issue.number).await?;
    let is_said = comments.iter().any(|comment| {
        let is_own = own.is_none_or(|own| comment.author.as_ref().is_some_and(|author| author.login.is(own)));
        is_own && replied_to(&comment.body) == Some(receipt.comment)
    });
    if !is_said {
        worker.forge.comments().create(&held.lease, &reply_body(receipt.comment, says)).await?;
    }
    Ok(())
}
