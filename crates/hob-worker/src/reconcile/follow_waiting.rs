//! Commands on an issue that waits for a job or for room in the repository: they are followed, and no attempt begins.

use std::sync::Arc;

use hob_domain::{Record, first_record};
use hob_forge::BaseBranch;

use crate::{
    WorkError, Worker,
    authorize::{Vetted, vet},
    observe::Observed,
    reconcile::{
        follow_commands::{follow_from, new_commands},
        outcome::Reconciled,
        repair::find_traces,
    },
};

/// Follows the commands on an issue that waits for a job or for room in the repository. `None` if there are none.
pub(super) async fn follow_while_it_waits(
    worker: &Worker,
    observed: Observed,
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
    if commands.is_empty() {
        return Ok(None);
    }
    Box::pin(follow_from(worker, observed, record, commands, base)).await.map(Some)
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
