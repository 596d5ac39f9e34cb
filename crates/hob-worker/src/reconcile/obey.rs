//! Commands in comments on an issue without a holder: they are followed under one lease.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use hob_domain::{Asked, Command, Control, Decision, Ending, GivenCommand, Request, follow};
use hob_forge::BaseBranch;
use hob_words::explanation;

use crate::{
    WorkError, Worker,
    commands::commands,
    decision::{but_for_news, sentence},
    following::{follow_each, follow_rules},
    observe::{Observed, observe},
    reconcile::outcome::Reconciled,
    transition::{acquire, end, show_and_release},
};

/// Something happened on a waiting issue: follows the commands.
pub(super) fn seek_command<'a>(
    worker: &'a Worker,
    observed: Observed,
    base: &'a Arc<BaseBranch>,
) -> BoxFuture<'a, Result<Reconciled, WorkError>> {
    Box::pin(async move {
        let given = new_commands(worker, &observed).await?;
        if given.is_empty() {
            return Ok(Reconciled::Nothing);
        }
        obey(worker, observed, given, base).await
    })
}

/// The commands on the issue and on its pull request that were not followed yet.
pub(super) async fn new_commands(worker: &Worker, observed: &Observed) -> Result<Vec<GivenCommand>, WorkError> {
    let Some(record) = observed.record() else { return Ok(Vec::new()) };
    let issue = &observed.issue;
    let has_news = issue.updated_at > record.renewed_at || record.commands.comments != Some(issue.comments);
    Box::pin(commands(worker, Some(issue).filter(|_| has_news), record)).await
}

/// Follows commands under one lease. Each takes effect in the ledger before its comment gets the receipt.
pub(super) fn obey<'a>(
    worker: &'a Worker,
    observed: Observed,
    given: Vec<GivenCommand>,
    base: &'a Arc<BaseBranch>,
) -> BoxFuture<'a, Result<Reconciled, WorkError>> {
    Box::pin(async move {
        let (Some(first), Some(record)) = (given.first(), observed.record()) else { return Ok(Reconciled::Nothing) };
        let explanation = match given.iter().any(|given| given.asked == Asked::Known(Command::Explain)) {
            true => explained(worker, &observed).await?,
            false => String::new(),
        };
        let rules = follow_rules(worker, base, &given, explanation).await?;
        let transition = follow(record, first, &rules, worker.forge.now());
        let comments = observed.issue.comments;
        let held = acquire(worker, observed, base, transition).await?;
        follow_each(worker, &held, &given, &rules, comments).await?;
        match held.lease.record().request {
            Some(Request { control: Control::Terminate, by, .. }) => {
                held.labels.presume(held.lease.record().state);
                end(worker, &held, Ending::Terminated(by)).await?;
            }
            Some(Request { control: Control::Pause, .. }) | None => {
                show_and_release(worker, &held, "followed what was asked in comments").await?;
            }
        }
        Ok(Reconciled::UpToDate)
    })
}

/// The issue's state and its reason, apart from the commands themselves.
async fn explained(worker: &Worker, observed: &Observed) -> Result<String, WorkError> {
    let Some((_, view)) = observe(worker, observed.issue.number).await? else { return Ok(String::new()) };
    let Some(record) = view.record.clone() else { return Ok(String::new()) };
    let why = match but_for_news(view, &record, &worker.settings.plan_rules(), worker.forge.now()) {
        Decision::Act(action) => sentence(&action).to_owned(),
        Decision::Wait(reason) => reason.to_string(),
    };
    Ok(explanation(&record, &why))
}
