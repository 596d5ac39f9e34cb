//! A run of the checks on one commit: in a fresh folder and home, prepared by the set-up steps, with reports of test runners.

use std::{path::PathBuf, time::Duration};

use hob_agent::{Confined, Home};
use hob_config::RepositorySettings;
use hob_domain::{CheckResult, Lesson, Sha};
use hob_process::Folder;
use hob_workspace::{CheckLimits, report_variables, run_checks};

use crate::{
    CheckedCommit, WorkError, WorkEvent, Worker,
    attempt::{
        check_job::CheckJob,
        set_up::{SetUp, last_lines, set_up},
    },
    earlier_checks::CheckInputs,
    metrics::METRICS,
    traced::{checks_ended, checks_span, in_span},
};

/// The folder of test runners' reports in the checks' home.
const REPORTS: &str = ".hob-tests";

/// Runs the checks on a commit, for `time` at most, and tells how they ended.
pub(super) async fn checks_on(
    worker: &Worker,
    job: &CheckJob<'_>,
    sha: &Sha,
    on: CheckedCommit,
    time: Duration,
) -> Result<Vec<CheckResult>, WorkError> {
    if job.rules.checks.is_empty() {
        return Ok(Vec::new());
    }
    let (issue, rules, tree) = (job.number(), job.rules, job.checkout.tree(sha).await?);
    let inputs = CheckInputs {
        tree: &tree,
        base: job.checkout.base(),
        checks: &rules.checks,
        setup: &rules.setup,
        hosts: &check_hosts(worker, rules),
        tier: worker.children.sandbox.tier(),
        environment: &worker.children.environment,
    };
    let is_between = matches!(on, CheckedCommit::Needed | CheckedCommit::Kept);
    // What failed is run again: the machine may have been at fault. Between base and head a failure is what is looked for.
    let counts = |results: &Vec<CheckResult>| is_between || results.iter().all(CheckResult::passed);
    if let Some(results) = worker.earlier_checks.of(issue, &inputs).await.filter(counts) {
        worker.progress(issue, &format!("checks on the {on}: they ran on this tree earlier in the attempt"));
        return Ok(results);
    }
    let results = these_checks_on(worker, job, sha, on, &rules.checks, time).await?;
    worker.earlier_checks.keep(issue, &inputs, &results).await;
    // Between base and head it is told with what it shows.
    for failed in results.iter().filter(|check| !is_between && check.failed()) {
        tell(worker, job, failed);
    }
    let passed = results.iter().filter(|check| check.passed()).count();
    worker.emit(&WorkEvent::Checked { issue: job.number(), on, passed, run: results.len() });
    Ok(results)
}

/// Runs these checks, at least one, on a commit, for `time` at most. A set-up step that failed comes first.
pub(super) async fn these_checks_on(
    worker: &Worker,
    job: &CheckJob<'_>,
    sha: &Sha,
    on: CheckedCommit,
    checks: &[String],
    time: Duration,
) -> Result<Vec<CheckResult>, WorkError> {
    let span = checks_span(on, sha);
    let ran = Box::pin(in_span(span.clone(), fresh_checks(worker, job, sha, on, checks, time))).await;
    if let Ok(results) = &ran {
        checks_ended(&span, results);
    }
    ran
}

async fn fresh_checks(
    worker: &Worker,
    job: &CheckJob<'_>,
    sha: &Sha,
    on: CheckedCommit,
    checks: &[String],
    time: Duration,
) -> Result<Vec<CheckResult>, WorkError> {
    let set_up = set_up(worker, job, sha).await?;
    let folder = job.checkout.proof(sha).await?;
    // Nothing that an agent or another check left in a home reaches it.
    let mut sandbox = worker.children.sandbox.clone().reading(job.checkout.borrowed_folders());
    if let SetUp::Ready(prepared) = &set_up {
        prepared.copy_files(&folder).await?;
        sandbox = sandbox.with_template(prepared.home());
    }
    let (hosts, environment) = (check_hosts(worker, job.rules), worker.children.environment.as_ref().clone());
    let confined = Confined::to_check(&folder, &hosts, &sandbox, environment, &worker.cancel).await;
    let (mut confined, home, _egress) = confined?;
    let reports = home.as_ref().and_then(|home| ask_for_reports(&mut confined, home));
    let limits = CheckLimits { time, output_bytes: worker.settings.checks.output_bytes, reports };
    let run = run_checks(&folder, checks, &confined.plan, &confined.environment, limits, &worker.cancel);
    let mut results = run.await.map_err(WorkError::Checks)?;
    match set_up {
        SetUp::Failed(step) => results.insert(0, *step),
        // What they say of a tree that no person wrote says nothing of the repository.
        SetUp::Nothing | SetUp::Ready(_) if matches!(on, CheckedCommit::Needed | CheckedCommit::Kept) => {}
        SetUp::Nothing | SetUp::Ready(_) => {
            results.iter().for_each(|result| job.learn(Lesson::of_check(result)));
            let flaky = worker.memory.flakes.note(sha, &results);
            METRICS.runs.flaky(on, flaky.len());
            flaky.iter().for_each(|check| job.learn(Lesson::flaky(check)));
            if on == CheckedCommit::Base {
                let told = results.iter().filter(|result| result.says_something());
                job.base_runs.lock().extend(told.cloned());
            }
        }
    }
    Ok(results)
}

/// Asks test runners for reports, in a folder of the checks' home. Without one, their output has to tell.
fn ask_for_reports(confined: &mut Confined, home: &Home) -> Option<PathBuf> {
    let place = home.path().join(REPORTS);
    Folder::open(home.path()).and_then(|home| home.made(REPORTS)).ok()??;
    report_variables(&mut confined.environment, &place);
    Some(place)
}

/// Reports how a check failed as progress.
fn tell(worker: &Worker, job: &CheckJob<'_>, failed: &CheckResult) {
    if let Some(refused) = failed.refusal() {
        worker.progress(
            job.number(),
            &format!("the sandbox kept `{}` from passing: it refused {refused}", failed.command),
        );
    }
    let last = last_lines(&failed.output);
    worker.activity(job.number(), &format!("`{}` failed ({}): {last}", failed.command, failed.exit));
}

/// The hosts that the checks reach: those that the repository asks for and the operator allows.
fn check_hosts(worker: &Worker, rules: &RepositorySettings) -> Vec<String> {
    let allowed = &worker.settings.sandbox.check_hosts;
    rules.check_hosts.iter().filter(|host| allowed.contains(host)).cloned().collect()
}
