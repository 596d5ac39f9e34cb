//! GitHub's auto-merge of a pull request, by the owner's settings alone. Hob itself never merges.
//!
//! # Guarantees
//! - It is switched on for one head: the one that Hob published as proven, with nothing for a person to look at first. The base has to
//!   require `hob/proof`, so that no later head is merged before it was proven, too.
//! - It is switched on before the status says that the head is proven: GitHub takes it only while something is missing.
//! - GitHub says who switched it on, and what people switched on is theirs. So the ledger knows nothing of it, and a worker that takes
//!   over needs to know nothing.
//! - Nothing depends on it: a failure is told, and people merge.

use hob_domain::{PROOF_CONTEXT, PullNumber, Sha};
use hob_forge::{ForgeError, HeldLease};

use crate::Worker;

/// A head that the forge may merge by itself, and the branch it goes to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MergesItself<'a> {
    pub(crate) head: &'a Sha,
    pub(crate) base: &'a str,
}

/// Switches auto-merge on for this head; with `None`, off if Hob switched it on.
pub(crate) async fn set_auto_merge(
    worker: &Worker,
    lease: &HeldLease,
    pull: PullNumber,
    wanted: Option<MergesItself<'_>>,
) {
    if worker.settings.publish.auto_merge.is_empty() {
        return;
    }
    if let Err(error) = Box::pin(set(worker, lease, pull, wanted)).await {
        let reason = format!("auto-merge of pull request {pull} was not switched: {error}");
        tracing::warn!(issue = lease.issue().0, %error, "{reason}");
        worker.progress(lease.issue(), &reason);
    }
}

async fn set(
    worker: &Worker,
    lease: &HeldLease,
    pull: PullNumber,
    wanted: Option<MergesItself<'_>>,
) -> Result<(), ForgeError> {
    let pulls = worker.forge.pulls();
    if let Some(MergesItself { head, base }) = wanted {
        if worker.forge.repository().requires(base, PROOF_CONTEXT).await? {
            return pulls.merge_when_ready(lease, pull, head).await;
        }
        let reason =
            format!("auto-merge of pull request {pull} stays off: no ruleset of `{base}` requires `{PROOF_CONTEXT}`");
        worker.progress(lease.issue(), &reason);
    }
    match worker.forge.comments().own_account(lease).await? {
        Some(own) => pulls.merge_no_more(lease, pull, &own).await,
        None => Ok(()),
    }
}
