//! The four runs of a statement, made again in a checkout of their own: by somebody who wants to see them, without a lease, an
//! agent or a write to the forge.

use std::{sync::Arc, time::Duration};

use hob_domain::{Evidence, Lessons, Proof, RunEnd, Sha, Shown, StatedRun, StatedRuns};
use hob_workspace::{BranchName, Leftover};
use parking_lot::Mutex;

use crate::{
    CheckedCommit, WorkError, Worker,
    attempt::{
        check_job::CheckJob,
        checks_run::checks_on,
        four_runs::runs_between,
        prepare::checked_out,
        run_again::{base_again, run_again},
        runs_made::{Between, FourRuns},
        statement::stated,
    },
    mirror::fetch,
    repository_file::file_at,
};

/// What the runs showed that were made again.
#[derive(Debug, Clone)]
pub struct Rerun {
    /// What they show.
    pub shown: Shown,
    /// How they ended.
    pub runs: StatedRuns,
}

/// Makes the four runs of a statement again, whose pull request goes to the branch `base_name`.
///
/// # Errors
/// [`WorkError::Misconfigured`] if this machine has another sandbox, or the repository does not have the commits any more; or
/// errors of git, the forge and the checks.
pub async fn rerun(worker: &Worker, proof: &Proof, base_name: &str) -> Result<Rerun, WorkError> {
    let (said, head) = (&proof.statement().predicate, proof.head());
    let tier = worker.children.sandbox.tier().to_string();
    if tier != said.sandbox {
        let says = format!("the runs were made in the tier `{}`, and this machine has `{tier}`", said.sandbox);
        return Err(WorkError::Misconfigured(format!("{says}: set `sandbox.tier`, or use another machine")));
    }
    let rules = file_at(worker, &said.base).await?;
    // As the worker that made them had it.
    let worker = &worker.with(Arc::new(rules.over(&worker.settings)));
    let remote = worker.remote().await?;
    fetch(worker, &remote, &base_name.parse()?).await?;
    // No branch of the server has this name, so the checkout is the statement's head.
    let branch: BranchName =
        format!("{}verify-{}", worker.settings.workspace.branch_prefix, said.pull_request).parse()?;
    let at_head = Leftover::StartAt(head.clone());
    let workspace = worker.workspace.within(&rules.folders);
    let checkout = checked_out(&workspace, &remote, said.issue, &branch, &said.base, at_head).await?;
    if checkout.base() != &said.base || checkout.start() != head {
        let says = format!("{} is not in the repository on top of {} any more", head.short(), said.base.short());
        return Err(WorkError::Misconfigured(says));
    }
    let (lessons, base_runs) = (Mutex::new(Lessons::default()), Mutex::default());
    let job =
        CheckJob { issue: said.issue, rules: &rules, checkout: &checkout, lessons: &lessons, base_runs: &base_runs };
    let time = worker.settings.check_time.saturating_mul(u32::try_from(rules.checks.len()).unwrap_or(u32::MAX));
    let base = made(worker, &job, &said.base, CheckedCommit::Base, time).await?;
    let base = Box::pin(base_again(worker, &job, base)).await?;
    let at_head = made(worker, &job, head, CheckedCommit::Head, time).await?;
    // What is flaky fails in neither run, and so makes no difference.
    let evidence = Box::pin(run_again(worker, &job, head, Evidence { base, head: at_head })).await?;
    let FourRuns { shown, between: Between { needed, kept } } =
        Box::pin(runs_between(worker, &job, head, &evidence)).await?;
    let runs = StatedRuns {
        base: StatedRun { tree: checkout.tree(&said.base).await?, end: RunEnd::made(&evidence.base) },
        head: StatedRun { tree: checkout.tree(head).await?, end: RunEnd::made(&evidence.head) },
        needed: stated(&needed),
        kept: stated(&kept),
    };
    Ok(Rerun { shown, runs })
}

async fn made(
    worker: &Worker,
    job: &CheckJob<'_>,
    commit: &Sha,
    on: CheckedCommit,
    time: Duration,
) -> Result<Vec<hob_domain::CheckResult>, WorkError> {
    Box::pin(checks_on(worker, job, commit, on, time)).await
}
