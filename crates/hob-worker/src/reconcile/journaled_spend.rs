//! Writing journaled spend to the ledgers of its issues.
//!
//! # Guarantees
//! Each amount counts once, even if a worker dies or an answer is lost on the way: what the ledger lacks is computed from the
//! ledger's history, and added by a move from exactly the tip of that history. The sentence of that move says whose spend it
//! is, so that a later try finds it.

use std::sync::Arc;

use hob_domain::{IssueStatus, Transition};
use hob_forge::BaseBranch;

use crate::{
    WorkError, Worker,
    observe::observe,
    spend_journal::JournalEntry,
    transition::{acquire, settle_and_release, show},
};

/// Writes the journal's amounts to the ledgers without a holder. Those that cannot be written yet wait for the next
/// poll.
pub(crate) async fn write_journal(worker: &Worker, entries: &[JournalEntry], base: &Arc<BaseBranch>) {
    for entry in entries {
        if let Err(error) = Box::pin(write(worker, *entry, base)).await {
            tracing::debug!(issue = entry.issue.0, %error, "journaled spend cannot be written yet: {error}");
        }
    }
}

async fn write(worker: &Worker, entry: JournalEntry, base: &Arc<BaseBranch>) -> Result<(), WorkError> {
    let issue = entry.issue;
    let unwritten = match worker.spend_journal.read(entry).await {
        Ok(Some(unwritten)) => unwritten,
        Ok(None) => return Ok(()),
        Err(error) => {
            tracing::error!(issue = issue.0, %error, "the spend of issue {issue} cannot be read: {error}");
            return Ok(());
        }
    };
    let Some(observed) = observe(worker, issue).await? else {
        // Neither issue nor ledger is left, so there is no budget.
        worker.spend_journal.remove(entry).await;
        return Ok(());
    };
    // The ledger that is made when the issue is claimed again counts it.
    let Some(tip) = observed.entry.clone() else { return Ok(()) };
    let (began, is_gone) = (tip.record.spend, observed.issue.status == IssueStatus::Gone);
    let history = worker.forge.ledger().back_to(tip, unwritten.generation).await?;
    let Some(spend) = unwritten.missing(history.iter().map(|entry| (entry.sentence.as_str(), &entry.record))) else {
        worker.spend_journal.remove(entry).await;
        return Ok(());
    };
    let add = Transition::AddSpend { generation: unwritten.generation, spend };
    let held = acquire(worker, observed, base, add).await?;
    worker.spend_journal.remove(entry).await;
    if !is_gone {
        // The worker that died with this lease may not have shown the issue's state.
        show(worker, &held, "the spend of an earlier attempt is in the ledger").await?;
    }
    // Even if the issue has no share of this day: the day on which it was spent did not count it.
    settle_and_release(worker, &held, began).await
}
