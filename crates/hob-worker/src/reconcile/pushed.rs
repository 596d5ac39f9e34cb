//! A head that somebody else pushed to a pull request after its proof, and a request to make the proof again.

use std::sync::Arc;

use hob_domain::{ProofAsked, ProofStatus, PullNumber, Sha, Transition};
use hob_forge::BaseBranch;

use crate::{
    WorkError, Worker,
    attempt::prove_again,
    auto_merge::set_auto_merge,
    observe::Observed,
    proof_status::set_proof,
    reconcile::{
        follow_commands::{follow_commands, new_commands},
        outcome::Reconciled,
    },
    transition::{acquire, release},
};

/// Says on the head that it is not what was proven, or that the proof is made again.
pub(super) async fn show_push(
    worker: &Worker,
    observed: Observed,
    pull: PullNumber,
    head: Sha,
    base: &Arc<BaseBranch>,
) -> Result<Reconciled, WorkError> {
    // GitHub does not say who pushed, and what a commit says of its author can be made up: where everybody can read and many may
    // write, a person asks.
    let again = worker.settings.review.prove_pushes && !worker.forge.repository().details().await?.is_public;
    let (begin, status) = match again {
        true => (Transition::AskProof(ProofAsked::default()), ProofStatus::working(head)),
        false => {
            let what = format!("says that pull request {pull} was pushed to after its proof");
            (Transition::Reconcile { what }, ProofStatus::pushed_after(head))
        }
    };
    let held = acquire(worker, observed, base, begin).await?;
    set_auto_merge(worker, &held.lease, pull, None).await;
    set_proof(worker, &held.lease, pull, status).await?;
    release(worker, &held).await?;
    Ok(Reconciled::UpToDate)
}

/// Makes the proof again, unless there are commands to follow first.
pub(super) async fn prove(
    worker: &Worker,
    observed: Observed,
    pull: PullNumber,
    base: &Arc<BaseBranch>,
) -> Result<Reconciled, WorkError> {
    let commands = new_commands(worker, &observed).await?;
    if !commands.is_empty() {
        return Box::pin(follow_commands(worker, observed, commands, base)).await;
    }
    let what = format!("makes the proof of pull request {pull} again");
    let held = acquire(worker, observed, base, Transition::Reconcile { what }).await?;
    set_auto_merge(worker, &held.lease, pull, None).await;
    Box::pin(prove_again(worker, &held, pull)).await?;
    Ok(Reconciled::UpToDate)
}
