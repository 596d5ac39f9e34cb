//! One attempt, from the lease that was won to its end.

use std::{ops::ControlFlow, pin::pin, sync::OnceLock, time::Duration};

use futures_util::future::BoxFuture;
use hob_domain::{BaseChoice, BaseSource, BlockReason, Note, RunPurpose, Spend, State, Transition, WorkedBy};
use hob_forge::Changed;
use hob_workspace::WorkspaceError;
use tokio::time::{Instant, timeout};
use tracing::{Instrument, Span};

use crate::{
    WorkError, WorkEvent, Worker,
    attempt::{
        advances::allow_the_first,
        base::{base_instead, choose_base, no_such_base},
        branch::{keep_soon, step_aside, update_branch},
        end::{AttemptEnd, Attempted, Interrupt, note_end},
        finish::finish,
        heartbeat::heartbeat,
        job::{AttemptLimits, Job},
        listen::follow_new_commands,
        outage::ask_first,
        plan_first::plan_first,
        prepare::prepare,
        report::report,
        reservation::{ends_at_once, issue_allowance, reserve},
        rounds::{needs_no_agent, rounds},
        split::split,
        weather::{Patience, through},
    },
    corrections::remarks_of_round,
    held_issue::HeldIssue,
    on_heap::on_heap,
    proof_status::show_work,
    round_end::see,
    traced::{attempt_billed, attempt_span, in_span, prepare_span},
    transition::{label, transition},
};

/// How long a claim shows nothing on the issue: the write is saved where the agent begins soon.
const CLAIM_SHOWN_AFTER: Duration = Duration::from_secs(3);

/// Works on the issue whose lease is held, writes the result, and releases the lease.
///
/// # Errors
/// [`WorkError`] if the result could not be written: the lease is left to expire.
pub(crate) fn attempt<'a>(worker: &'a Worker, held: &'a HeldIssue) -> BoxFuture<'a, Result<Attempted, WorkError>> {
    let record = held.lease.record();
    // Of the highest level, so that no filter of events takes the context away.
    let span = tracing::error_span!(
        "attempt",
        repo = %worker.forge.repo(),
        issue = record.issue.0,
        generation = record.generation.0,
        attempt = record.attempts.now,
    );
    let traced = attempt_span(worker, &record, held);
    Box::pin(run(worker, held, traced.clone()).instrument(traced).instrument(span))
}

async fn run(worker: &Worker, held: &HeldIssue, traced: Span) -> Result<Attempted, WorkError> {
    let began = held.lease.record().spend;
    // Outlives work that is cut short, so that what the agent did is kept.
    let job = OnceLock::new();
    // Boxed: the future of a whole attempt is too large for a small thread's stack.
    let end = tokio::select! {
        end = Box::pin(work(worker, held, began, &job)) => end,
        interrupt = Box::pin(heartbeat(worker, held)) => interrupt.map(AttemptEnd::Interrupted),
        () = worker.cancel.cancelled() => Ok(AttemptEnd::Interrupted(Interrupt::Stopped)),
    };
    let attempted = Attempted::new(&end);
    note_end(&traced, &end);
    let finished = on_heap(|| finish(worker, held, began, job.get(), end)).await;
    journal(worker, held).await;
    let record = held.lease.record();
    attempt_billed(&traced, &record, record.spend.since(began));
    finished.map(|()| attempted)
}

async fn work<'a>(
    worker: &Worker,
    held: &'a HeldIssue,
    began: Spend,
    started: &OnceLock<Job<'a>>,
) -> Result<AttemptEnd, WorkError> {
    let ends = Instant::now() + worker.settings.limits.attempt_time;
    // Comments that people wrote while no worker held the issue.
    if let Some(interrupt) = follow_new_commands(worker, held, &held.issue).await? {
        return Ok(AttemptEnd::Interrupted(interrupt));
    }
    let record = held.lease.record();
    if let Some(reason) = ends_at_once(worker, &held.issue, &record) {
        return Ok(AttemptEnd::Blocked(reason));
    }
    if let Some(remarks) = remarks_of_round(worker, &record) {
        held.lease.note(Note::Remarked(remarks)).await;
    }
    if let Some(plan) = record.approved_plan().filter(|plan| !plan.issues.is_empty()) {
        // No agent runs, so no budget is needed.
        return shown_if_slow(worker, held, on_heap(|| split(worker, held, plan))).await;
    }
    let allowance = match held.reserved {
        Some(allowance) => allowance,
        None => {
            let allowance = match issue_allowance(worker, &record) {
                Ok(allowance) => allowance,
                Err(exhausted) => {
                    let advice = worker.settings.budgets().advice(&exhausted, &record.commands);
                    return Ok(AttemptEnd::Blocked(BlockReason::IssueBudget { exhausted, bill: record.spend, advice }));
                }
            };
            match reserve(worker, held, allowance).await? {
                Changed::Written(allowance) => allowance,
                Changed::Refused(full) => return Ok(AttemptEnd::NoRoom(full)),
            }
        }
    };
    let limits = AttemptLimits { allowance, ends, began };
    let preparing = on_heap(|| prepare_for_agent(worker, held, limits));
    // After the reservation, so that an issue that finds no room is put back without its label flickering.
    let prepared = shown_if_slow(worker, held, preparing).await?;
    let (prepared, moved) = match prepared {
        ControlFlow::Continue(ReadyForAgent { job, moved }) => (*job, moved),
        ControlFlow::Break(end) => return Ok(end),
    };
    let job = started.get_or_init(|| prepared);
    let active = job.active.now();
    let start = Transition::StartAgent {
        agent: active.loaded.name.clone(),
        by: WorkedBy { agent: active.loaded.backend.clone(), model: active.loaded.agent.model(active.candidate) },
        purpose: job.purpose,
        branch: job.checkout.branch().to_string(),
        session: active.session.clone(),
    };
    allow_the_first(job).await;
    transition(worker, held, start).await?;
    on_heap(|| show_work(worker, &held.lease)).await;
    match job.purpose {
        // No attempt is a review: one only has a run of it.
        RunPurpose::Work | RunPurpose::Review => {}
        RunPurpose::Plan => return on_heap(|| plan_first(worker, job)).await,
        RunPurpose::Report | RunPurpose::Investigate => return on_heap(|| report(worker, job)).await,
    }
    if moved || job.checkout.is_kept() {
        keep_soon(worker, job).await;
    }
    on_heap(|| rounds(worker, job)).await
}

/// All that comes before the agent's start.
struct ReadyForAgent<'a> {
    job: Box<Job<'a>>,
    /// Whether the base was merged into the branch.
    moved: bool,
}

/// Chooses the base and prepares the work on it, or says how the attempt ends without an agent.
async fn prepare_for_agent<'a>(
    worker: &Worker,
    held: &'a HeldIssue,
    limits: AttemptLimits,
) -> Result<ControlFlow<AttemptEnd, ReadyForAgent<'a>>, WorkError> {
    let base = match choose_base(worker, held).await? {
        ControlFlow::Continue(base) => base,
        ControlFlow::Break(reason) => return Ok(ControlFlow::Break(AttemptEnd::Blocked(reason))),
    };
    let (base, mut job) = match on_heap(|| prepare_on(worker, held, base, limits)).await? {
        Prepared::Job(base, job) => (base, job),
        Prepared::NeedsPerson(reason) => return Ok(ControlFlow::Break(AttemptEnd::Blocked(reason))),
    };
    held.lease.note(Note::Base(base)).await;
    if let Some(reason) = step_aside(worker, &job).await? {
        return Ok(ControlFlow::Break(AttemptEnd::Blocked(reason)));
    }
    if !needs_no_agent(&job)
        && let Some(end) = on_heap(|| ask_first(worker, &job)).await
    {
        return Ok(ControlFlow::Break(end));
    }
    let moved = !job.only_reads() && on_heap(|| update_branch(worker, &mut job)).await?;
    Ok(ControlFlow::Continue(ReadyForAgent { job, moved }))
}

/// The preparation of the work.
enum Prepared<'a> {
    /// The work can begin on this base.
    Job(BaseChoice, Box<Job<'a>>),
    /// A person is needed.
    NeedsPerson(BlockReason),
}

/// Prepares the work on a base, or on its replacement if it no longer exists.
async fn prepare_on<'a>(
    worker: &Worker,
    held: &'a HeldIssue,
    base: BaseChoice,
    limits: AttemptLimits,
) -> Result<Prepared<'a>, WorkError> {
    let on = |base: &BaseChoice| {
        let base = base.clone();
        Box::pin(through(&held.lease, Patience::Incident, move || {
            Box::pin(in_span(prepare_span(), prepare(worker, held, base.clone(), limits)))
        }))
    };
    match on(&base).await {
        Err(WorkError::Workspace(WorkspaceError::NoSuchBranch { .. })) if base.by == BaseSource::Label => {
            Ok(Prepared::NeedsPerson(no_such_base(&base)))
        }
        Err(error @ WorkError::Workspace(WorkspaceError::NoSuchBranch { .. })) => {
            let instead = base_instead(worker, held, &base).ok_or(error)?;
            let job = Box::new(on(&instead).await?);
            Ok(Prepared::Job(instead, job))
        }
        job => Ok(Prepared::Job(base, Box::new(job?))),
    }
}

/// What `work` comes to. If it is not done soon, the issue shows meanwhile that it is claimed, or people that their review was seen; if
/// the issue shows another state, such as a question that was answered, at once: nobody is to read that any longer, and a failure would
/// leave it there.
async fn shown_if_slow<T>(
    worker: &Worker,
    held: &HeldIssue,
    work: impl Future<Output = Result<T, WorkError>>,
) -> Result<T, WorkError> {
    // People know whose work it is: the label goes from `in-review` to `in-progress`.
    let is_round = held.lease.record().review.is_under_way();
    if !is_round {
        let why = format!("claimed, generation {}", held.lease.generation());
        worker.emit(&WorkEvent::Moved { issue: held.issue.number, state: State::Assigned, why });
        if held.labels.shows_a_state(&worker.settings.labels) {
            label(worker, held, State::Assigned).await?;
            return work.await;
        }
    }
    let mut work = pin!(work);
    if let Ok(done) = timeout(CLAIM_SHOWN_AFTER, &mut work).await {
        return done;
    }
    let show = async { if is_round { see(worker, held).await } else { label(worker, held, State::Assigned).await } };
    let (shown, done) = tokio::join!(show, work);
    shown?;
    done
}

/// Keeps spend that the forge was not seen to accept.
async fn journal(worker: &Worker, held: &HeldIssue) {
    let (issue, unwritten) = (held.issue.number, held.lease.unwritten());
    if let Some(unwritten) = unwritten
        && let Err(error) = worker.spend_journal.add(issue, unwritten).await
    {
        let spend = unwritten.spend;
        tracing::error!(issue = issue.0, %error, "the spend {spend} is lost: neither the forge nor the disk accepts it");
    }
}
