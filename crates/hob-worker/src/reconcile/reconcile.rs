//! From a decision about an issue to its lease, and on to the decision's action.

use std::sync::Arc;

use hob_domain::{
    Action, Decision, Ending, Headroom, IssueNumber, PersonsWork, PullNumber, PullStatus, Record, Recovery, Refusal,
    ReviewEvent, Sha, State, Timestamp, Transition, Trigger, WaitReason, decide, unseen_in_review,
};
use hob_forge::{BaseBranch, ForgeError};

use crate::{
    WorkError, WorkEvent, Worker,
    attempt::{Attempted, acquire_for_attempt, attempt, known_room_for, room_for},
    authorize::{Vetted, approved_by, vet},
    observe::{Observed, observe},
    on_heap::on_heap,
    people::begun,
    reconcile::{
        control::carry_out,
        follow_commands::{follow_commands, new_commands, seek_commands},
        follow_waiting::follow_while_it_waits,
        mark_ready::mark_ready,
        outcome::Reconciled,
        pushed::{prove, show_push},
        repair::{find_traces, rebuild, return_to_review},
        rerun::rerun,
        seek_answer::{Slot, Sought, seek_answer},
        sign_off::sign_off,
    },
    transition::{acquire, acquire_and_end, comment, release, show_and_release, transition},
    trigger::trigger_is_gone,
    who_ended::{leaves_a_pull, tell_on_pull, who_ended},
};

/// Observes an issue again and takes the action that is needed, to the end of one attempt.
pub(crate) async fn reconcile(
    worker: &Worker,
    number: IssueNumber,
    base: &Arc<BaseBranch>,
) -> Result<Reconciled, WorkError> {
    let Some(observed) = observe(worker, number).await? else { return Ok(Reconciled::Nothing) };
    let action = match decide(&observed.view, &worker.settings.plan_rules(), worker.forge.now()) {
        Decision::Act(action) => action,
        Decision::Wait(WaitReason::Held(_)) => {
            // If little room is left the other worker takes that too, and the rest of the queue is as old as this was.
            let room = known_room_for(worker, number, observed.record());
            return Ok(if room == Headroom::Ample { Reconciled::Nothing } else { Reconciled::NoRoom });
        }
        Decision::Wait(_) => return Ok(Reconciled::Nothing),
    };
    match on_heap(|| act(worker, action, observed, base)).await {
        // Another worker was faster, and does what there is to do.
        Err(WorkError::Forge(ForgeError::Held(_) | ForgeError::Lost(_))) => Ok(Reconciled::Nothing),
        result => result,
    }
}

/// Observes a blocked issue again and checks whether a person answered: commands are followed, and impossible ones get
/// a reply. An answer is left to [`reconcile`], which begins an attempt; if that has to wait for a job, it gets its receipt
/// now.
pub(crate) async fn look_for_answer(
    worker: &Worker,
    number: IssueNumber,
    base: &Arc<BaseBranch>,
    slot: Slot,
) -> Result<Reconciled, WorkError> {
    let Some(observed) = observe(worker, number).await? else { return Ok(Reconciled::Nothing) };
    let now = worker.forge.now();
    let view = observed.view.clone();
    match decide(&view, &worker.settings.plan_rules(), now) {
        Decision::Act(Action::SeekAnswer) => {}
        // It was freed meanwhile, as by a tick on the dashboard.
        Decision::Act(Action::Claim | Action::Recover(_) | Action::Rework(..)) => return Ok(Reconciled::Answered),
        Decision::Act(_) | Decision::Wait(_) => return Ok(Reconciled::Nothing),
    }
    let sought = match on_heap(|| seek_answer(worker, observed, base, slot)).await {
        // Another worker was faster, and does what there is to do.
        Err(WorkError::Forge(ForgeError::Held(_) | ForgeError::Lost(_))) => Ok(Sought::Unclear),
        result => result,
    };
    Ok(match sought? {
        Sought::Nothing => {
            worker.memory.looked_at.note(&view, now);
            Reconciled::Nothing
        }
        Sought::Unclear => Reconciled::Nothing,
        Sought::Answer => Reconciled::Answered,
        Sought::Done(reconciled) => reconciled,
    })
}

/// Observes an issue again that waits for a job, or for room in the repository, follows commands on it, and sees the reviews of
/// its pull request. No attempt begins.
pub(crate) async fn look_for_commands(
    worker: &Worker,
    number: IssueNumber,
    base: &Arc<BaseBranch>,
) -> Result<Reconciled, WorkError> {
    let Some(observed) = observe(worker, number).await? else { return Ok(Reconciled::Nothing) };
    let (view, now) = (observed.view.clone(), worker.forge.now());
    let unseen = unseen_in_review(&view);
    let waits =
        matches!(decide(&view, &worker.settings.plan_rules(), now), Decision::Act(Action::Claim | Action::Rework(..)));
    if !waits && unseen.is_empty() {
        return Ok(Reconciled::Nothing);
    }
    match on_heap(|| follow_while_it_waits(worker, observed, unseen, base)).await {
        Ok(Some(reconciled)) => Ok(reconciled),
        Ok(None) => {
            worker.memory.looked_at.note(&view, now);
            Ok(Reconciled::Nothing)
        }
        // Another worker was faster, and does what there is to do.
        Err(WorkError::Forge(ForgeError::Held(_) | ForgeError::Lost(_))) => Ok(Reconciled::Nothing),
        Err(error) => Err(error),
    }
}

// Boxed, one by one: the futures of all of them together are too large for a small thread's stack.
async fn act(
    worker: &Worker,
    action: Action,
    observed: Observed,
    base: &Arc<BaseBranch>,
) -> Result<Reconciled, WorkError> {
    match action {
        Action::Claim => match vet(worker, &observed.authorizer, &observed.issue).await? {
            Vetted::Authorized(trigger, since) => on_heap(|| claim(worker, observed, trigger, since, base)).await,
            Vetted::Refused(refusal) => on_heap(|| refuse(worker, observed, refusal, base)).await,
            Vetted::NotYet => Ok(Reconciled::Nothing),
        },
        Action::Recover(recovery) => on_heap(|| recover(worker, observed, recovery, base)).await,
        Action::SeekAnswer => match on_heap(|| seek_answer(worker, observed, base, Slot::Job)).await? {
            Sought::Nothing | Sought::Unclear | Sought::Answer => Ok(Reconciled::Nothing),
            Sought::Done(reconciled) => Ok(reconciled),
        },
        Action::SeekCommand => on_heap(|| seek_commands(worker, observed, base)).await,
        Action::Rework(events, head) => on_heap(|| rework(worker, observed, events, head, base)).await,
        Action::Prove(pull) => on_heap(|| prove(worker, observed, pull, base)).await,
        Action::ShowPush(pull, head) => on_heap(|| show_push(worker, observed, pull, head, base)).await,
        Action::CarryOut(request) => on_heap(|| carry_out(worker, observed, request, base)).await,
        Action::Rebuild => match find_traces(worker, &observed).await? {
            Some(traces) => on_heap(|| rebuild(worker, observed, traces, base)).await,
            None => {
                worker.memory.labelled_by_hand.note(observed.issue.number, observed.issue.updated_at);
                Ok(Reconciled::Nothing)
            }
        },
        Action::ReturnToReview(pull) => on_heap(|| return_to_review(worker, observed, pull, base)).await,
        Action::MarkReady(pull) => on_heap(|| mark_ready(worker, observed, pull, base)).await,
        Action::SignOff => on_heap(|| sign_off_again(worker, observed, base)).await,
        Action::NoteChecks(notes) => {
            let why = "what its checks say has changed";
            on_heap(|| show_after(worker, observed, base, Transition::NoteChecks(notes), why)).await
        }
        Action::AskAboutRejection(pull) => on_heap(|| ask_about_rejection(worker, observed, pull, base)).await,
        Action::Finish(ending) => on_heap(|| finish(worker, observed, ending, base)).await,
        Action::RepairLabels(changes) => {
            // A worker that died before the labels died before the comment too.
            let why = "its labels follow the ledger again";
            on_heap(|| show_after(worker, observed, base, Transition::RepairLabels(changes), why)).await
        }
        Action::GiveUpLabels(changes) => {
            let why = "others change its labels back each time";
            on_heap(|| show_after(worker, observed, base, Transition::GiveUpLabels(changes), why)).await
        }
        Action::ShowState => {
            let what = "shows what its dead worker had not".to_owned();
            let why = "its labels and its comment follow the ledger again";
            on_heap(|| show_after(worker, observed, base, Transition::Reconcile { what }, why)).await
        }
    }
}

/// Makes this change of the record, and shows the issue as the record has it.
async fn show_after(
    worker: &Worker,
    observed: Observed,
    base: &Arc<BaseBranch>,
    change: Transition,
    why: &str,
) -> Result<Reconciled, WorkError> {
    let held = acquire(worker, observed, base, change).await?;
    show_and_release(worker, &held, why).await?;
    Ok(Reconciled::UpToDate)
}

async fn sign_off_again(worker: &Worker, observed: Observed, base: &Arc<BaseBranch>) -> Result<Reconciled, WorkError> {
    let what = "signs the commits off, which its dead worker had not".to_owned();
    let held = acquire(worker, observed, base, Transition::Reconcile { what }).await?;
    sign_off(worker, &held).await?;
    show_and_release(worker, &held, "its commits were to be signed off").await?;
    Ok(Reconciled::UpToDate)
}

async fn claim(
    worker: &Worker,
    observed: Observed,
    trigger: Trigger,
    since: Timestamp,
    base: &Arc<BaseBranch>,
) -> Result<Reconciled, WorkError> {
    // A status comment without a ledger: the ledger was deleted, and the work may still be there.
    if observed.entry.is_none()
        && let Some(traces) = find_traces(worker, &observed).await?
    {
        return rebuild(worker, observed, traces, base).await;
    }
    let room = room_for(worker, observed.issue.number, observed.record()).await?;
    if room == Headroom::None {
        return Ok(Reconciled::NoRoom);
    }
    let before = worker.forge.issues().before_claim(observed.issue.number, since).await?;
    let begun = begun(worker, &observed.issue, observed.record(), &trigger, before.others).await?;
    if !begun.is_empty() {
        return on_heap(|| wait_for_people(worker, observed, begun, base)).await;
    }
    let approved = approved_by(worker, &observed.authorizer, &observed.issue, since, before.editors).await?;
    let begin = Transition::Claim { trigger: Trigger { approved, ..trigger } };
    attempt_with_room(worker, observed, begin, room, base).await
}

/// Lets an issue wait for what people have begun on it, unless there are commands to follow first.
async fn wait_for_people(
    worker: &Worker,
    observed: Observed,
    begun: Vec<PersonsWork>,
    base: &Arc<BaseBranch>,
) -> Result<Reconciled, WorkError> {
    if let Some(record) = observed.record().filter(|record| record.state == State::Ready) {
        let commands = new_commands(worker, &observed).await?;
        if !commands.is_empty() {
            return on_heap(|| follow_commands(worker, observed, commands, base)).await;
        }
        if record.work.waits_for() == begun {
            return Ok(Reconciled::Nothing);
        }
    }
    let why = PersonsWork::each_says(&begun);
    let held = acquire(worker, observed, base, Transition::WaitForPeople(begun)).await?;
    show_and_release(worker, &held, &why).await?;
    Ok(Reconciled::UpToDate)
}

/// Begins an attempt with this transition, if hour and day have room for it.
async fn attempt_where_room(
    worker: &Worker,
    observed: Observed,
    begin: Transition,
    base: &Arc<BaseBranch>,
) -> Result<Reconciled, WorkError> {
    let room = room_for(worker, observed.issue.number, observed.record()).await?;
    if room == Headroom::None {
        return Ok(Reconciled::NoRoom);
    }
    attempt_with_room(worker, observed, begin, room, base).await
}

async fn attempt_with_room(
    worker: &Worker,
    observed: Observed,
    begin: Transition,
    room: Headroom,
    base: &Arc<BaseBranch>,
) -> Result<Reconciled, WorkError> {
    let began = observed.began;
    let held = match acquire_for_attempt(worker, observed, base, begin).await {
        Err(error @ WorkError::Forge(ForgeError::Held(_) | ForgeError::Lost(_))) => {
            worker.memory.races.lost(began.elapsed());
            // The faster worker takes the last room, too: the next issue would be claimed and put back.
            return if room == Headroom::Last { Ok(Reconciled::NoRoom) } else { Err(error) };
        }
        held => held?,
    };
    let attempted = attempt(worker, &held).await?;
    match attempted {
        Attempted::Worked => worker.memory.races.won(),
        Attempted::NoRoom => worker.memory.races.lost(began.elapsed()),
    }
    Ok(attempted.into())
}

async fn recover(
    worker: &Worker,
    observed: Observed,
    recovery: Recovery,
    base: &Arc<BaseBranch>,
) -> Result<Reconciled, WorkError> {
    let from = observed.record().and_then(|record| record.lease.as_ref()).map(|holder| holder.worker.clone());
    let take_over = Transition::TakeOver { recovery, from };
    let why = match recovery {
        Recovery::Resume => return on_heap(|| attempt_where_room(worker, observed, take_over, base)).await,
        Recovery::Abandon => "its worker died; it is free again",
        Recovery::Block => "its worker died",
    };
    show_after(worker, observed, base, take_over, why).await
}

/// Begins a round in review, unless there are commands to follow first.
async fn rework(
    worker: &Worker,
    observed: Observed,
    events: Vec<ReviewEvent>,
    head: Sha,
    base: &Arc<BaseBranch>,
) -> Result<Reconciled, WorkError> {
    let commands = new_commands(worker, &observed).await?;
    if !commands.is_empty() {
        return on_heap(|| follow_commands(worker, observed, commands, base)).await;
    }
    let log = observed.record().map(|record| &record.review);
    if worker.settings.review.rerun && log.is_some_and(|log| log.may_rerun(&events)) {
        return on_heap(|| rerun(worker, observed, events, &head, base)).await;
    }
    on_heap(|| attempt_where_room(worker, observed, Transition::Rework { events, head }, base)).await
}

async fn refuse(
    worker: &Worker,
    observed: Observed,
    refusal: Refusal,
    base: &Arc<BaseBranch>,
) -> Result<Reconciled, WorkError> {
    let is_same = |known: &Refusal| known.event == refusal.event && known.reason == refusal.reason;
    // A worker that died in between left its lease, and may have left the comment.
    let is_told = |record: &Record| record.lease.is_none() && record.refused.as_ref().is_some_and(is_same);
    if observed.record().is_some_and(is_told) {
        return Ok(Reconciled::Nothing);
    }
    let reason = refusal.reason.clone();
    let held = acquire(worker, observed, base, Transition::Refuse(refusal)).await?;
    comment(worker, &held.lease).await?;
    // The comment has touched the issue: only what comes after it is news.
    worker.forge.ledger().release_with(&held.lease, Transition::RefusalShown).await?;
    worker.emit(&WorkEvent::Refused { issue: held.issue.number, reason });
    Ok(Reconciled::UpToDate)
}

async fn ask_about_rejection(
    worker: &Worker,
    observed: Observed,
    pull: PullNumber,
    base: &Arc<BaseBranch>,
) -> Result<Reconciled, WorkError> {
    let held = acquire(worker, observed, base, Transition::Reject(pull)).await?;
    show_and_release(worker, &held, "its pull request was closed without a merge").await?;
    Ok(Reconciled::UpToDate)
}

async fn finish(
    worker: &Worker,
    observed: Observed,
    ending: Ending,
    base: &Arc<BaseBranch>,
) -> Result<Reconciled, WorkError> {
    if ending == Ending::Unlabeled && trigger_is_gone(worker).await?.is_some() {
        return Ok(Reconciled::Nothing);
    }
    if ending == Ending::Merged && worker.still_wanted(&observed.issue) {
        acquire_and_end(worker, observed, base, Ending::MergedLeftOpen, Vec::new()).await?;
        return Ok(Reconciled::UpToDate);
    }
    let ending = who_ended(worker, &observed.issue, ending).await?;
    let why = format!("finished: {ending}");
    if let Some((pull, PullStatus::Open)) = observed.view.pull
        && leaves_a_pull(&ending)
    {
        let begin = Transition::Reconcile { what: format!("tells pull request {pull} that its issue was closed") };
        let held = acquire(worker, observed, base, begin).await?;
        tell_on_pull(worker, &held.lease, &ending, pull).await?;
        transition(worker, &held, Transition::Finish(ending)).await?;
        release(worker, &held).await?;
        return Ok(Reconciled::UpToDate);
    }
    let held = acquire(worker, observed, base, Transition::Finish(ending.clone())).await?;
    if ending == Ending::Gone {
        // There is no comment to show it in.
        release(worker, &held).await?;
        worker.emit(&WorkEvent::Moved { issue: held.issue.number, state: State::Done, why });
    } else {
        show_and_release(worker, &held, &why).await?;
    }
    Ok(Reconciled::UpToDate)
}
