//! Commands in comments on an issue without a holder: they are followed under one lease.

use std::sync::Arc;

use hob_domain::{Command, Control, Decision, Ending, Following, Message, Record, Request, follow};
use hob_forge::{BaseBranch, Issue};
use hob_text::count;
use hob_words::explanation;

use crate::{
    WorkError, Worker,
    decision::{but_for_news, sentence},
    inbox::{Inbox, follow_rules, take_effect},
    observe::Observed,
    reconcile::{outcome::Reconciled, sign_off::sign_off},
    transition::{acquire, end, show_and_release},
};

/// Something happened on a waiting issue: looks for commands, and follows them.
pub(super) async fn seek_commands(
    worker: &Worker,
    observed: Observed,
    base: &Arc<BaseBranch>,
) -> Result<Reconciled, WorkError> {
    let now = worker.forge.now();
    let commands = new_commands(worker, &observed).await?;
    if commands.is_empty() {
        worker.memory.looked_at.note(&observed.view, now);
        return Ok(Reconciled::Nothing);
    }
    Box::pin(follow_commands(worker, observed, commands, base)).await
}

/// The commands on the issue and on its pull request that were not followed yet.
pub(super) async fn new_commands(worker: &Worker, observed: &Observed) -> Result<Vec<Message>, WorkError> {
    let Some(inbox) = observed.inbox(worker) else { return Ok(Vec::new()) };
    commands_in(&inbox, &observed.issue).await
}

/// The commands in the inbox that were not followed yet.
pub(super) async fn commands_in(inbox: &Inbox<'_>, issue: &Issue) -> Result<Vec<Message>, WorkError> {
    let record = inbox.record;
    let has_news = issue.updated_at > record.renewed_at || record.commands.comments != Some(issue.comments);
    inbox.commands(Some(issue).filter(|_| has_news)).await
}

/// Follows commands under one lease. Each takes effect in the ledger before its comment gets the receipt.
pub(super) async fn follow_commands(
    worker: &Worker,
    observed: Observed,
    commands: Vec<Message>,
    base: &Arc<BaseBranch>,
) -> Result<Reconciled, WorkError> {
    let Some(record) = observed.record().cloned() else { return Ok(Reconciled::Nothing) };
    Box::pin(follow_from(worker, observed, record, commands, base)).await
}

/// Follows commands on an issue whose record this is or will be.
pub(super) async fn follow_from(
    worker: &Worker,
    observed: Observed,
    record: Record,
    commands: Vec<Message>,
    base: &Arc<BaseBranch>,
) -> Result<Reconciled, WorkError> {
    let Some(first) = commands.first() else { return Ok(Reconciled::Nothing) };
    let explanation = match commands.iter().any(|message| message.command() == Some(Command::Explain)) {
        true => explained(worker, &observed, &record),
        false => String::new(),
    };
    let rules = follow_rules(worker, base, &commands, explanation).await?;
    let Following::Command(transition) = follow(&record, first, &rules, worker.forge.now()) else {
        return Ok(Reconciled::Nothing);
    };
    let comments = observed.issue.comments;
    let held = acquire(worker, observed, base, *transition).await?;
    take_effect(worker, &held, &commands, &rules, comments).await?;
    match held.lease.record().request() {
        Some(Request { control: Control::Terminate, by, .. }) => {
            held.labels.presume(held.lease.record().state);
            end(worker, &held, Ending::Terminated(by)).await?;
        }
        Some(Request { control: Control::Pause, .. }) | None => {
            Box::pin(sign_off(worker, &held)).await?;
            show_and_release(worker, &held, &format!("answered {}", count(commands.len(), "comment"))).await?;
        }
    }
    Ok(Reconciled::UpToDate)
}

/// The issue's state and its reason, apart from the commands themselves.
fn explained(worker: &Worker, observed: &Observed, record: &Record) -> String {
    let view = observed.view.as_ref().clone();
    let why = match but_for_news(view, record, &worker.settings.plan_rules(), worker.forge.now()) {
        Decision::Act(action) => sentence(&action).to_owned(),
        Decision::Wait(reason) => reason.to_string(),
    };
    explanation(record, &worker.settings.budgets(), &why)
}
