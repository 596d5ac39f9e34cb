//! Writing journaled spend to the ledgers of its issues.

use std::sync::Arc;

use hob_domain::{IssueNumber, Transition};
use hob_forge::BaseBranch;

use crate::{
    WorkError, Worker,
    observe::observe,
    transition::{acquire, show_and_release},
};

/// Writes the journal's amounts to the ledgers without a holder. Those that cannot be written yet wait for the next
/// poll.
pub(crate) async fn write_journal(worker: &Worker, issues: &[IssueNumber], base: &Arc<BaseBranch>) {
    for issue in issues {
        if let Err(error) = Box::pin(write(worker, *issue, base)).await {
            tracing::debug!(issue = issue.0, %error, "journaled spend cannot be written yet: {error}");
        }
    }
}

async fn write(worker: &Worker, issue: IssueNumber, base: &Arc<BaseBranch>) -> Result<(), WorkError> {
    let spend = match worker.spend_journal.read(issue).await {
        Ok(Some(spend)) => spend,
        Ok(None) => return Ok(()),
        Err(error) => {
            tracing::error!(issue = issue.0, %error, "the spend of issue {issue} cannot be read: {error}");
            return Ok(());
        }
    };
    let Some((observed, _)) = observe(worker, issue).await?.filter(|(observed, _)| observed.entry.is_some()) else {
        // Without a ledger there is no budget.
        worker.spend_journal.remove(issue).await;
        return Ok(());
    };
    let held = acquire(worker, observed, base, Transition::AddSpend(spend)).await?;
    worker.spend_journal.remove(issue).await;
    // The worker that died with this lease may not have shown the issue's state.
    show_and_release(worker, &held, "the spend of an earlier attempt is in the ledger").await
}
