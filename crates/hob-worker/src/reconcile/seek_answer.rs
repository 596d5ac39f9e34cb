//! Blocked issues: whether a person answered on the issue or on its pull request, and the attempt that follows.

use std::{collections::BTreeSet, sync::Arc};

use hob_domain::{Answer, ApprovalGrant, IssueNumber, Receipt, Record, State, Transition, Unblocking};
use hob_forge::{BaseBranch, Issue};

use crate::{
    WorkError, Worker,
    attempt::{acquire_for_attempt, attempt},
    authorize::Authorizer,
    inbox::{Conversation, Inbox, Response, give_receipts, response},
    memory::LookedAt,
    observe::{Discovered, Observed},
    on_heap::on_heap,
    reconcile::{
        follow_commands::{commands_in, follow_commands, new_commands},
        outcome::Reconciled,
    },
    transition::{acquire, acquire_and_end, release, show_and_release},
};

/// What the look for an answer may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    /// An attempt: it has one of the process's jobs.
    Job,
    /// No attempt, because that takes the job that is free.
    Next,
    /// No attempt, which has to wait for a job.
    None,
}

/// The result of a look for an answer.
pub(super) enum Sought {
    /// There was no response.
    Nothing,
    /// Only a later look can tell.
    Unclear,
    /// There is an answer, and the look may not begin an attempt.
    Answer,
    /// This.
    Done(Reconciled),
}

/// Continues with a blocked issue when an authorized person answered or removed the label.
pub(super) async fn seek_answer(
    worker: &Worker,
    observed: Observed,
    base: &Arc<BaseBranch>,
    slot: Slot,
) -> Result<Sought, WorkError> {
    let commands = new_commands(worker, &observed).await?;
    if !commands.is_empty() {
        return on_heap(|| follow_commands(worker, observed, commands, base)).await.map(Sought::Done);
    }
    let response = match observed.inbox(worker).filter(|inbox| inbox.record.blocked.is_some()) {
        Some(inbox) => answer_in(&inbox, &observed.issue).await?,
        None => Response::Continue(without_question(&observed), Vec::new()),
    };
    match response {
        Response::Continue(_, receipts) if slot != Slot::Job => {
            if slot == Slot::None {
                on_heap(|| acknowledge(worker, observed, base, receipts, "saw an answer")).await?;
            }
            return Ok(Sought::Answer);
        }
        Response::Continue(unblocking, mut receipts) => {
            // An answer on the pull request is noted there with what follows from it.
            receipts.retain(|receipt| receipt.pull.is_some() || !has_taken(&observed, receipt));
            return continue_with(worker, observed, unblocking, receipts, base).await.map(Sought::Done);
        }
        Response::End(ending, receipts) => acquire_and_end(worker, observed, base, ending, receipts).await?,
        Response::Refused(receipts) => reply(worker, observed, base, receipts).await?,
        Response::NotYet => return Ok(Sought::Unclear),
        Response::Nothing if observed.record().is_none_or(|record| shows_blocked(worker, record, &observed.issue)) => {
            return Ok(Sought::Nothing);
        }
        // The label went missing, an account that is not authorized removed it, or the worker that blocked the issue died
        // before it had asked its question.
        Response::Nothing => {
            let what = "shows again that a person is needed".to_owned();
            let held = acquire(worker, observed, base, Transition::Reconcile { what }).await?;
            show_and_release(worker, &held, "still blocked: nobody who is authorized answered").await?;
        }
    }
    Ok(Sought::Done(Reconciled::UpToDate))
}

/// Gives the receipts of what people said where the attempt that it asks for waits for a job. `saw` is the ledger's sentence.
pub(super) async fn acknowledge(
    worker: &Worker,
    observed: Observed,
    base: &Arc<BaseBranch>,
    mut receipts: Vec<Receipt>,
    saw: &str,
) -> Result<(), WorkError> {
    receipts.retain(|receipt| !has_taken(&observed, receipt));
    if receipts.is_empty() {
        return Ok(());
    }
    let what = saw.to_owned();
    let held = acquire(worker, observed, base, Transition::Reconcile { what }.following(receipts)).await?;
    give_receipts(worker, &held.lease, &held.receipts).await?;
    release(worker, &held).await
}

/// Whether the ledger has the message already that a receipt is for.
fn has_taken(observed: &Observed, receipt: &Receipt) -> bool {
    observed.record().is_some_and(|record| record.commands.has_taken(receipt.to()))
}

/// The answer to no question: a blocked record without a reason can only be resumed.
fn without_question(observed: &Observed) -> Unblocking {
    let answer = Answer { actor: "hob".into(), text: String::new(), question: None, comment: None, event: None };
    // There is no new response, so earlier approvals stay.
    let trigger = observed.record().and_then(|record| record.trigger.as_ref());
    let approved = trigger.map(|trigger| trigger.approved.clone()).unwrap_or_default();
    Unblocking { answer, grant: ApprovalGrant::Nothing, approved }
}

fn shows_blocked(worker: &Worker, record: &Record, issue: &Issue) -> bool {
    record.lease.is_none() && worker.settings.labels.changes(&issue.labels, State::Blocked).is_empty()
}

/// The response on a blocked issue. A paused one is left alone: what answers it counts when it is resumed.
async fn answer_in(inbox: &Inbox<'_>, issue: &Issue) -> Result<Response, WorkError> {
    if inbox.record.pause().is_some() { Ok(Response::Nothing) } else { response(inbox, issue).await }
}

/// Of these blocked issues, those on which nobody said anything that [`seek_answer`] would act upon, by what the poll read and one query: a
/// process that knows none of them yet would look at each. An issue that changed a moment ago, or that cannot be read, is left to the look.
pub(crate) async fn unanswered(
    worker: &Worker,
    found: &Discovered,
    asked: BTreeSet<IssueNumber>,
) -> BTreeSet<IssueNumber> {
    let now = worker.forge.now();
    let views = found.snapshot.issues.iter().filter(|view| asked.contains(&view.number));
    let views: Vec<_> = views.filter(|view| LookedAt::may_be_noted(view, now)).collect();
    let mut comments = found.comments_on(worker, views.iter().map(|view| view.number)).await;
    let (authorizer, mut silent) = (Authorizer::default(), BTreeSet::new());
    for view in views {
        let (Some(record), Some(issue)) = (&view.record, found.issues.get(&view.number)) else { continue };
        let Some(comments) = comments.remove(&view.number) else { continue };
        let conversation = Conversation::on(record.pull.number).with_comments(comments);
        let inbox = Inbox { worker, authorizer: &authorizer, conversation: &conversation, record };
        if is_unanswered(&inbox, issue).await.unwrap_or(false) {
            worker.memory.looked_at.note(view, now);
            silent.insert(view.number);
        }
    }
    silent
}

async fn is_unanswered(inbox: &Inbox<'_>, issue: &Issue) -> Result<bool, WorkError> {
    let shows = inbox.record.blocked.is_some() && shows_blocked(inbox.worker, inbox.record, issue);
    Ok(shows
        && commands_in(inbox, issue).await?.is_empty()
        && matches!(answer_in(inbox, issue).await?, Response::Nothing))
}

/// Replies in one line each why comments cannot be followed.
async fn reply(
    worker: &Worker,
    observed: Observed,
    base: &Arc<BaseBranch>,
    receipts: Vec<Receipt>,
) -> Result<(), WorkError> {
    let what = "replies to what cannot be followed".to_owned();
    let held = acquire(worker, observed, base, Transition::Reconcile { what }.following(receipts)).await?;
    show_and_release(worker, &held, "still blocked: what was said cannot be followed").await
}

/// Begins the next attempt at an issue that was unblocked.
pub(super) async fn continue_with(
    worker: &Worker,
    observed: Observed,
    unblocking: Unblocking,
    receipts: Vec<Receipt>,
    base: &Arc<BaseBranch>,
) -> Result<Reconciled, WorkError> {
    let begin = Transition::Continue(unblocking).following(receipts);
    let held = acquire_for_attempt(worker, observed, base, begin).await?;
    if let Err(error) = give_receipts(worker, &held.lease, &held.receipts).await {
        tracing::warn!(issue = held.issue.number.0, %error, "the answer's receipt comes later: {error}");
    }
    Ok(attempt(worker, &held).await?.into())
}
