//! Signatures: work is signed before its checks run, so that the commit that passed is the one that is published.
//!
//! By the forge: the objects of the work go to the server under a ref of the ledger's prefix, which is not a branch, so
//! that no branch rule refuses them; then the forge makes each commit again, signs it because an App makes it, and
//! names the App as its author. The result is written here byte for byte, and the branch continues from there.

use std::collections::HashMap;

use hob_config::Signing;
use hob_domain::Sha;
use hob_forge::NewCommit;

use crate::{
    WorkError, Worker,
    attempt::{job::Job, kept::stage_commit},
};

/// Signs the new commits up to `head`, which breaks no rule and has no conflicts; returns the branch's new tip.
pub(super) async fn signed(worker: &Worker, job: &Job<'_>, head: Sha) -> Result<Sha, WorkError> {
    match (&worker.settings.publish.signing, &worker.author.signing_key) {
        (Signing::Ssh(_), Some(key)) => Ok(job.checkout.sign(&head, job.pushed().as_ref(), key.clone()).await?),
        (Signing::Api, _) => signed_by_forge(worker, job, head).await,
        (Signing::None | Signing::Ssh(_), _) => Ok(head),
    }
}

async fn signed_by_forge(worker: &Worker, job: &Job<'_>, head: Sha) -> Result<Sha, WorkError> {
    let lease = &job.held.lease;
    let commits = job.checkout.unsigned(&head, job.pushed().as_ref()).await?;
    if commits.is_empty() {
        return Ok(head);
    }
    worker.activity(job.number(), "having the commits signed");
    let staging = worker.forge.staging(job.number());
    stage_commit(worker, job, staging, &head).await?;
    let mut made: HashMap<Sha, Sha> = HashMap::new();
    for commit in commits {
        let parents = commit.parents.into_iter().map(|parent| made.get(&parent).cloned().unwrap_or(parent)).collect();
        let new = NewCommit { message: commit.message, tree: commit.tree, parents };
        let signed = staging.make_signed(lease, &new).await?;
        let adopted = job.checkout.adopt(signed.payload, signed.signature).await?;
        if adopted != signed.sha {
            let (made, here) = (signed.sha.short().to_owned(), adopted.short().to_owned());
            return Err(WorkError::Misconfigured(format!("the forge signed the commit {made}, which is {here} here")));
        }
        made.insert(commit.sha, adopted);
    }
    staging.remove(lease).await?;
    let tip = made.remove(&head).unwrap_or(head);
    job.checkout.unwind(&tip).await?;
    Ok(tip)
}
