//! The set-up steps of a repository: what they fetch is there for agent and checks, which have no network.

use hob_agent::Confined;
use hob_domain::{CheckResult, Sha};
use hob_workspace::{CheckLimits, Prepared, run_checks};

use crate::{WorkError, Worker, attempt::job::Job};

/// What is there for a commit.
pub(super) enum SetUp {
    /// The repository has no steps.
    Nothing,
    Ready(Prepared),
    /// The step that failed, as a check that did.
    Failed(Box<CheckResult>),
}

/// What the set-up steps leave for the commit `sha`: from an earlier run where there was one, else they run now.
pub(super) async fn set_up(worker: &Worker, job: &Job<'_>, sha: &Sha) -> Result<SetUp, WorkError> {
    let steps = &job.rules.setup;
    if steps.is_empty() {
        return Ok(SetUp::Nothing);
    }
    let source = job.checkout.source_for(sha, steps, &job.rules.setup_key).await?;
    if let Some(prepared) = job.checkout.prepared(&source).await? {
        return Ok(SetUp::Ready(prepared));
    }
    worker.activity(job.number(), "running the set-up steps");
    let made = job.checkout.begin_preparing(source).await?;
    let sandbox = worker.sandbox.clone().reading(job.checkout.borrowed_folders());
    let hosts = &worker.settings.sandbox.hosts;
    let places = (made.folder.as_path(), made.home.as_path());
    let confined = Confined::to_set_up(places, hosts, &sandbox, worker.environment.clone(), &worker.cancel).await;
    let (confined, _egress) = confined?;
    let settings = &worker.settings.checks;
    let limits = CheckLimits {
        time: settings.time.saturating_mul(u32::try_from(steps.len()).unwrap_or(u32::MAX)),
        output_bytes: settings.output_bytes,
    };
    for step in steps {
        let step = std::slice::from_ref(step);
        let run = run_checks(&made.folder, step, (&confined.plan, &confined.environment), limits, &worker.cancel);
        let results = run.await.map_err(WorkError::Checks)?;
        if let Some(failed) = results.into_iter().find(|result| !result.passed()) {
            worker.progress(job.number(), &format!("the set-up step `{}` failed", failed.command));
            return Ok(SetUp::Failed(Box::new(failed)));
        }
    }
    Ok(SetUp::Ready(job.checkout.keep_prepared(made).await?))
}
