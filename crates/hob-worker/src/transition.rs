//! Writing a transition: to the ledger first, then to the status comment, then to the labels. A worker that dies in
//! between leaves a ledger that says what the labels should be.

use std::sync::{Arc, atomic::Ordering};

use futures_util::future::BoxFuture;
use hob_domain::{
    Allowance, Claimant, CommentId, Ending, FailureClass, LabelChange, Nonce, Note, PullNumber, Receipt, Record,
    RepositoryRecord, Spend, State, Timestamp, Transition,
};
use hob_forge::{
    Acquisition, BaseBranch, ForgeError, HeldLease, Issue, Look, OnPull, RepositoryChange, Showing, Shown, once,
};
use hob_words::{STATUS_MARK, status_body};

use crate::{
    WorkError, WorkEvent, Worker,
    held_issue::HeldIssue,
    inbox::give_receipts,
    introduce::Introduction,
    notify::{close_question, note_what_came_before, notify, tell_of_question},
    observe::Observed,
    proof_status::show_due,
    round_end::{RoundEnd, see},
    settlement::{Settlement, has_lessons, is_settled, settle},
};

/// Acquires the lease on an observed issue with a first transition.
pub(super) async fn acquire(
    worker: &Worker,
    observed: Observed,
    base: &Arc<BaseBranch>,
    transition: Transition,
) -> Result<HeldIssue, WorkError> {
    // Boxed: every action's future holds this one.
    Box::pin(acquire_with(worker, observed, base, transition, |_, _, _, _, _| Err(()))).await
}

/// Acquires it, and reserves a share of the repository's day in the same push if that can be.
pub(super) async fn acquire_with<E>(
    worker: &Worker,
    observed: Observed,
    base: &Arc<BaseBranch>,
    transition: Transition,
    reserve: impl Fn(&Issue, &Record, Option<&RepositoryRecord>, Nonce, Timestamp) -> RepositoryChange<Allowance, E>,
) -> Result<HeldIssue, WorkError> {
    let Observed { issue, entry, .. } = observed;
    let dead = entry.as_ref().map(|entry| &entry.record).filter(|record| record.lease.is_some());
    let bill = match dead {
        Some(record) => Box::pin(bill_of_the_dead(worker, record)).await,
        None => None,
    };
    let claimant = Claimant { bill, ..worker.claimant() };
    let with =
        |record: &Record, before: Option<&RepositoryRecord>, nonce, now| reserve(&issue, record, before, nonce, now);
    let ledger = worker.forge.ledger();
    let acquisition =
        Acquisition { issue: issue.number, seen: entry.as_ref(), claimant: &claimant, tree: &base.tree, transition };
    let acquired = ledger.acquire_with(acquisition, with);
    let (lease, reserved) = Box::pin(acquired).await?;
    let held = HeldIssue::new(lease, issue, Arc::clone(base), reserved);
    // A read that lags may not show the label of the state that the issue leaves; nobody else would remove it.
    if let Some(left) = entry.map(|entry| entry.record.state).filter(|left| *left != held.lease.record().state) {
        held.labels.presume(left);
    }
    Ok(held)
}

/// The issue's bill with what an agent cost after its worker's last heartbeat, if this machine has the session of the worker that
/// died. The work may end without a run that opens the session again.
async fn bill_of_the_dead(worker: &Worker, record: &Record) -> Option<Spend> {
    // A worker that lived on after its lease counts its own.
    if worker.spend_journal.has(record.issue).await {
        return Some(record.spend);
    }
    worker.children.executor.bill_left(record.session.as_ref()?, worker.forge.repo(), record.issue).await
}

/// Writes a transition to the ledger and shows it.
pub(super) async fn transition(worker: &Worker, held: &HeldIssue, transition: Transition) -> Result<(), WorkError> {
    let why = worker.forge.ledger().transition(&held.lease, transition).await?;
    show(worker, held, &why).await
}

/// Makes status comment and labels match the ledger. The labels come last: while they are not right, the next poll
/// knows that there is more to show.
pub(super) async fn show(worker: &Worker, held: &HeldIssue, why: &str) -> Result<(), WorkError> {
    let state = held.lease.record().state;
    worker.emit(&WorkEvent::Moved { issue: held.issue.number, state, why: why.to_owned() });
    // Boxed: each attempt holds this future, mostly without needing it.
    if !held.lease.record().commands.receipts.is_empty() {
        Box::pin(give_receipts(worker, &held.lease, &held.receipts)).await?;
    }
    if state == State::Blocked {
        Box::pin(note_what_came_before(worker, &held.lease)).await?;
    }
    if held.lease.record().closed_question().is_some() {
        Box::pin(close_question(worker, &held.lease)).await?;
    }
    if held.lease.record().shows_its_end() {
        Box::pin(show_due(worker, &held.lease)).await?;
    }
    let round = RoundEnd::to_tell(worker, held);
    let introduction = Box::pin(Introduction::of(worker, &held.lease)).await?;
    let shown = Box::pin(show_parts(worker, held, introduction.as_ref(), round)).await?;
    // The comment says what was refused.
    let has_more_to_say = match introduction {
        Some(introduction) => Box::pin(introduction.make(worker, &held.lease, shown.asked)).await?,
        None => false,
    };
    let commented = match shown.comment {
        Some(_) if !has_more_to_say => Ok(()),
        Some(_) | None => comment(worker, &held.lease).await,
    };
    let passes = |told: &Result<(), WorkError>| {
        told.as_ref().is_err_and(|error| matches!(error.class(), FailureClass::Transient { .. }))
    };
    if passes(&commented) {
        return commented;
    }
    // If no one may comment, as in a locked conversation, the labels still tell.
    let asked = match state {
        State::Blocked => Box::pin(tell_of_question(worker, &held.lease, &held.base)).await,
        State::Ready | State::Assigned | State::InProgress | State::InReview | State::Done => Ok(()),
    };
    if passes(&asked) {
        return asked;
    }
    if !shown.labels {
        label(worker, held, state).await?;
    }
    Box::pin(notify(worker, &held.lease, &held.issue.title)).await;
    commented.and(asked)
}

/// Shows the ledger's state and releases the lease.
pub(super) async fn show_and_release(worker: &Worker, held: &HeldIssue, why: &str) -> Result<(), WorkError> {
    show(worker, held, why).await?;
    release(worker, held).await
}

/// Shows in one request what can be shown so, and tells what a round that ended has to tell, before the labels say that it did.
async fn show_parts(
    worker: &Worker,
    held: &HeldIssue,
    introduction: Option<&Introduction>,
    round: Option<RoundEnd>,
) -> Result<Shown, WorkError> {
    let mut shown = Shown::default();
    if let Some(round) = round {
        if round.is_untold() {
            shown = Box::pin(show_at_once(worker, held, introduction, Some(round.on_pull()))).await?;
        }
        Box::pin(round.finish(worker, held, shown)).await?;
        // Whom the round asked is not who is asked first.
        shown.asked = false;
    }
    if shown.comment.is_none() && !shown.labels {
        shown = Box::pin(show_at_once(worker, held, introduction, None)).await?;
    }
    if shown.seen {
        held.unseen.lock().clear();
    }
    Box::pin(see(worker, held)).await?;
    Ok(shown)
}

/// Makes comment and labels match the ledger and asks for the review, if that is due, in one request with what a round has to tell, as
/// far as that can be done without a look at what is there.
async fn show_at_once(
    worker: &Worker,
    held: &HeldIssue,
    introduction: Option<&Introduction>,
    round: Option<(PullNumber, OnPull<'_>)>,
) -> Result<Shown, WorkError> {
    let (lease, state) = (&held.lease, held.lease.record().state);
    let (changes, comment) = (wanted_labels(worker, held, state), lease.record().comments.status);
    // A question is asked before the label says that there is one. A comment alone is one call as well.
    if state == State::Blocked || changes.is_empty() || comment.is_none() && may_have_commented(lease) {
        return Ok(Shown::default());
    }
    let (body, seen) = (status_of(worker, lease), held.unseen.lock().clone());
    let accounts = introduction.and_then(Introduction::accounts);
    let asked = accounts.as_ref();
    let on_pull = round.or(asked.map(|(pull, of)| (*pull, OnPull { reviewers: of, ..OnPull::default() })));
    let showing = Showing { issue: &held.issue, comment, body: &body, changes: &changes, seen: &seen, on_pull };
    let shown = match worker.forge.comments().show(lease, showing).await {
        Ok(shown) => shown,
        Err(error) if error.class() == FailureClass::Cancelled => return Err(error.into()),
        Err(error) => {
            tracing::debug!(issue = lease.issue().0, %error, "the state is shown part by part: {error}");
            Shown { sent: true, ..Shown::default() }
        }
    };
    if let Some(id) = shown.comment {
        lease.note(Note::StatusComment(id)).await;
    }
    if shown.labels {
        changes.into_iter().for_each(|change| held.labels.apply(change, &worker.settings.labels));
    }
    Ok(shown)
}

/// The changes of labels that show `state`, without those that somebody undoes each time.
fn wanted_labels(worker: &Worker, held: &HeldIssue, state: State) -> Vec<LabelChange> {
    let (fights, now) = (held.lease.record().label_fights, worker.forge.now());
    let changes = held.labels.changes(&worker.settings.labels, state).into_iter();
    changes.filter(|change| !fights.is_given_up(change, now)).collect()
}

/// Makes the labels show `state`.
pub(super) async fn label(worker: &Worker, held: &HeldIssue, state: State) -> Result<(), WorkError> {
    for change in wanted_labels(worker, held, state) {
        worker.forge.labels().change(&held.lease, &change).await?;
        held.labels.apply(change, &worker.settings.labels);
    }
    Ok(())
}

/// Ends the work on an issue whose trigger label may still be on, and releases the lease.
pub(super) async fn end(worker: &Worker, held: &HeldIssue, ending: Ending) -> Result<(), WorkError> {
    take_trigger_off(worker, held).await?;
    transition(worker, held, Transition::Finish(ending)).await?;
    release(worker, held).await
}

/// Removes the trigger label before the work ends: on a finished ledger it would request the work again if this worker
/// died in between.
pub(super) async fn take_trigger_off(worker: &Worker, held: &HeldIssue) -> Result<(), WorkError> {
    let trigger = LabelChange::Remove(worker.settings.labels.trigger.clone());
    Ok(worker.forge.labels().change(&held.lease, &trigger).await?)
}

/// Acquires the lease on an issue that may still have its trigger label, and ends the work on it. The comments that
/// asked for it get these receipts.
pub(super) async fn acquire_and_end(
    worker: &Worker,
    observed: Observed,
    base: &Arc<BaseBranch>,
    ending: Ending,
    receipts: Vec<Receipt>,
) -> Result<(), WorkError> {
    let what = format!("finishing: {ending}");
    let held = acquire(worker, observed, base, Transition::Reconcile { what }.following(receipts)).await?;
    held.labels.presume(held.lease.record().state);
    end(worker, &held, ending).await
}

/// Releases the lease, after the issue's share of the day is settled.
pub(super) async fn release(worker: &Worker, held: &HeldIssue) -> Result<(), WorkError> {
    if !is_settled(worker, held) {
        return settle_and_release(worker, held, held.lease.record().spend).await;
    }
    worker.earlier_checks.forget(held.issue.number).await;
    worker.forge.ledger().release(&held.lease).await?;
    worker.settle_audit().await;
    Ok(())
}

/// Settles the attempt's share of the day and releases the lease, in one push where that can be. `began` is the issue's bill when the
/// attempt began.
pub(super) async fn settle_and_release(worker: &Worker, held: &HeldIssue, began: Spend) -> Result<(), WorkError> {
    if has_lessons(&held.lease) {
        // What is remembered leaves the issue's ledger after it is in the repository's.
        settle(worker, held, began).await?;
        return Box::pin(release(worker, held)).await;
    }
    worker.earlier_checks.forget(held.issue.number).await;
    let settlement = Settlement::of(worker, held, began);
    let change = |before: Option<&_>, nonce, now| settlement.after(before, nonce, now);
    Box::pin(worker.forge.ledger().release_after(&held.lease, &held.base.tree, change)).await?;
    worker.settle_audit().await;
    Ok(())
}

/// Writes the one status comment, or edits it. Its id goes into the ledger with the next transition.
pub(super) async fn comment(worker: &Worker, lease: &HeldLease) -> Result<(), WorkError> {
    let body = status_of(worker, lease);
    let edit = || -> BoxFuture<'_, _> { Box::pin(edit_own(worker, lease, &body)) };
    let create = || -> BoxFuture<'_, _> {
        lease.comment_tried().store(true, Ordering::Relaxed);
        Box::pin(worker.forge.comments().create(lease, &body))
    };
    let id = once(&worker.forge, lease, Look::First, edit, create).await?;
    lease.note(Note::StatusComment(id)).await;
    Ok(())
}

/// The text of the status comment.
fn status_of(worker: &Worker, lease: &HeldLease) -> String {
    status_body(&lease.record(), &worker.settings.status_rules(&worker.repo_url()))
}

/// Whether there may be a status comment that the ledger does not name.
fn may_have_commented(lease: &HeldLease) -> bool {
    lease.generation().0 > 1 || lease.comment_tried().load(Ordering::Relaxed)
}

/// Edits the existing status comment; `None` if there is none.
async fn edit_own(worker: &Worker, lease: &HeldLease, body: &str) -> Result<Option<CommentId>, ForgeError> {
    if let Some(id) = lease.record().comments.status
        && edit_comment(worker, lease, id, body).await?
    {
        return Ok(Some(id));
    }
    match unnoted_comment(worker, lease).await? {
        Some(id) if edit_comment(worker, lease, id, body).await? => Ok(Some(id)),
        Some(_) | None => Ok(None),
    }
}

/// `false` if the comment was deleted.
async fn edit_comment(worker: &Worker, lease: &HeldLease, id: CommentId, body: &str) -> Result<bool, ForgeError> {
    match worker.forge.comments().edit(lease, id, body).await {
        Ok(()) => Ok(true),
        Err(error) if error.is_not_found() => Ok(false),
        Err(error) => Err(error),
    }
}

/// A status comment that an earlier worker wrote, or this one by a write whose answer was lost, and that was not noted.
async fn unnoted_comment(worker: &Worker, lease: &HeldLease) -> Result<Option<CommentId>, ForgeError> {
    if lease.record().comments.status.is_none() && !may_have_commented(lease) {
        return Ok(None);
    }
    Ok(worker.forge.comments().own(lease, lease.issue(), STATUS_MARK).await?.map(|comment| comment.id))
}
