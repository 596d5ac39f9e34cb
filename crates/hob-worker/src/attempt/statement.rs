//! The statement about a published head, made by the process that ran its checks, and signed if that has the SSH key of
//! the commits. So a writer of the ledger can remove a signature, but not forge one.

use hob_domain::{Checked, Proof, PullNumber, STATEMENT_VERSION, Statement};

use crate::{
    WorkError, Worker,
    attempt::{job::Job, proof::Proven},
};

/// The proof of the work in this pull request.
pub(super) async fn proof_of(
    worker: &Worker,
    job: &Job<'_>,
    proven: &Proven,
    pull_request: PullNumber,
) -> Result<Box<Proof>, WorkError> {
    let active = job.active.now();
    let statement = Statement {
        version: STATEMENT_VERSION,
        repository: worker.forge.repo().clone(),
        issue: job.number(),
        pull_request,
        head: proven.head.clone(),
        tree: job.checkout.tree(&proven.head).await?,
        base: job.checkout.base().clone(),
        at: worker.forge.now(),
        tally: proven.evidence.tally(),
        checks: Checked::all(&proven.evidence),
        sandbox: worker.children.sandbox.tier().to_string(),
        agent: active.loaded.name.clone(),
        session: active.session.clone(),
        cost: job.held.lease.record().spend,
        hob: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let canonical = statement.canonical();
    let signature = worker.author.signing_key.as_ref().zip(canonical.ok()).map(|(key, text)| key.sign_statement(&text));
    Ok(Box::new(Proof { statement, signature }))
}
