//! The rounds of one attempt: the agent works, Hob commits and checks; what fails goes back to the agent, a limited number
//! of times.

use std::{ops::ControlFlow, time::Duration};

use hob_agent::AgentError;
use hob_domain::{BlockReason, ChangeText, CheckResult, Conflict, Evidence, FailedChecks, FailureClass};
use hob_words::for_the_agent;
use hob_workspace::WorkspaceError;

use crate::{
    WorkError, Worker,
    attempt::{
        branch::{is_reviewed, keep, keep_soon},
        candidates::first_round,
        end::AttemptEnd,
        job::Job,
        outage::{Service, Wanted, postpone},
        proof::{Proof, Proven, prove, try_base},
        publish::publish,
        reviewer::publish_reviewed,
        round::{Round, run_round},
    },
    on_heap::on_heap,
};

/// A run without a bill that ended within this time has done nothing.
const DONE_NOTHING: Duration = Duration::from_secs(60);

/// Says in what agents and checks run; where the machine could have a better sandbox, to everybody.
fn tell_where(worker: &Worker, job: &Job<'_>) {
    let says = format!("agents and checks run in a sandbox of the tier `{}`", worker.children.sandbox.tier());
    match worker.children.sandbox.lacks() {
        Some(why) => worker.progress(job.number(), &format!("{says}; {why}")),
        None => worker.activity(job.number(), &says),
    }
}

/// Why the agent works once more.
fn why_again(job: &Job<'_>, round: u32, failed: &[CheckResult], conflicts: &[Conflict]) -> &'static str {
    match (failed.is_empty(), conflicts.is_empty()) {
        (_, false) => "conflicts with the base are left",
        (true, true) if job.unfit().is_some() => "the work cannot be committed",
        (true, true) if round == 1 && job.has_lost_work() => "part of the work is not in a commit",
        (true, true) if round == 1 && job.for_the_agent().is_some() => "the checks do not show what they should",
        (true, true) if round == 1 && job.candidates.lock().is_behind => "a person said more meanwhile",
        (true, true) if !job.held.lease.record().commands.unread.is_empty() => "a person said more meanwhile",
        (true, true) if !job.findings().is_empty() => "the reviewer has findings",
        (_, true) => "the checks failed",
    }
}

/// Whether work that passes goes back to the agent, which is asked about it once.
fn goes_back(job: &Job<'_>, proven: &Proven) -> bool {
    job.candidates.lock().is_behind
        || !proven.evidence.red_otherwise().is_empty()
        || job.has_lost_work()
        || for_the_agent(&proven.shown, &proven.notable).is_some()
}

/// Runs the agent and its proof until the work is published, blocked or requeued.
pub(super) async fn rounds(worker: &Worker, job: &Job<'_>) -> Result<AttemptEnd, WorkError> {
    tell_where(worker, job);
    if let Some(end) = try_base(worker, job).await? {
        return Ok(end);
    }
    let mut last = match without_agent(worker, job).await? {
        ControlFlow::Break(end) => return Ok(end),
        ControlFlow::Continue(evidence) => evidence,
    };
    let mut failed: Vec<CheckResult> = last.worse();
    let mut conflicts: Vec<Conflict> = Vec::new();
    let mut worked = job.checkout.start().clone();
    let (mut rounds, mut limit) = (0, worker.settings.limits.check_rounds);
    for round in 0.. {
        if round > limit {
            break;
        }
        rounds = round + 1;
        if round > 0 {
            let why = why_again(job, round, &failed, &conflicts);
            worker.progress(job.number(), &format!("{why}: returning to the agent, {round} of {limit}"));
        }
        let led_to = match round {
            0 => on_heap(|| first_round(worker, job, &failed)).await?,
            _ => on_heap(|| run_round(worker, job, round, &failed)).await?,
        };
        match led_to {
            // Once: whether the issue asks for what was red before is the agent's to say, and whether it asks for what git would
            // lose.
            Round::Proven(proven) if round == 0 && limit > 0 && goes_back(job, &proven) => {
                failed = proven.evidence.red_otherwise();
                worked = proven.head;
            }
            Round::Proven(proven) => {
                worked = proven.head.clone();
                if let Some(end) = publish_reviewed(worker, job, proven).await? {
                    return Ok(end);
                }
                (failed, conflicts) = (Vec::new(), Vec::new());
                // What a reviewer finds takes no round from the checks.
                limit += 1;
            }
            Round::Blocked(BlockReason::NoChanges { .. }) if round == 0 && limit > 0 && job.has_lost_work() => {}
            Round::Unfit(unfit) => {
                // The agent made it, and can mend it in a minute. What it leaves as it is goes to a person.
                let told = job.note_unfit(Some(unfit.clone()));
                if round == limit || told.as_ref() == Some(&unfit) {
                    return Err(WorkspaceError::from(unfit).into());
                }
            }
            Round::Blocked(reason) => {
                keep(worker, job).await?;
                return Ok(AttemptEnd::Blocked(reason));
            }
            Round::Failed(reason, failure) => return self::failed(worker, job, reason, failure).await,
            Round::Conflicted(left) => {
                conflicts = left;
                let tip = job.checkout.tip().await?;
                if round > 0 && tip == worked {
                    break;
                }
                worked = tip;
            }
            Round::Again(evidence) => {
                conflicts.clear();
                let before = std::mem::take(&mut failed);
                failed = evidence.worse();
                last = evidence;
                let tip = job.checkout.tip().await?;
                // The same work cannot pass what it failed.
                if round > 0 && tip == worked && outputs(&before) == outputs(&failed) {
                    break;
                }
                worked = tip;
            }
        }
    }
    keep(worker, job).await?;
    if !conflicts.is_empty() {
        let base = job.base.branch.clone();
        return Ok(AttemptEnd::Blocked(BlockReason::MergeConflict { base, files: conflicts }));
    }
    Ok(AttemptEnd::Blocked(BlockReason::ChecksFailed { rounds, failed: FailedChecks::among(&last.worse()) }))
}

/// The end of work that needs no agent any more, or none at all; else the evidence against it so far.
async fn without_agent(worker: &Worker, job: &Job<'_>) -> Result<ControlFlow<AttemptEnd, Evidence>, WorkError> {
    if let Some(change) = job.proven.clone().filter(|_| job.checkout.conflicts().is_empty()) {
        worker.progress(job.number(), "publishing the work of an earlier attempt, which passed its checks");
        // An agent that is asked again may find nothing left to do.
        if let Proof::Passed(proven) = prove(worker, job, change).await? {
            let end = publish_reviewed(worker, job, proven).await?;
            return Ok(end.map_or_else(|| ControlFlow::Continue(Evidence::default()), ControlFlow::Break));
        }
    }
    if !is_base_alone(job) {
        return Ok(ControlFlow::Continue(Evidence::default()));
    }
    match prove(worker, job, ChangeText::untitled("Took in what the base branch has.")).await? {
        Proof::Passed(proven) => {
            let end = publish(worker, job, &proven).await?;
            Ok(end.map_or_else(|| ControlFlow::Continue(Evidence::default()), ControlFlow::Break))
        }
        Proof::Failed(evidence) => Ok(ControlFlow::Continue(evidence)),
        Proof::Conflicted(_) => Ok(ControlFlow::Continue(Evidence::default())),
        Proof::Blocked(reason) => Ok(ControlFlow::Break(AttemptEnd::Blocked(reason))),
    }
}

/// The end of an attempt whose agent failed. Its work so far is kept.
pub(super) async fn failed(
    worker: &Worker,
    job: &Job<'_>,
    reason: String,
    failure: FailureClass,
) -> Result<AttemptEnd, WorkError> {
    let wanted = match failure {
        FailureClass::Permanent | FailureClass::NeedsHuman => {
            keep(worker, job).await?;
            return Ok(AttemptEnd::Blocked(BlockReason::AgentFailed { failure: reason }));
        }
        FailureClass::Misconfigured => {
            keep_soon(worker, job).await;
            return Err(AgentError::new(failure, reason).into());
        }
        FailureClass::QuotaExhausted { reset_after } => Some(Wanted::Back(reset_after)),
        FailureClass::Transient { retry_after } => Some(Wanted::Pause(retry_after)),
        FailureClass::Unfinished | FailureClass::Cancelled => None,
    };
    keep_soon(worker, job).await;
    let agent = || Service::alone(format!("the agent `{}`", job.active.now().loaded.name));
    let (service, wanted) = match wanted {
        Some(wanted) => (Service::asked_by(job).unwrap_or_else(agent), wanted),
        None if did_nothing(job).await? => (agent(), Wanted::Pause(None)),
        None => return Ok(AttemptEnd::Retry { failure: reason }),
    };
    Ok(AttemptEnd::Postponed(postpone(worker, job.held, service, reason, wanted).await))
}

/// Whether the attempt's agent was ended before it had done anything: no bill, no time, no change.
async fn did_nothing(job: &Job<'_>) -> Result<bool, WorkError> {
    let spent = job.held.lease.record().spend.since(job.limits.began);
    let has_run = spent.usd_micros > 0 || spent.tokens() > 0 || spent.wall_seconds > DONE_NOTHING.as_secs();
    Ok(!has_run && job.checkout.tip().await? == *job.checkout.start())
}

/// Whether the rest of the work needs no agent, no matter what becomes of its checks.
pub(super) fn needs_no_agent(job: &Job<'_>) -> bool {
    job.proven.is_some() || is_base_alone(job)
}

/// Whether the round is about a base that moved and goes together with the work: no agent is needed.
fn is_base_alone(job: &Job<'_>) -> bool {
    is_reviewed(job) && job.review.is_empty() && job.checkout.conflicts().is_empty()
}

/// What failed checks printed, without their times.
fn outputs(failed: &[CheckResult]) -> Vec<(&str, &str)> {
    failed.iter().map(|check| (check.command.as_str(), check.output.as_str())).collect()
}
