//! The repository's room for another attempt, before anything is claimed: an issue that is claimed without room is
//! requeued at once, and each worker that polls would do so again.

use hob_domain::{Generation, Headroom, IssueNumber, Record, RepositoryRecord, Reservation, Spend, headroom};

use crate::{WorkError, Worker};

/// The room that hour and day have for an attempt at the issue. The record is read again if others write it too, or if
/// it leaves room for only this attempt, or none: a lone worker with ample room saves the call.
pub(crate) async fn room_for(
    worker: &Worker,
    issue: IssueNumber,
    record: Option<&Record>,
) -> Result<Headroom, WorkError> {
    let ledger = worker.forge.repository_ledger();
    // Without a record, other starting attempts are unknown.
    let alone = !ledger.is_shared() && ledger.known().is_some();
    if alone && known_room_for(worker, issue, record) == Headroom::Ample {
        return Ok(Headroom::Ample);
    }
    Ok(room_in(worker, ledger.latest().await?.as_ref(), issue, record))
}

/// Like [`room_for`], before anything is read of the issue. If others were faster lately, it pauses first, so that one
/// of them may take it. [`Headroom::None`] if the worker was stopped meanwhile.
pub(crate) async fn room_after_pause(worker: &Worker, issue: IssueNumber) -> Result<Headroom, WorkError> {
    match pause_after_races(worker).await {
        Paused::No => Ok(known_room_for(worker, issue, None)),
        Paused::Yes => room_for(worker, issue, None).await,
        Paused::Stopped => Ok(Headroom::None),
    }
}

/// Like [`room_after_pause`]. Where other workers take issues, too, one list tells which of those that the poll found they have by now, and
/// the repository's own ledger beside them. `None` if they have this one.
pub(crate) async fn room_beside_others(worker: &Worker, issue: IssueNumber) -> Result<Option<Headroom>, WorkError> {
    let (ledger, moved) = (worker.forge.repository_ledger(), &worker.memory.moved);
    let known = moved.has(issue).filter(|_| ledger.is_shared());
    match known {
        None => return room_after_pause(worker, issue).await.map(Some),
        Some(true) => return Ok(None),
        Some(false) => {}
    }
    if matches!(pause_after_races(worker).await, Paused::Stopped) {
        return Ok(Some(Headroom::None));
    }
    let tips = worker.forge.ledger().tips().await?;
    moved.note(&tips.issues);
    if moved.has(issue) == Some(true) {
        return Ok(None);
    }
    let repository = ledger.entry(tips.repository.as_ref()).await?.map(|entry| entry.record);
    Ok(Some(room_in(worker, repository.as_ref(), issue, None)))
}

/// Whether there was a pause.
enum Paused {
    No,
    Yes,
    /// The worker was stopped meanwhile.
    Stopped,
}

/// Pauses if others were faster lately.
async fn pause_after_races(worker: &Worker) -> Paused {
    let Some(pause) = worker.memory.races.pause(rand::random()) else { return Paused::No };
    match worker.cancel.run_until_cancelled(tokio::time::sleep(pause)).await {
        Some(()) => Paused::Yes,
        None => Paused::Stopped,
    }
}

/// Like [`room_for`], by the record that was read or written last.
pub(crate) fn known_room_for(worker: &Worker, issue: IssueNumber, record: Option<&Record>) -> Headroom {
    room_in(worker, worker.forge.repository_ledger().known().as_ref(), issue, record)
}

fn room_in(
    worker: &Worker,
    repository: Option<&RepositoryRecord>,
    issue: IssueNumber,
    record: Option<&Record>,
) -> Headroom {
    let bill = record.map_or_else(Spend::default, |record| record.spend);
    let budgets = worker.settings.budgets();
    let issue_budget = record.map_or(budgets.issue, |record| budgets.of_issue(&record.commands));
    let (Ok(of_issue), Ok(of_attempt)) = (issue_budget.left(bill), budgets.attempt.left(Spend::default())) else {
        // The issue's own budget is used up: its attempt takes nothing, and reports that.
        return Headroom::Ample;
    };
    let now = worker.forge.now();
    let until = now + worker.settings.limits.attempt_time;
    let (allowance, generation) = (of_issue.and(of_attempt), record.map_or(Generation(0), |record| record.generation));
    let ask = Reservation { worker: worker.id.clone(), issue, generation, bill, allowance, until };
    headroom(repository, &ask, &worker.settings.repository_rules(), now)
}
