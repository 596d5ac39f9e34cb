//! Repair: differences from the ledger that people made, or a forgetful forge.

use std::sync::Arc;

use hob_domain::{PullNumber, State, Traces, Transition};
use hob_forge::BaseBranch;
use hob_words::answered_events;

use crate::{
    WorkError, Worker,
    inbox::Response,
    observe::{Observed, is_own_claim, own_comment},
    reconcile::{outcome::Reconciled, seek_answer::continue_with},
    round_end::own_answers,
    transition::{acquire, acquire_and_end, show_and_release},
};

/// The traces of an issue whose ledger was deleted: Hob's own status comment, or before the first comment Hob's own
/// label. `None` if Hob never had this issue.
pub(super) async fn find_traces(worker: &Worker, observed: &Observed) -> Result<Option<Traces>, WorkError> {
    let comment = match observed.issue.comments {
        0 => None,
        _ => own_comment(worker, observed.issue.number).await?,
    };
    if comment.is_none() && !is_own_claim(worker, &observed.issue).await? {
        return Ok(None);
    }
    let prefix = format!("{}{}-", worker.settings.workspace.branch_prefix, observed.issue.number);
    let mut branches = worker.forge.repository().branches(&prefix).await?;
    let was_blocked = worker.settings.labels.states_on(&observed.issue.labels).contains(&State::Blocked);
    for branch in &branches {
        if let Some(pull) = worker.forge.pulls().open_of(branch, None).await? {
            let answers = own_answers(worker, worker.own_login().await?.as_ref(), pull.number).await?;
            let answered = answers.iter().flat_map(|body| answered_events(body)).collect();
            let (branch, pull) = (Some(branch.clone()), Some((pull.number, pull.head)));
            return Ok(Some(Traces { comment, branch, pull, answered, was_blocked }));
        }
    }
    Ok(Some(Traces { comment, branch: branches.pop(), pull: None, answered: Vec::new(), was_blocked }))
}

/// Rebuilds a deleted ledger.
pub(super) async fn rebuild(
    worker: &Worker,
    observed: Observed,
    traces: Traces,
    base: &Arc<BaseBranch>,
) -> Result<Reconciled, WorkError> {
    let held = acquire(worker, observed, base, Transition::Rebuild(traces)).await?;
    show_and_release(worker, &held, "its ledger was deleted and is rebuilt").await?;
    Ok(Reconciled::UpToDate)
}

/// The pull request is open again: it waits for a review, regardless of what happened in between.
pub(super) async fn return_to_review(
    worker: &Worker,
    observed: Observed,
    pull: PullNumber,
    base: &Arc<BaseBranch>,
) -> Result<Reconciled, WorkError> {
    if let Some(inbox) = observed.inbox(worker).filter(|inbox| inbox.record.state == State::Blocked) {
        // The person who opened it again may have said how to continue, even if the issue is paused.
        match inbox.response_in_comments(&observed.issue).await? {
            Response::Continue(unblocking, receipts) => {
                return continue_with(worker, observed, unblocking, receipts, base).await;
            }
            Response::End(ending, receipts) => {
                acquire_and_end(worker, observed, base, ending, receipts).await?;
                return Ok(Reconciled::UpToDate);
            }
            Response::Nothing | Response::NotYet | Response::Refused(_) => {}
        }
    }
    let held = acquire(worker, observed, base, Transition::ReturnToReview(pull)).await?;
    show_and_release(worker, &held, "its pull request is open again").await?;
    Ok(Reconciled::UpToDate)
}
