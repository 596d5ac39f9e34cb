//! What people say while an issue is worked on: commands are followed at once, and other words are kept for the agent.

use hob_agent::Said;
use hob_domain::{Control, Message, Note, WaitReason, held_by};
use hob_forge::{HeldLease, Issue, fresh_nonce};
use hob_words::{explanation, said_meanwhile};

use crate::{
    WorkError, Worker,
    attempt::end::Interrupt,
    authorize::Authorizer,
    held_issue::HeldIssue,
    inbox::{Conversation, Inbox, follow_rules, take_effect},
};

/// Follows the commands that were not followed yet; returns what they interrupt the work for.
pub(super) async fn follow_new_commands(
    worker: &Worker,
    held: &HeldIssue,
    issue: &Issue,
) -> Result<Option<Interrupt>, WorkError> {
    follow_commands_on(worker, held, Some(issue), issue.comments).await
}

/// The same, on the pull request alone if `issue`, which has this many comments, is known to have no news.
pub(super) async fn follow_commands_on(
    worker: &Worker,
    held: &HeldIssue,
    issue: Option<&Issue>,
    comments: u64,
) -> Result<Option<Interrupt>, WorkError> {
    // The heartbeat and the beginning of the work share the lease.
    let _turn = held.commands.lock().await;
    let record = held.lease.record();
    // An attempt is long, so accounts are looked up anew at each look.
    let (authorizer, conversation) = (Authorizer::default(), Conversation::of(worker, &record));
    let inbox = Inbox { worker, authorizer: &authorizer, conversation: &conversation, record: &record };
    let commands = inbox.commands(issue).await?;
    if commands.is_empty() {
        held.lease.note(Note::Looked(comments)).await;
    } else {
        let now = worker.forge.now();
        let why = held_by(&record, now, worker.settings.lease.skew).map(|held| WaitReason::Held(held).to_string());
        let explanation = explanation(&record, &worker.settings.budgets(), &why.unwrap_or_default());
        let rules = follow_rules(worker, &held.base, &commands, explanation).await?;
        take_effect(worker, held, &commands, &rules, comments).await?;
        let unread = held.lease.record().commands.unread;
        let is_new = |message: &&Message| {
            unread.contains(&message.comment) && !record.commands.unread.contains(&message.comment)
        };
        for message in commands.iter().filter(is_new) {
            held.steering.say(said(worker, message));
        }
    }
    Ok(requested(worker, &held.lease))
}

fn said(worker: &Worker, message: &Message) -> Said {
    let (author, body) = (message.author.login.clone(), message.body.clone());
    let told = said_meanwhile(&author, &body, worker.settings.limits.text_bytes(), &fresh_nonce());
    Said { comment: message.comment, author, body, told }
}

/// A request in the ledger to the holder.
pub(super) fn requested(worker: &Worker, lease: &HeldLease) -> Option<Interrupt> {
    let request = lease.record().request()?;
    Some(match request.control {
        Control::Pause => Interrupt::Paused(request.pause(worker.forge.now())),
        Control::Terminate => Interrupt::Terminated(request.by),
    })
}
