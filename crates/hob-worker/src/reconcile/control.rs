//! Control from outside a run: pause, resume, terminate, and the kill switch. It goes through the forge, so it reaches a
//! worker on any machine.

use std::sync::Arc;

use hob_domain::{Control, Ending, IssueNumber, Pause, RepositoryRecord, Request, State, Transition, held_by};
use hob_forge::{BaseBranch, ForgeError};

use crate::{
    OperatorError, WorkError, Worker,
    observe::{Observed, observe},
    reconcile::{outcome::Reconciled, patience::Patience},
    repository_file::here,
    transition::{acquire, acquire_and_end, show_and_release},
};

/// The most tries of a request on an issue whose ledger keeps moving.
const TRIES: usize = 5;

/// The result of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requested {
    /// It is carried out.
    Done,
    /// A worker holds the issue and carries it out at its next look, within `poll.interval`.
    Passed,
}

/// Pauses an issue until it is resumed; its holder keeps the work on the branch and requeues it.
///
/// # Errors
/// [`OperatorError::NoLedger`] if Hob never claimed the issue.
pub async fn pause(worker: &Worker, number: IssueNumber, reason: &str) -> Result<Requested, OperatorError> {
    Box::pin(control(worker, number, Control::Pause, reason)).await
}

/// Ends the work on an issue for good, as `/hob cancel` does.
///
/// # Errors
/// [`OperatorError::NoLedger`] if Hob never claimed the issue.
pub async fn terminate(worker: &Worker, number: IssueNumber) -> Result<Requested, OperatorError> {
    Box::pin(control(worker, number, Control::Terminate, "")).await
}

/// Resumes a paused issue.
///
/// # Errors
/// [`OperatorError::NotPaused`] if it is not paused.
pub async fn resume(worker: &Worker, number: IssueNumber) -> Result<(), OperatorError> {
    let worker = &here(worker).await?;
    let mut patience = Patience::default();
    loop {
        match Box::pin(resume_now(worker, number)).await {
            Err(error) if patience.waits(&error).await => {}
            done => return done,
        }
    }
}

async fn resume_now(worker: &Worker, number: IssueNumber) -> Result<(), OperatorError> {
    let observed = observe(worker, number).await?.ok_or(OperatorError::NoIssue(number))?;
    if observed.entry.is_none() {
        return Err(OperatorError::NoLedger(number));
    }
    if !observed.record().is_some_and(|record| record.pause().is_some() || record.asks_for_a_pause()) {
        return Err(OperatorError::NotPaused(number));
    }
    let (by, base) = (worker.operator().await?, Arc::new(worker.forge.repository().base_branch().await?));
    let held = acquire(worker, observed, &base, Transition::Resume { by }).await?;
    Ok(show_and_release(worker, &held, "resumed").await?)
}

/// Sets the kill switch, or takes it back: nothing is claimed in the repository while it is set.
///
/// # Errors
/// [`WorkError`] of a call.
pub async fn kill_switch(worker: &Worker, pause: Option<&str>) -> Result<(), WorkError> {
    let (by, base) = (worker.operator().await?, worker.forge.repository().base_branch().await?);
    // The known record may be old; the switch must follow the current one.
    worker.forge.repository_ledger().latest().await?;
    let changed = worker.forge.repository_ledger().change(&base.tree, |before, nonce, now| {
        let paused = pause.map(|reason| Pause { by: by.clone(), since: now, reason: reason.to_owned() });
        let sentence = if paused.is_some() { format!("{by} paused all work") } else { format!("{by} resumed work") };
        Ok((RepositoryRecord { paused, ..RepositoryRecord::next(before, nonce, now) }, sentence, ()))
    });
    // The switch itself takes no room, so a record is never full for it.
    drop(changed.await?);
    Ok(())
}

/// Forgets what Hob saw work in the repository, and what maintainers corrected. What work showed that is not merged yet is learned when it is.
///
/// # Errors
/// [`WorkError`] of a call.
pub async fn forget(worker: &Worker) -> Result<(), WorkError> {
    let known = worker.forge.repository_ledger().latest().await?;
    if known.is_none_or(|record| record.memory.is_empty() && record.corrections.is_empty()) {
        return Ok(());
    }
    let (by, base) = (worker.operator().await?, worker.forge.repository().base_branch().await?);
    let changed = worker.forge.repository_ledger().change(&base.tree, |before, nonce, now| {
        let (memory, corrections) = Default::default();
        let record = RepositoryRecord { memory, corrections, ..RepositoryRecord::next(before, nonce, now) };
        Ok((record, format!("{by} cleared what was learned"), ()))
    });
    // It takes no room, so a record is never full for it.
    drop(changed.await?);
    Ok(())
}

/// Carries the request out if the issue has no holder, otherwise passes it to the holder in the ledger.
async fn control(
    worker: &Worker,
    number: IssueNumber,
    control: Control,
    reason: &str,
) -> Result<Requested, OperatorError> {
    let worker = &here(worker).await?;
    let (by, base) = (worker.operator().await?, Arc::new(worker.forge.repository().base_branch().await?));
    for _try in 0..TRIES {
        let Some(observed) = observe(worker, number).await? else { return Err(OperatorError::NoIssue(number)) };
        let Some(entry) = &observed.entry else { return Err(OperatorError::NoLedger(number)) };
        if entry.record.state == State::Done {
            return Err(OperatorError::Ended(number));
        }
        let now = worker.forge.now();
        let request = Request { control, by: by.clone(), at: now, reason: reason.to_owned() };
        let done = match held_by(&entry.record, now, worker.settings.lease.skew) {
            Some(_) => {
                worker.forge.ledger().ask(entry, request).await.map(|()| Requested::Passed).map_err(WorkError::from)
            }
            None => Box::pin(carry_out(worker, observed, request, &base)).await.map(|_reconciled| Requested::Done),
        };
        match done {
            // Its holder wrote, or a worker acquired it: the new record decides.
            Err(WorkError::Forge(ForgeError::Lost(_) | ForgeError::Held(_))) => {}
            done => return Ok(done?),
        }
    }
    Err(OperatorError::Contended(number))
}

/// Carries out a request on an issue without a holder.
pub(super) async fn carry_out(
    worker: &Worker,
    observed: Observed,
    request: Request,
    base: &Arc<BaseBranch>,
) -> Result<Reconciled, WorkError> {
    match request.control {
        Control::Terminate => {
            acquire_and_end(worker, observed, base, Ending::Terminated(request.by), Vec::new()).await?
        }
        Control::Pause => {
            let pause = request.pause(worker.forge.now());
            let held = acquire(worker, observed, base, Transition::Pause(pause)).await?;
            show_and_release(worker, &held, "paused").await?;
        }
    }
    Ok(Reconciled::UpToDate)
}
