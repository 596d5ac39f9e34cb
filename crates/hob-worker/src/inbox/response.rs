//! The response of people to the question of a blocked issue, in comments or by its label.

use hob_domain::{Answer, ApprovalGrant, Blocked, Ending, Following, LabelEventKind, Receipt, Unblocking, has_label};
use hob_forge::Issue;

use crate::{
    WorkError,
    authorize::{LabelHistory, approved_since, label_event},
    inbox::read::Inbox,
};

/// The response of authorized people since the issue was blocked.
pub(crate) enum Response {
    /// There is none.
    Nothing,
    /// The work continues with an answer.
    Continue(Unblocking),
    /// The work is over.
    End(Ending),
    /// The label is off, and the forge does not yet show who removed it.
    NotYet,
    /// Comments that are meant for Hob and that it cannot follow, with the replies to them.
    Refused(Vec<Receipt>),
}

/// The response in comments or by the label.
pub(crate) async fn response(inbox: &Inbox<'_>, issue: &Issue) -> Result<Response, WorkError> {
    match inbox.response_in_comments(issue).await? {
        Response::Nothing if !has_label(&issue.labels, &inbox.worker.settings.labels.blocked) => {
            label_removed(inbox, issue).await
        }
        response => Ok(response),
    }
}

impl Inbox<'_> {
    /// The first response in a comment.
    pub(crate) async fn response_in_comments(&self, issue: &Issue) -> Result<Response, WorkError> {
        let mut refused = Vec::new();
        for (message, following) in self.answers(issue).await? {
            match following {
                Following::Answer { text, grant } => {
                    let question = self.record.blocked.as_ref().map(|blocked| blocked.question.clone());
                    let (actor, comment) = (message.author.login, Some(message.comment));
                    let answer = Answer { actor, text, question, comment, event: None };
                    let approved = approved_since(self.worker, self.authorizer, issue, message.at).await?;
                    return Ok(Response::Continue(Unblocking { answer, grant, approved }));
                }
                Following::End(ending) => return Ok(Response::End(ending)),
                Following::Refused(receipt) => refused.push(receipt),
                Following::Nothing | Following::Command(_) | Following::Round => {}
            }
        }
        Ok(if refused.is_empty() { Response::Nothing } else { Response::Refused(refused) })
    }
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
    Ok(Response::Continue(Unblocking { answer, grant: ApprovalGrant::Nothing, approved }))
}
