//! One poll of a repository: labels, comments and ledgers are brought up to date, and work is queued.

use std::{sync::Arc, time::Duration};

use hob_domain::{
    Action, Decision, Ending, FailureClass, Full, Headroom, IssueNumber, IssueView, LabelSpec, Planned, Snapshot,
    State, WaitReason, may_have_words, plan, plan_chosen, unseen_in_review,
};
use hob_forge::BaseBranch;
use hob_workspace::{Retention, Room};

use crate::{
    Preflight, RunSummary, Waiting, WaitsOn, WorkError, WorkEvent, Worker,
    attempt::room_beside_others,
    corrections::propose_correction,
    finished_ledgers::list_finished,
    metrics::METRICS,
    observe::{Discovered, discover},
    preflight::preflight,
    pull_facts::{Watched, watched},
    reconcile::{Reconciled, Slot, look_for_answer, look_for_commands, reconcile, unanswered, write_journal},
    repository_file::{arrive, default_branch, in_repository},
    schedule::dashboard::{board, keep_dashboard},
    trigger::trigger_is_gone,
};

/// The issues of a run.
#[derive(Debug, Clone)]
pub(super) enum Scope {
    /// All of them.
    All,
    /// Only these, in this order.
    Selected(Arc<[IssueNumber]>),
}

/// Work that takes a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// An attempt, which needs room in the repository's hour and day.
    Attempt(IssueNumber),
    /// A blocked issue that a person answered: an attempt follows, or the next free worker's.
    Answered(IssueNumber),
}

impl Work {
    pub(super) fn issue(self) -> IssueNumber {
        match self {
            Self::Attempt(issue) | Self::Answered(issue) => issue,
        }
    }

    /// Whether it makes sense while the repository has no room.
    pub(super) fn waits_for_room(self) -> bool {
        match self {
            Self::Attempt(_) => true,
            Self::Answered(_) => false,
        }
    }
}

/// A look at an issue beside the jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// A blocked issue, on which a person may have answered.
    ForAnswer(IssueNumber),
    /// An issue that waits for a job or for room in the repository, on which a person may have given a command.
    ForCommands(IssueNumber),
}

impl Look {
    pub(super) fn issue(self) -> IssueNumber {
        match self {
            Self::ForAnswer(issue) | Self::ForCommands(issue) => issue,
        }
    }
}

/// The result of a poll.
#[derive(Debug, Default)]
pub(super) struct Poll {
    /// The issues that were brought up to date, and the failures.
    pub(super) reconciled: RunSummary,
    /// The issues to work on, in order.
    pub(super) work: Vec<IssueNumber>,
    /// Blocked and waiting issues on which a person may have said something.
    pub(super) looks: Vec<Look>,
    /// The branch that the work starts from; `None` if there is no work.
    pub(super) base: Option<Arc<BaseBranch>>,
    /// The time until the first wait ends by itself: a lease expires, a pause is over.
    pub(super) due: Option<Duration>,
    /// If there is nothing to do, and nothing but people's words or deeds or the checks on pull requests can change that, those pull requests.
    pub(super) still: Option<Vec<Watched>>,
}

/// Decisions, sorted by who carries them out.
#[derive(Default)]
struct Sorted {
    /// Issues whose labels, comment or ledger are brought up to date by the poll itself.
    reconcile: Vec<IssueNumber>,
    work: Vec<IssueNumber>,
    looks: Vec<Look>,
    /// Blocked issues without possible news since the last look.
    quiet: Vec<IssueNumber>,
    due: Option<Duration>,
}

/// Reads the forge, and brings issues of `scope` up to date that need no work. `None` if the worker was stopped.
///
/// # Errors
/// [`WorkError`] if the forge could not be asked; the trouble of one issue does not fail the poll.
pub(super) async fn poll(worker: &Worker, scope: &Scope) -> Result<Option<Poll>, WorkError> {
    let polled = Box::pin(look_around(worker, scope)).await?;
    if polled.is_some() && matches!(scope, Scope::All) {
        // What was settled just now may have made a correction one of two pull requests.
        worker.cancel.run_until_cancelled(propose_correction(worker)).await;
    }
    Ok(polled)
}

async fn look_around(worker: &Worker, scope: &Scope) -> Result<Option<Poll>, WorkError> {
    if !passes_preflight(worker, Preflight::AtStart).await? {
        return Ok(None);
    }
    let arrived = worker.cancel.run_until_cancelled(Box::pin(arrive(worker))).await.transpose()?;
    let Some((here, ahead)) = arrived else { return Ok(None) };
    let worker = &here;
    let Some(found) = worker.cancel.run_until_cancelled(Box::pin(discover(worker, ahead))).await.transpose()? else {
        return Ok(None);
    };
    let (rules, now) = (worker.settings.plan_rules(), worker.forge.now());
    METRICS.polls.found(worker.forge.repo(), &found.snapshot, &worker.settings, now);
    let planned = match scope {
        Scope::All => plan(&found.snapshot, &rules, now),
        Scope::Selected(numbers) => plan_chosen(&found.snapshot, numbers, &rules, now),
    };
    let board = board(worker, &found, &planned, now);
    if let Some(watcher) = &worker.watcher {
        watcher.found(&here, &board);
    }
    let sorted = but_unanswered(worker, &found, sorted(worker, &planned)).await;
    let Sorted { mut reconcile, mut work, mut looks, quiet, due } = sorted;
    let is_unlabeled = |number: &IssueNumber| {
        let ends = Decision::Act(Action::Finish(Ending::Unlabeled));
        planned.iter().any(|planned| planned.issue.number == *number && planned.decision == ends)
    };
    let mut labels = worker.settings.labels.specs();
    if reconcile.iter().any(&is_unlabeled) && trigger_is_gone(worker).await?.is_some() {
        reconcile.retain(|number| !is_unlabeled(number));
        // If it were made again it would be on no issue: people have to say what happened to it.
        labels.retain(|label| label.name != worker.settings.labels.trigger);
    }
    let waiting = planned.iter().filter_map(waiting).collect();
    let ready = work.len();
    let titles = planned.iter().map(|planned| (planned.issue.number, planned.issue.title.clone())).collect();
    worker.emit(&WorkEvent::Polled { issues: planned.len(), ready, waiting, titles });
    let journaled = worker.spend_journal.entries().await.unwrap_or_else(|error| {
        tracing::error!(%error, "the journal of spend cannot be read: {error}");
        Vec::new()
    });
    let due = match scope {
        Scope::All => {
            worker.memory.moved.found(&work, &found.tips.issues);
            worker.cancel.run_until_cancelled(list_finished(worker, &found.tips)).await;
            let kept = worker.cancel.run_until_cancelled(keep_dashboard(worker, &board)).await;
            // A box that was ticked just now may have freed any of them.
            if kept.flatten() == Some(Duration::ZERO) {
                looks.extend(quiet.into_iter().map(Look::ForAnswer));
            }
            due.into_iter().chain(kept.flatten()).min()
        }
        Scope::Selected(_) => {
            looks.retain(|look| matches!(look, Look::ForAnswer(_)));
            due
        }
    };
    if reconcile.is_empty() && work.is_empty() && looks.is_empty() && journaled.is_empty() {
        let still = if due.is_none() { all_watched(worker, &planned) } else { None };
        return Ok(Some(Poll { due, still, ..Poll::default() }));
    }
    if !passes_preflight(worker, Preflight::BeforeWork).await? {
        return Ok(None);
    }
    prune(worker, &found.snapshot).await;
    let base = Arc::new(default_branch(worker).await?);
    if worker.memory.trouble.of_settings(&base.sha).is_some() {
        work.clear();
    }
    write_journal(worker, &journaled, &base).await;
    let mut reconciled = RunSummary::default();
    for number in reconcile {
        if worker.cancel.is_cancelled() {
            return Ok(None);
        }
        reconciled.add(&told(worker, number, self::reconcile(worker, number, &base).await));
    }
    if !work.is_empty() || !looks.is_empty() {
        create_missing_labels(worker, &labels).await?;
    }
    Ok(Some(Poll { reconciled, work, looks, base: Some(base), due, still: None }))
}

/// The pull requests of these issues, if they all wait for people or for checks. `None` if one waits for something else.
fn all_watched(worker: &Worker, planned: &[Planned<'_>]) -> Option<Vec<Watched>> {
    let mut pulls = Vec::new();
    for planned in planned {
        let record = planned.issue.record.as_ref()?;
        match record.state {
            State::Blocked | State::Done => {}
            State::InReview => pulls.push(watched(worker, record)?),
            State::Ready | State::Assigned | State::InProgress => return None,
        }
    }
    Some(pulls)
}

/// Checks what the worker needs, if that is due at this point of a poll; `false` if the worker was stopped.
async fn passes_preflight(worker: &Worker, now: Preflight) -> Result<bool, WorkError> {
    if *worker.memory.preflight.lock() != now {
        return Ok(true);
    }
    let Some(ready) = worker.cancel.run_until_cancelled(preflight(worker)).await else { return Ok(false) };
    ready?;
    *worker.memory.preflight.lock() = Preflight::Done;
    Ok(true)
}

async fn create_missing_labels(worker: &Worker, wanted: &[LabelSpec]) -> Result<(), WorkError> {
    let missing = worker.forge.labels().missing(wanted).await?;
    if !missing.is_empty() {
        // Writes are spaced: without a word there would be seconds of silence.
        let labels = missing.iter().map(|label| label.name.clone()).collect();
        worker.emit(&WorkEvent::CreatesLabels { labels });
    }
    Ok(worker.forge.labels().create(&missing).await?)
}

fn sorted(worker: &Worker, planned: &[Planned<'_>]) -> Sorted {
    let (skew, now) = (worker.settings.lease.skew, worker.forge.now());
    let mut sorted = Sorted::default();
    for planned in planned {
        let may_ask = waits_for_its_turn(&planned.decision) && may_have_words(planned.issue);
        if may_ask || !unseen_in_review(planned.issue).is_empty() {
            sorted.looks.push(Look::ForCommands(planned.issue.number));
        }
        match &planned.decision {
            Decision::Act(Action::Claim | Action::Recover(_) | Action::Rework(..) | Action::Prove(_)) => {
                sorted.work.push(planned.issue.number)
            }
            Decision::Act(Action::SeekAnswer) if planned.issue.is_quiet => sorted.quiet.push(planned.issue.number),
            Decision::Act(Action::SeekAnswer) => sorted.looks.push(Look::ForAnswer(planned.issue.number)),
            Decision::Act(Action::Rebuild) if is_by_hand(worker, planned.issue) => {}
            Decision::Act(
                Action::AskAboutRejection(_)
                | Action::ReturnToReview(_)
                | Action::MarkReady(_)
                | Action::SignOff
                | Action::ShowPush(..)
                | Action::NoteChecks(_)
                | Action::Rebuild
                | Action::SeekCommand
                | Action::CarryOut(_)
                | Action::Finish(_)
                | Action::RepairLabels(_)
                | Action::GiveUpLabels(_)
                | Action::ShowState,
            ) => sorted.reconcile.push(planned.issue.number),
            Decision::Wait(reason) => {
                let ends = reason.ends(skew).map(|ends| (ends - now).to_std().unwrap_or_default());
                sorted.due = sorted.due.into_iter().chain(ends).min();
            }
        }
    }
    sorted
}

/// The same without looks at blocked issues on which nobody said anything.
async fn but_unanswered(worker: &Worker, found: &Discovered, mut sorted: Sorted) -> Sorted {
    let asked = |look: &Look| match look {
        Look::ForAnswer(issue) => Some(*issue),
        Look::ForCommands(_) => None,
    };
    let issues = sorted.looks.iter().filter_map(asked).collect();
    let silent = worker.cancel.run_until_cancelled(unanswered(worker, found, issues)).await.unwrap_or_default();
    sorted.looks.retain(|look| asked(look).is_none_or(|issue| !silent.contains(&issue)));
    sorted.quiet.extend(silent);
    sorted
}

/// Whether the issue waits for a job or for room in the repository.
fn waits_for_its_turn(decision: &Decision) -> bool {
    match decision {
        Decision::Act(action) => matches!(action, Action::Claim | Action::Rework(..)),
        // While the repository is paused, nothing is written.
        Decision::Wait(WaitReason::Full(Full::Paused(_))) => false,
        Decision::Wait(reason) => reason.is_of_the_repository(),
    }
}

/// An issue that this poll does nothing about; if a person was asked about it, only the poll's work shows whether the
/// answer is there.
fn waiting(planned: &Planned<'_>) -> Option<Waiting> {
    let issue = planned.issue.number;
    match &planned.decision {
        Decision::Wait(reason) => {
            let on = if reason.is_of_the_repository() { WaitsOn::Repository } else { WaitsOn::Issue };
            Some(Waiting { issue, on, why: reason.to_string() })
        }
        Decision::Act(Action::SeekAnswer) => {
            let question = planned.issue.record.as_ref()?.blocked.as_ref()?.question.clone();
            Some(Waiting { issue, on: WaitsOn::Person, why: question })
        }
        Decision::Act(_) => None,
    }
}

/// Whether the state label is known not to be Hob's: nothing on the issue has changed since that was looked up.
fn is_by_hand(worker: &Worker, issue: &IssueView) -> bool {
    worker.memory.labelled_by_hand.has(issue.number, issue.updated_at)
}

/// Sets aside surplus checkouts, and removes them while the poll goes on.
async fn prune(worker: &Worker, snapshot: &Snapshot) {
    let is_worked_on = |issue: &&IssueView| {
        let state = issue.record.as_ref().map(|record| record.state);
        matches!(state, Some(State::Assigned | State::InProgress))
    };
    let in_progress: Vec<_> = snapshot.issues.iter().filter(is_worked_on).map(|issue| issue.number).collect();
    let (now, settings, disk) = (worker.forge.now(), &worker.settings.workspace, worker.settings.state.disk);
    let stay = Retention {
        before: now - settings.keep,
        listed: snapshot.issues.iter().map(|issue| issue.number).collect(),
        in_progress: in_progress.clone(),
        most: settings.checkouts,
    };
    let room = (disk > 0).then_some(Room { bytes: disk, in_progress, now });
    if let Err(error) = worker.workspace.prune(worker.forge.repo(), stay).await {
        // Space on the disk is not worth an issue's attempt.
        tracing::warn!(%error, "old checkouts could not be removed: {error}");
    }
    // One at a time, because they share the disk.
    let Ok(turn) = Arc::clone(&worker.sweep).try_lock_owned() else { return };
    let (workspace, repo, stop) = (worker.workspace.clone(), worker.forge.repo().clone(), worker.cancel.clone());
    tokio::spawn(async move {
        let shrunk = match room {
            Some(room) => workspace.shrink(&repo, room).await,
            None => Ok(()),
        };
        let emptied = workspace.empty_trash(&repo, &stop).await;
        for error in [shrunk.err(), emptied.err()].into_iter().flatten() {
            tracing::warn!(%error, "old checkouts could not be removed: {error}");
        }
        drop(turn);
    });
}

/// Does the work on an issue, if there still is room for it.
pub(super) async fn take_up(worker: &Worker, work: Work, base: &Arc<BaseBranch>) -> Result<Reconciled, WorkError> {
    let issue = work.issue();
    let worker = match in_repository(worker, base).await {
        Ok(worker) => worker,
        Err(error) => return told(worker, issue, Err(error)),
    };
    // The attempt would begin on a budget that does not count it, and its agent's session would count it once more.
    if worker.spend_journal.has(issue).await {
        return Ok(Reconciled::Nothing);
    }
    // An error belongs to the issue, too, and is reported by the next read of it.
    if work.waits_for_room() {
        match room_beside_others(&worker, issue).await {
            Ok(None) => return Ok(Reconciled::Nothing),
            Ok(Some(Headroom::None)) => return Ok(Reconciled::NoRoom),
            Ok(Some(Headroom::Last | Headroom::Ample)) | Err(_) => {}
        }
    }
    told(&worker, issue, reconcile(&worker, issue, base).await)
}

/// Looks at what people said on an issue. No attempt begins: that takes a job.
pub(super) async fn look(
    worker: &Worker,
    look: Look,
    base: &Arc<BaseBranch>,
    slot: Slot,
) -> Result<Reconciled, WorkError> {
    let result = match (in_repository(worker, base).await, look) {
        (Ok(worker), Look::ForAnswer(issue)) => look_for_answer(&worker, issue, base, slot).await,
        (Ok(worker), Look::ForCommands(issue)) => Box::pin(look_for_commands(&worker, issue, base)).await,
        (Err(error), _) => Err(error),
    };
    if !matches!(result, Ok(Reconciled::Nothing)) {
        worker.memory.moved.forget(look.issue());
    }
    told(worker, look.issue(), result)
}

/// The result for an issue; failures are events too.
pub(super) fn told(
    worker: &Worker,
    number: IssueNumber,
    result: Result<Reconciled, WorkError>,
) -> Result<Reconciled, WorkError> {
    if let Err(error) = &result
        && error.class() != FailureClass::Misconfigured
    {
        worker.emit(&WorkEvent::Failed { issue: Some(number), reason: error.to_string() });
    }
    result
}
