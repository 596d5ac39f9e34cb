//! Commands on an issue that waits for a job or for room in the repository: they are followed, and no attempt begins.

use std::sync::Arc;

use hob_domain::{CommandVerdict, Receipt, Record, SaidId, first_record};
use hob_forge::BaseBranch;

use crate::{
    WorkError, Worker,
    authorize::{Vetted, vet},
    observe::Observed,
    reconcile::{
        follow_commands::{follow_from, new_commands},
        outcome::Reconciled,
        repair::find_traces,
        seek_answer::acknowledge,
    },
};

/// Follows the commands on an issue that waits for a job or for room in the repository, or else shows that Hob has seen these
/// words in reviews. `None` if there are neither.
pub(super) async fn follow_while_it_waits(
    worker: &Worker,
    observed: Observed,
    unseen: Vec<SaidId>,
    base: &Arc<BaseBranch>,
) -> Result<Option<Reconciled>, WorkError> {
    let (record, commands) = match observed.record() {
        Some(record) => (record.clone(), new_commands(worker, &observed).await?),
        None => match before_its_claim(worker, &observed).await? {
            Some(record) => {
                let commands = observed.inbox_of(worker, &record).commands(Some(&observed.issue)).await?;
                (record, commands)
            }
            None => return Ok(None),
        },
    };
    match (commands.is_empty(), unseen.is_empty()) {
        (true, true) => return Ok(None),
        (true, false) => return Box::pin(see_reviews(worker, observed, unseen, base)).await.map(Some),
        (false, _) => {}
    }
    Box::pin(follow_from(worker, observed, record, commands, base)).await.map(Some)
}

/// Gives words in reviews and on lines their receipts; the round that they ask for has to wait.
async fn see_reviews(
    worker: &Worker,
    observed: Observed,
    unseen: Vec<SaidId>,
    base: &Arc<BaseBranch>,
) -> Result<Reconciled, WorkError> {
    let pull = observed.record().and_then(|record| record.pull.number);
    let seen = |said: SaidId| Receipt {
        comment: said.id,
        said_in: said.said_in,
        pull,
        verdict: CommandVerdict::Followed,
        says: None,
    };
    let receipts = unseen.into_iter().map(seen).collect();
    Box::pin(acknowledge(worker, observed, base, receipts, "saw a review")).await?;
    Ok(Reconciled::UpToDate)
}

/// The record that an issue without a ledger will have, if its work was asked for by an account that counts.
async fn before_its_claim(worker: &Worker, observed: &Observed) -> Result<Option<Record>, WorkError> {
    // A status comment without a ledger: the ledger was deleted, and the claim rebuilds it.
    if observed.issue.comments == 0 || find_traces(worker, observed).await?.is_some() {
        return Ok(None);
    }
    Ok(match vet(worker, &observed.authorizer, &observed.issue).await? {
        Vetted::Authorized(trigger, _) => {
            Some(Record { trigger: Some(trigger), ..first_record(observed.issue.number, worker.forge.now()) })
        }
        Vetted::Refused(_) | Vetted::NotYet => None,
    })
}
