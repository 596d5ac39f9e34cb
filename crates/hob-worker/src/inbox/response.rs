//! The response of people to the question of a blocked issue: in comments, by its label, or by an edit of the issue.

use hob_domain::{
    Answer, ApprovalGrant, BlockCode, Blocked, Ending, JoinedWords, LabelEventKind, Login, Receipt, Reply, ReplyEffect,
    Unblocking, has_label, joined_with, reply_of,
};
use hob_forge::Issue;

use crate::{
    WorkError,
    authorize::{LabelHistory, approved_hash, approved_since, authorized_editors, is_approved, label_event},
    inbox::read::Inbox,
};

/// The response of authorized people since the issue was blocked.
pub(crate) enum Response {
    /// There is none.
    Nothing,
    /// The work continues with an answer, whose comments get these receipts.
    Continue(Unblocking, Vec<Receipt>),
    /// The work is over, and the comments get these receipts.
    End(Ending, Vec<Receipt>),
    /// The label is off, and the forge does not yet show who removed it.
    NotYet,
    /// Comments that are meant for Hob and that it cannot follow, with the replies to them.
    Refused(Vec<Receipt>),
}

/// The response in comments, by the label, or by an edit.
pub(crate) async fn response(inbox: &Inbox<'_>, issue: &Issue) -> Result<Response, WorkError> {
    match inbox.response_in_comments(issue).await? {
        Response::Nothing if !has_label(&issue.labels, &inbox.worker.settings.labels.blocked) => {
            label_removed(inbox, issue).await
        }
        Response::Nothing => Box::pin(edited(inbox, issue)).await,
        response => Ok(response),
    }
}

impl Inbox<'_> {
    /// The response in comments, of all of them together.
    pub(crate) async fn response_in_comments(&self, issue: &Issue) -> Result<Response, WorkError> {
        let Reply { receipts, then } = reply_of(self.answers(issue).await?);
        Ok(match then {
            ReplyEffect::Stay if receipts.is_empty() => Response::Nothing,
            ReplyEffect::Stay => Response::Refused(receipts),
            ReplyEffect::End(ending) => Response::End(ending, receipts),
            ReplyEffect::Answer { actor, text, grant, comment, at } => {
                let question = self.record.blocked.as_ref().map(|blocked| blocked.question.clone());
                let answer = Answer { actor, text, question, comment, event: None };
                let approved = approved_since(self.worker, self.authorizer, issue, at).await?;
                Response::Continue(Unblocking { answer, grant, approved }, receipts)
            }
        })
    }
}

impl Inbox<'_> {
    /// What people said in comments since the issue was blocked, and then `actor` elsewhere.
    pub(crate) async fn joined_with(&self, issue: &Issue, actor: &Login, text: &str) -> Result<JoinedWords, WorkError> {
        Ok(joined_with(self.answers(issue).await?, actor, text))
    }
}

/// What an edit of the issue's text says as an answer: the brief has the text itself.
const EDITED: &str = "I edited the issue: its text now says what is wanted.";

/// The response of the accounts that edited the issue since it was blocked, if all of them are authorized.
async fn edited(inbox: &Inbox<'_>, issue: &Issue) -> Result<Response, WorkError> {
    let Inbox { worker, authorizer, record, .. } = *inbox;
    let (Some(blocked), Some(trigger)) = (&record.blocked, &record.trigger) else { return Ok(Response::Nothing) };
    // Whether that edit is meant was asked already; another one within its second cannot be told from it.
    if blocked.reason == BlockCode::EditedMeanwhile || is_approved(trigger, issue) {
        return Ok(Response::Nothing);
    }
    let editors = worker.forge.issues().editors_since(issue.number, blocked.since).await?;
    let editors = authorized_editors(worker, authorizer, issue, blocked.since, editors).await?;
    let Some(editor) = editors.into_iter().flatten().next() else { return Ok(Response::Nothing) };
    let question = Some(blocked.question.clone());
    let answer = Answer { actor: editor.login, text: EDITED.to_owned(), question, comment: None, event: None };
    let unblocking = Unblocking { answer, grant: ApprovalGrant::Nothing, approved: approved_hash(issue) };
    Ok(Response::Continue(unblocking, Vec::new()))
}

/// The response of the account that removed the label of blocked issues.
async fn label_removed(inbox: &Inbox<'_>, issue: &Issue) -> Result<Response, WorkError> {
    let Inbox { worker, authorizer, record, .. } = *inbox;
    let Some(Blocked { since, question, .. }) = &record.blocked else { return Ok(Response::Nothing) };
    let label = &worker.settings.labels.blocked;
    let event = match label_event(worker, issue, LabelEventKind::Unlabeled, label).await? {
        LabelHistory::Seen(event) => event,
        LabelHistory::NotYet => return Ok(Response::NotYet),
        LabelHistory::Missing => return Ok(Response::Nothing),
    };
    let is_new = event.at >= *since && Some(event.id) > record.answer.as_ref().and_then(|answer| answer.event);
    let Some(actor) = event.actor.as_ref().filter(|_| is_new) else { return Ok(Response::Nothing) };
    if !authorizer.judge(worker, actor).await?.is_granted() {
        return Ok(Response::Nothing);
    }
    let (actor, question, event_id) = (actor.login.clone(), Some(question.clone()), Some(event.id));
    let answer = Answer { actor, text: String::new(), question, comment: None, event: event_id };
    let approved = approved_since(worker, authorizer, issue, event.at).await?;
    let unblocking = Unblocking { answer, grant: ApprovalGrant::Nothing, approved };
    Ok(Response::Continue(unblocking, Vec::new()))
}
