//! The end of an attempt: the one place that writes it.
//!
//! # Flow
//! An end becomes a transition, which goes to the ledger, to the status comment and to the labels; the day's reservation is
//! settled and the lease released. A failure becomes an end by its class.
//!
//! # Guarantees
//! An end that the ledger has is never replaced: when it cannot be shown, it is shown again, and the worker that finds the lease
//! later shows it too. Work that was cut short is kept on the branch and its attempt does not count.

use std::time::Duration;

use hob_config::Limits;
use hob_domain::{BlockReason, Ending, FailureClass, Note, Spend, State, Timestamp, Transition, failure_mark};
use hob_forge::Issue;
use hob_workspace::WorkspaceError;

use crate::{
    WorkError, WorkEvent, Worker,
    attempt::{
        branch::{is_reviewed, keep_soon},
        end::{AttemptEnd, Interrupt},
        job::Job,
        kept::{keep_proven, remove_kept},
        outage::{Service, Wanted, postpone},
        weather::{Patience, through},
    },
    held_issue::HeldIssue,
    on_heap::on_heap,
    settlement::{is_settled, settle},
    transition::{self, label, release, settle_and_release, show, transition},
    who_ended::{leaves_a_pull, tell_on_pull, who_ended},
};

/// The longest time for putting back the issue of a worker that is stopped, or showing its end: three writes, one a second.
const END_TIME: Duration = Duration::from_secs(4);

/// Writes how the attempt ended and releases the lease. `began` is the issue's bill when the attempt began.
///
/// # Errors
/// [`WorkError`] when the end could not be written or the lease is lost: nothing more is written.
pub(super) async fn finish(
    worker: &Worker,
    held: &HeldIssue,
    began: Spend,
    job: Option<&Job<'_>>,
    end: Result<AttemptEnd, WorkError>,
) -> Result<(), WorkError> {
    if let Some(job) = job {
        match &end {
            Ok(
                AttemptEnd::Published { .. }
                | AttemptEnd::RoundEnded(_)
                | AttemptEnd::Concluded
                | AttemptEnd::Withdrawn,
            ) => remove_kept(worker, job).await,
            // Where a branch is nobody's yet, all of the work is kept there.
            Ok(AttemptEnd::Interrupted(_)) if !is_reviewed(job) => {}
            Ok(AttemptEnd::Interrupted(_)) | Err(_) => keep_proven(worker, job).await,
            Ok(_) => {}
        }
    }
    let last = match end {
        Ok(AttemptEnd::Interrupted(interrupt)) => {
            return on_heap(|| interrupted(worker, held, began, job, interrupt)).await;
        }
        Ok(AttemptEnd::NoRoom(full)) => return requeue(worker, held, full.to_string()).await,
        Ok(AttemptEnd::HandedOn) => {
            return requeue(worker, held, "the investigation is handed off".to_owned()).await;
        }
        Ok(AttemptEnd::Published { head, pull, proof }) => {
            note_first_pull(worker, held);
            Ok(Last::Step(Transition::Publish { head, pull, proof, due: Box::default() }))
        }
        Ok(AttemptEnd::RoundEnded(why)) => Ok(Last::Written(why)),
        Ok(AttemptEnd::Concluded) => {
            let taken = transition::take_trigger_off(worker, held).await;
            taken.map(|()| Last::Step(Transition::Finish(Ending::Concluded)))
        }
        Ok(AttemptEnd::Withdrawn) => Ok(Last::Step(Transition::Finish(withdrawn(worker, held).await))),
        Ok(AttemptEnd::Blocked(reason)) => Ok(Last::Step(Transition::Block(reason))),
        Ok(AttemptEnd::Retry { failure }) => {
            let attempts = held.lease.record().attempts.now;
            Ok(Last::Step(retry(&worker.settings.limits, attempts, worker.forge.now(), failure)))
        }
        Ok(AttemptEnd::Postponed(step)) => Ok(Last::Step(step)),
        Err(error) => Err(error),
    };
    let written = match last {
        Ok(last) => through(&held.lease, Patience::Incident, || Box::pin(write_end(worker, held, &last))).await,
        Err(error) => Err(error),
    };
    if let Err(error) = written {
        // The person who asked for the run tells the operator what to fix.
        if error.class() != FailureClass::Misconfigured {
            worker.emit(&WorkEvent::Failed { issue: Some(held.issue.number), reason: error.to_string() });
        }
        after_failure(worker, held, error).await?;
    }
    settle_and_release(worker, held, began).await
}

/// How an attempt is ended.
enum Last {
    /// By this transition.
    Step(Transition),
    /// The ledger has it, with this sentence.
    Written(String),
}

/// Notes how long the issue's pull request took, unless it had one: what a round in review pushes comes later for other reasons.
fn note_first_pull(worker: &Worker, held: &HeldIssue) {
    let record = held.lease.record();
    if record.pull.number.is_none() {
        let took = worker.forge.now() - record.since.at;
        held.durations().pull_requests.push(took.to_std().unwrap_or_default());
    }
}

/// Writes an end, or shows it where the ledger has it already.
async fn write_end(worker: &Worker, held: &HeldIssue, last: &Last) -> Result<(), WorkError> {
    match last {
        Last::Written(why) => show(worker, held, why).await,
        Last::Step(_) if held.lease.record().has_ended() => {
            show(worker, held, "labels and comment are shown again").await
        }
        Last::Step(step) => transition(worker, held, step.clone()).await,
    }
}

/// Ends an attempt that failed, by the failure's class.
async fn after_failure(worker: &Worker, held: &HeldIssue, error: WorkError) -> Result<(), WorkError> {
    let record = held.lease.record();
    let (class, failure) = (error.class(), error.to_string());
    let step = match class {
        // The lease is another's: nothing more is written.
        FailureClass::Cancelled => return Err(error),
        _ if record.has_ended() => return show_again(worker, held).await,
        // On a free issue the label would count as a person's: the lease expires, and who takes over removes it.
        FailureClass::Transient { .. } | FailureClass::Unfinished
            if held.labels.has(&worker.settings.labels, &worker.settings.labels.blocked) =>
        {
            return Err(error);
        }
        FailureClass::Transient { retry_after } => {
            postpone(worker, held, Service::alone(error.service()), failure, Wanted::Pause(retry_after)).await
        }
        // No forge and no git says so: only a model has a quota, and its run is over by then.
        FailureClass::QuotaExhausted { reset_after } => {
            postpone(worker, held, Service::alone(error.service()), failure, Wanted::Back(reset_after)).await
        }
        FailureClass::Unfinished if is_excused(held, &failure).await => {
            Transition::Postpone { failure, until: worker.forge.now() + worker.settings.limits.retry_delay }
        }
        FailureClass::Unfinished => retry(&worker.settings.limits, record.attempts.now, worker.forge.now(), failure),
        FailureClass::Misconfigured if error.is_of_the_repositorys_file() => {
            // The file's author reads it here. Nothing more begins before the branch moves.
            if worker.settings.labels.base(&held.issue.labels).is_none() {
                worker.memory.trouble.note_settings(&held.base.sha, failure.clone());
            }
            let until = worker.forge.now() + worker.settings.limits.retry_delay;
            transition(worker, held, Transition::Postpone { failure, until }).await?;
            release(worker, held).await?;
            return Err(error);
        }
        FailureClass::Misconfigured => {
            // The run says what: it is nobody's matter who reads the issue.
            requeue(worker, held, "the worker lacks what only its operator can supply".to_owned()).await?;
            return Err(error);
        }
        FailureClass::Permanent | FailureClass::NeedsHuman => {
            let refused = matches!(error, WorkError::Workspace(WorkspaceError::PushRefused { .. }));
            Transition::Block(if refused {
                BlockReason::PushRefused { failure }
            } else {
                BlockReason::SetUpNeeded { failure }
            })
        }
    };
    let Err(error) = transition(worker, held, step).await else { return Ok(()) };
    if !held.lease.record().has_ended() || error.class() == FailureClass::Cancelled {
        return Err(error);
    }
    worker.emit(&WorkEvent::Failed { issue: Some(held.issue.number), reason: error.to_string() });
    Ok(())
}

/// The ledger says how the attempt ended, and comment or labels do not yet. What cannot be shown now either is shown by the
/// next poll, which sees that the labels are not right; or, if they say nothing, by the worker that finds the lease expired.
async fn show_again(worker: &Worker, held: &HeldIssue) -> Result<(), WorkError> {
    let Err(error) = show(worker, held, "labels and comment are shown again").await else { return Ok(()) };
    let state = held.lease.record().state;
    // Nobody would look again: at a finished issue, or at one whose label was on already, as `blocked` is if the workers before
    // this one died before they took it off.
    let is_passing = matches!(error.class(), FailureClass::Transient { .. });
    if state == State::Done || is_passing && held.labels.are_right_for(&worker.settings.labels, state) {
        return Err(error);
    }
    worker.emit(&WorkEvent::Failed { issue: Some(held.issue.number), reason: error.to_string() });
    Ok(())
}

/// A later attempt, or a question to a person when the attempts are used up.
fn retry(limits: &Limits, attempts: u32, now: Timestamp, failure: String) -> Transition {
    if attempts >= limits.attempts {
        return Transition::Block(BlockReason::AttemptsFailed { attempts, failure });
    }
    let pause = limits.retry_delay.saturating_mul(1 << attempts.saturating_sub(1).min(10));
    Transition::Retry { failure, until: now + pause }
}

/// Whether a failure of this machine costs no attempt: it costs none the first time. One that comes again may be this issue's own,
/// and an issue must not be tried for ever.
async fn is_excused(held: &HeldIssue, failure: &str) -> bool {
    let mark = failure_mark(failure, "");
    let before = held.lease.record().failure.mark;
    held.lease.note(Note::Failure(mark.clone())).await;
    before.as_ref() != Some(&mark)
}

/// Ends an attempt that was cut short, after keeping its work on the branch.
async fn interrupted(
    worker: &Worker,
    held: &HeldIssue,
    began: Spend,
    job: Option<&Job<'_>>,
    interrupt: Interrupt,
) -> Result<(), WorkError> {
    // The label of the present state may have been on its way.
    held.labels.presume(held.lease.record().state);
    // What a round did is pushed before the ledger says that it ended.
    let has_ended = held.lease.record().has_ended();
    if let Some(job) = job.filter(|_| !has_ended) {
        keep_soon(worker, job).await;
    }
    match interrupt {
        Interrupt::Stopped if has_ended => {
            return soon(
                held,
                Box::pin(async {
                    show(worker, held, "labels and comment are shown again").await?;
                    settle_and_release(worker, held, began).await
                }),
            )
            .await;
        }
        Interrupt::Stopped => {
            return soon(held, Box::pin(requeue(worker, held, "the worker was stopped".to_owned()))).await;
        }
        Interrupt::Terminated(by) => return transition::end(worker, held, Ending::Terminated(by)).await,
        Interrupt::Paused(pause) => transition(worker, held, Transition::Pause(pause)).await?,
        Interrupt::Withdrawn => {
            let ending = withdrawn(worker, held).await;
            transition(worker, held, Transition::Finish(ending)).await?;
        }
    }
    if job.is_some() { settle_and_release(worker, held, began).await } else { release(worker, held).await }
}

/// The end of work that a person withdrew, by the issue as it is now. The work ends even if that cannot be read.
async fn withdrawn(worker: &Worker, held: &HeldIssue) -> Ending {
    let ended = async {
        let now = worker.forge.issues().get(held.issue.number).await?;
        let now = now.unwrap_or_else(|| Issue::gone(held.issue.number));
        let ending = who_ended(worker, &now, Ending::Withdrawn).await?;
        // A round in review was cut short.
        if let Some(pull) = held.lease.record().pull.number.filter(|_| leaves_a_pull(&ending)) {
            tell_on_pull(worker, &held.lease, &ending, pull).await?;
        }
        Ok::<_, WorkError>(ending)
    };
    ended.await.unwrap_or_else(|error| {
        tracing::warn!(issue = held.issue.number.0, %error, "who withdrew the issue could not be read: {error}");
        Ending::Withdrawn
    })
}

/// Requeues an issue whose attempt does not count, so that the next worker takes it at once.
async fn requeue(worker: &Worker, held: &HeldIssue, reason: String) -> Result<(), WorkError> {
    label(worker, held, State::Ready).await?;
    if !is_settled(worker, held) {
        settle(worker, held, held.lease.record().spend).await?;
    }
    let why = worker.forge.ledger().release_with(&held.lease, Transition::Requeue { reason }).await?;
    worker.emit(&WorkEvent::Moved { issue: held.issue.number, state: State::Ready, why });
    worker.settle_audit().await;
    Ok(())
}

/// The end of an attempt, within what a process that is stopped may have left.
async fn soon(held: &HeldIssue, end: impl Future<Output = Result<(), WorkError>>) -> Result<(), WorkError> {
    match tokio::time::timeout(END_TIME, end).await {
        Ok(ended) => ended,
        Err(_elapsed) => {
            tracing::warn!(issue = held.issue.number.0, "the issue could not be put back in time: its lease expires");
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> Limits {
        Limits {
            attempts: 4,
            retry_delay: Duration::from_secs(60),
            ..hob_config::Settings::load(None, std::collections::HashMap::new(), &[]).unwrap().limits
        }
    }

    #[test]
    fn each_retry_waits_twice_as_long() {
        let now = Timestamp::UNIX_EPOCH;
        for (attempts, seconds) in [(1, 60), (2, 120), (3, 240)] {
            let Transition::Retry { until, .. } = retry(&limits(), attempts, now, "signal 9".to_owned()) else {
                panic!("attempt {attempts} is not the last");
            };
            assert_eq!((until - now).num_seconds(), seconds, "attempt {attempts}");
        }
    }

    #[test]
    fn the_last_attempt_is_followed_by_a_question() {
        let failure = || "no route".to_owned();
        for attempts in [4, 5] {
            let reason = BlockReason::AttemptsFailed { attempts, failure: "no route".to_owned() };
            assert_eq!(retry(&limits(), attempts, Timestamp::UNIX_EPOCH, failure()), Transition::Block(reason));
        }
    }
}
