//! The set-up steps of a repository: what they fetch is available to the agent and checks, which have no network.

use hob_agent::{Confined, RunEgress};
use hob_domain::{CheckExit, CheckResult, Lesson, Sha};
use hob_sandbox::Network;
use hob_workspace::{CheckLimits, Prepared, Source, run_checks};
use tokio::time::Instant;

use crate::{
    WorkError, Worker,
    attempt::check_job::CheckJob,
    traced::{in_span, set_up_span},
};

/// The set-up for a commit.
pub(super) enum SetUp {
    /// The repository has no steps.
    Nothing,
    Ready(Prepared),
    /// The step that failed on the work, as a check that did.
    Failed(Box<CheckResult>),
}

/// The number of lines of a failed step or check that are reported.
const LINES: usize = 5;

/// The result of the set-up steps for the commit `sha`: of an earlier run if there was one, otherwise they run now. If
/// one fails on the base, no agent could fix it, and the operator has to supply what it needs.
pub(super) async fn set_up(worker: &Worker, job: &CheckJob<'_>, sha: &Sha) -> Result<SetUp, WorkError> {
    let steps = &job.rules.setup;
    if steps.is_empty() {
        return Ok(SetUp::Nothing);
    }
    let source = job.checkout.source_for(sha, steps, &job.rules.setup_key).await?;
    if let Some(prepared) = job.checkout.prepared(&source).await? {
        return Ok(SetUp::Ready(prepared));
    }
    Box::pin(in_span(set_up_span(steps.len()), run_steps(worker, job, source))).await
}

/// Runs the steps, in a fresh folder and home.
async fn run_steps(worker: &Worker, job: &CheckJob<'_>, source: Source) -> Result<SetUp, WorkError> {
    let steps = &job.rules.setup;
    worker.activity(job.number(), "running the set-up steps");
    let is_the_base = source.is_the_base();
    let made = job.checkout.begin_preparing(source).await?;
    let sandbox = worker.children.sandbox.clone().reading(job.checkout.borrowed_folders());
    let hosts = &worker.settings.sandbox.setup_hosts;
    let environment = worker.children.environment.as_ref().clone();
    let confined = Confined::to_set_up(&made.folder, &made.home, hosts, &sandbox, environment, &worker.cancel);
    let (confined, egress) = confined.await?;
    let (time, output_bytes) = (worker.settings.check_time, worker.settings.checks.output_bytes);
    let ends = Instant::now() + time.saturating_mul(u32::try_from(steps.len()).unwrap_or(u32::MAX));
    for step in steps {
        let limits = CheckLimits { time: ends - Instant::now(), output_bytes, reports: None };
        let step = std::slice::from_ref(step);
        let run = run_checks(&made.folder, step, &confined.plan, &confined.environment, limits, &worker.cancel);
        let results = run.await.map_err(WorkError::Checks)?;
        results.iter().for_each(|result| job.learn(Lesson::of_step(result)));
        if let Some(failed) = results.into_iter().find(|result| !result.passed()) {
            worker.progress(job.number(), &format!("the set-up step `{}` failed", failed.command));
            if is_the_base && failed.exit != CheckExit::Cancelled {
                return Err(WorkError::Misconfigured(cannot_be_set_up(worker, &failed, &egress)));
            }
            return Ok(SetUp::Failed(Box::new(failed)));
        }
    }
    Ok(SetUp::Ready(job.checkout.keep_prepared(made).await?))
}

/// The last lines of an output, as one.
pub(super) fn last_lines(output: &str) -> String {
    let lines: Vec<_> = output.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(LINES)..].join(" / ")
}

/// Why no agent starts.
fn cannot_be_set_up(worker: &Worker, failed: &CheckResult, egress: &RunEgress) -> String {
    let last = match last_lines(&failed.output) {
        silence if silence.is_empty() => silence,
        last => format!(": {last}"),
    };
    let hosts = &worker.settings.sandbox.setup_hosts;
    let reached = match (worker.children.sandbox.network(), hosts.as_slice()) {
        (Network::Open, _) => String::new(),
        (_, []) => "; it cannot reach any host: list those that it fetches from in `sandbox.setup_hosts`".to_owned(),
        (_, hosts) => format!("; it reaches {} (`sandbox.setup_hosts`)", hosts.join(", ")),
    };
    let refused: String = egress.refused().take(LINES).map(|one| format!("; it was refused {one}")).collect();
    let (step, how) = (&failed.command, failed.exit);
    format!("the set-up step `{step}` fails on the base branch, so no agent starts: {how}{last}{refused}{reached}")
}
