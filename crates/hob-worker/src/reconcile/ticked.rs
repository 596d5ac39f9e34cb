//! Ticked boxes of the dashboard: each becomes the same transition as its command in a comment, once.

use std::sync::Arc;

use hob_domain::{
    Act, ActBox, Answer, ApprovalGrant, Control, Login, Record, Request, State, Transition, approval_text, boxes,
    held_by,
};
use hob_forge::{BaseBranch, ForgeError};

use crate::{
    WorkError, Worker,
    observe::{Observed, observe},
    reconcile::{
        control::carry_out,
        unblock::{Freed, free},
    },
    transition::{acquire, show_and_release},
};

/// Carries out a ticked box's request; `false` if the issue no longer has such a box, or has a holder.
pub(crate) async fn carry_out_tick(
    worker: &Worker,
    tick: &ActBox,
    by: &Login,
    base: &Arc<BaseBranch>,
) -> Result<bool, WorkError> {
    let Some(observed) = observe(worker, tick.issue).await? else { return Ok(false) };
    let Some(record) = observed.record().cloned().filter(|record| boxes(record).contains(tick)) else {
        return Ok(false);
    };
    if !worker.still_wanted(&observed.issue) {
        return Ok(false);
    }
    match Box::pin(act(worker, tick.act, observed, &record, by, base)).await {
        // The faster worker may have ended what the box was for: the next look tells.
        Err(WorkError::Forge(ForgeError::Held(_) | ForgeError::Lost(_))) => Ok(false),
        done => done,
    }
}

async fn act(
    worker: &Worker,
    act: Act,
    observed: Observed,
    record: &Record,
    by: &Login,
    base: &Arc<BaseBranch>,
) -> Result<bool, WorkError> {
    let now = worker.forge.now();
    let is_held = held_by(record, now, worker.settings.lease.skew).is_some();
    let freed = |text: String, grant| {
        let question = record.blocked.as_ref().map(|blocked| blocked.question.clone());
        // The person saw the title and not the text: earlier approvals of that stay.
        let approved = record.trigger.as_ref().map(|trigger| trigger.approved.clone()).unwrap_or_default();
        let answer = Answer { actor: by.clone(), text, question, comment: None, event: None };
        Freed { answer, grant, approved, why: "unblocked on the dashboard" }
    };
    match (act, record.state) {
        (Act::Cancel, _) => {
            if record.request().is_some() && is_held {
                return Ok(false);
            }
            let request = Request { control: Control::Terminate, by: by.clone(), at: now, reason: String::new() };
            match &observed.entry {
                Some(entry) if is_held => worker.forge.ledger().ask(entry, request).await?,
                Some(_) | None => drop(Box::pin(carry_out(worker, observed, request, base)).await?),
            }
        }
        (_, _) if is_held => return Ok(false),
        (Act::Approve, _) => {
            let Some(action) = record.waiting_action() else { return Ok(false) };
            let freed = freed(approval_text(action, ""), ApprovalGrant::ProposedAction);
            Box::pin(free(worker, observed, freed, base)).await?;
        }
        (Act::Retry, State::Ready) => {
            let held = acquire(worker, observed, base, Transition::RetryNow { by: by.clone() }).await?;
            show_and_release(worker, &held, "to be tried again now").await?;
        }
        (Act::Retry, _) => Box::pin(free(worker, observed, freed(String::new(), ApprovalGrant::Nothing), base)).await?,
    }
    Ok(true)
}
