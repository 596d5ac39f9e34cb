//! The statement about a published head, made by the process that ran its checks, and signed if that has the SSH key of
//! the commits. So a writer of the ledger can remove a signature, but not forge one.

use hob_config::RepositorySettings;
use hob_domain::{
    Predicate, Proof, PullNumber, RunEnd, Sha256Hex, StatedEnvironment, StatedRun, StatedRuns, Statement, WorkRequest,
    brief_reason, shown_briefly,
};
use hob_proof::Made;
use hob_workspace::sign_proof;

use crate::{
    WorkError, Worker,
    attempt::{
        job::Job,
        proof::Proven,
        runs_made::{Between, OneRun},
    },
    authorize::approved_hash,
};

/// The proof of the work in this pull request.
pub(super) async fn proof_of(
    worker: &Worker,
    job: &Job<'_>,
    proven: &Proven,
    pull_request: PullNumber,
) -> Result<Box<Proof>, WorkError> {
    let (active, record, base) = (job.active.now(), job.held.lease.record(), job.checkout.base());
    let tree = job.checkout.tree(&proven.head).await?;
    let base_tree = job.checkout.tree(base).await?;
    let Between { needed, kept } = &proven.between;
    let predicate = Predicate {
        repository: worker.forge.repo().clone(),
        issue: job.number(),
        pull_request,
        base: base.clone(),
        at: worker.forge.now(),
        request: WorkRequest {
            issue_text: Sha256Hex { sha256: approved_hash(&job.held.issue) },
            authorized_by: record.trigger.as_ref().map(|trigger| trigger.actor.clone()),
        },
        shown: shown_briefly(&proven.shown),
        checks: proven.evidence.tally(),
        runs: StatedRuns {
            base: StatedRun { tree: base_tree, end: RunEnd::made(&proven.evidence.base) },
            head: StatedRun { tree: tree.clone(), end: RunEnd::made(&proven.evidence.head) },
            needed: stated(needed),
            kept: stated(kept),
        },
        sandbox: worker.children.sandbox.tier().to_string(),
        environment: Some(environment(worker, &job.rules)),
        agent: active.loaded.name.clone(),
        model: active.loaded.agent.model(active.candidate),
        session: active.session.clone(),
        cost: record.spend.into(),
        hob: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let statement = Statement { head: proven.head.clone(), tree, predicate }.without_tokens();
    let mut proof = statement.and_then(Proof::unsigned).map_err(WorkError::Statement)?;
    if let Some(key) = &worker.author.signing_key {
        sign_proof(key, &mut proof);
    }
    Ok(Box::new(proof))
}

/// What the checks have around them.
fn environment(worker: &Worker, rules: &RepositorySettings) -> StatedEnvironment {
    let variables = worker.children.environment.iter();
    let mut lines: Vec<String> =
        variables.map(|(name, value)| format!("{}={}\n", name.to_string_lossy(), value.to_string_lossy())).collect();
    lines.sort_unstable();
    lines.extend(rules.setup.iter().map(|step| format!("{step}\n")));
    let system = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    StatedEnvironment { system, digest: Sha256Hex::of(lines.concat()), folders: rules.folders.clone() }
}

/// A run between base and head, as a statement has it.
pub(super) fn stated(run: &OneRun) -> StatedRun {
    let end = match &run.made {
        Made::Run(made) => RunEnd::made(&made.checks),
        Made::AsBase => RunEnd::SameAsBase,
        Made::AsHead => RunEnd::SameAsHead,
        Made::Not(why) => RunEnd::NotMade(brief_reason(why)),
    };
    StatedRun { tree: run.tree.clone(), end }
}
