//! Commands that come while an issue is worked on: they are followed at once.

use hob_domain::{Control, Note, WaitReason, held_by};
use hob_forge::{HeldLease, Issue};
use hob_words::explanation;

use crate::{
    WorkError, Worker,
    attempt::end::Interrupt,
    commands::commands,
    following::{follow_each, follow_rules},
    held_issue::HeldIssue,
};

/// Follows the commands that were not followed yet; returns what they interrupt the work for.
pub(super) async fn follow_new(
    worker: &Worker,
    held: &HeldIssue,
    issue: &Issue,
) -> Result<Option<Interrupt>, WorkError> {
    // The heartbeat and the beginning of the work share the lease.
    let _turn = held.commands.lock().await;
    let record = held.lease.record();
    let given = Box::pin(commands(worker, Some(issue), &record)).await?;
    if given.is_empty() {
        held.lease.note(Note::Looked(issue.comments)).await;
    } else {
        let now = worker.forge.now();
        let why = held_by(&record, now, worker.settings.lease.skew).map(|held| WaitReason::Held(held).to_string());
        let explanation = explanation(&record, &why.unwrap_or_default());
        let rules = follow_rules(worker, &held.base, &given, explanation).await?;
        Box::pin(follow_each(worker, held, &given, &rules, issue.comments)).await?;
    }
    Ok(requested(worker, &held.lease))
}

/// A request in the ledger to the holder.
pub(super) fn requested(worker: &Worker, lease: &HeldLease) -> Option<Interrupt> {
    let request = lease.record().request?;
    Some(match request.control {
        Control::Pause => Interrupt::Paused(request.pause(worker.forge.now())),
        Control::Terminate => Interrupt::Terminated(request.by),
    })
}
