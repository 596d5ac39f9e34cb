//! The proof of the work: the repository's rules and its checks, on the base and on the head.

use std::{path::PathBuf, time::Duration};

use hob_agent::{Confined, Home};
use hob_config::{RedBase, RepositorySettings};
use hob_domain::{
    BlockReason, ChangeText, CheckResult, Conflict, Diff, Evidence, FailedChecks, Lesson, Sha, Shown, Transition,
    Verdict, left_out,
};
use hob_workspace::{CheckLimits, report_variables, run_checks};

use crate::{
    CheckedCommit, WorkError, WorkEvent, Worker,
    attempt::{
        branch::{policy_violations, work_so_far},
        end::AttemptEnd,
        four_runs::four_runs,
        job::Job,
        set_up::{SetUp, last_lines, set_up},
        sign::signed,
    },
    sandbox::what_helps,
};

/// Work that passed its checks.
pub(super) struct Proven {
    pub(super) head: Sha,
    pub(super) diff: Diff,
    pub(super) evidence: Evidence,
    /// What the runs between base and head show.
    pub(super) shown: Shown,
    pub(super) change: ChangeText,
}

/// The result of proving the work so far.
pub(super) enum Proof {
    Passed(Box<Proven>),
    /// The checks that failed go back to the agent.
    Failed(Evidence),
    /// Conflicts with the base remain: the agent has to look again.
    Conflicted(Vec<Conflict>),
    /// Nothing more can be done without a person.
    Blocked(BlockReason),
}

/// Checks the work so far against the rules and runs the checks.
pub(super) async fn prove(worker: &Worker, job: &Job<'_>, change: ChangeText) -> Result<Proof, WorkError> {
    let Some((head, diff)) = work_so_far(job).await? else {
        let said = format!("{}\n\n{}", change.summary, left_out(&job.checkout.left_out()));
        return Ok(Proof::Blocked(BlockReason::NoChanges { said: said.trim().to_owned() }));
    };
    if let Some(reason) = policy_violations(worker, job, &head, &diff).await? {
        return Ok(Proof::Blocked(reason));
    }
    let conflicts = job.checkout.conflicts_left().await?;
    if !conflicts.is_empty() {
        return Ok(Proof::Conflicted(conflicts));
    }
    let head = signed(worker, job, head).await?;
    let head_results = checks_on(worker, job, &head, CheckedCommit::Head, checks_time(worker, job)).await?;
    let failed = FailedChecks::among(&head_results).last;
    // A run itself clears those of the one before.
    if !failed.is_empty() {
        worker.children.executor.note_failed_checks(&job.active.now().session, failed).await;
    }
    let evidence = Evidence { base: job.base_checks.get().cloned().unwrap_or_default(), head: head_results };
    Ok(match evidence.verdict() {
        // The work is not responsible for checks that failed before: with another policy no agent works on a red base.
        Verdict::NoChecks | Verdict::Green | Verdict::RedToGreen { .. } | Verdict::StillRed { .. } => {
            let shown = Box::pin(four_runs(worker, job, &head, &evidence)).await?;
            Proof::Passed(Box::new(Proven { head, diff, evidence, shown, change }))
        }
        Verdict::Broken { .. } | Verdict::Undecided { .. } => Proof::Failed(evidence),
    })
}

/// Runs the checks on the commit that the work starts from; returns why no agent is started, if they fail and the
/// settings require that.
pub(super) async fn try_base(worker: &Worker, job: &Job<'_>) -> Result<Option<AttemptEnd>, WorkError> {
    let results = checks_on_base(worker, job).await?;
    if let Some(refused) = all_refused(&results) {
        return Err(WorkError::Misconfigured(cannot_be_checked(worker, &refused)));
    }
    job.base_checks.get_or_init(|| results);
    let red = job.red_base();
    if red.is_empty() {
        return Ok(None);
    }
    Ok(match worker.settings.on_red_base {
        RedBase::Publish => None,
        RedBase::Wait => {
            let names: Vec<_> = red.iter().map(|check| format!("`{}`", check.command)).collect();
            let failure = format!("the base branch fails its own checks: {}", names.join(", "));
            let until = worker.forge.now() + worker.settings.limits.retry_delay;
            Some(AttemptEnd::Postponed(Transition::Postpone { failure, until }))
        }
        RedBase::Block => Some(AttemptEnd::Blocked(BlockReason::RedBase { failed: FailedChecks::among(&red) })),
    })
}

/// What the sandbox refused the checks, if that kept all of them from passing: then no work could prove anything.
fn all_refused(results: &[CheckResult]) -> Option<String> {
    let told = |check: &CheckResult| check.refusal().map(|refused| format!("`{}`: {refused}", check.command));
    let told: Option<Vec<_>> = results.iter().map(told).collect();
    told.filter(|told| !told.is_empty()).map(|told| told.join("; "))
}

/// Why no agent starts.
fn cannot_be_checked(worker: &Worker, refused: &str) -> String {
    let helps = what_helps(&worker.children.sandbox);
    format!("no check can pass on the base branch, so no agent starts: the sandbox refused {refused}; {helps}")
}

/// Runs the checks on the commit that the work starts from, unless they passed on it for another issue.
async fn checks_on_base(worker: &Worker, job: &Job<'_>) -> Result<Vec<CheckResult>, WorkError> {
    let (base, checks, now) = (job.checkout.base(), &job.rules.checks, worker.forge.now());
    if let Some(passed) = worker.memory.base_checks.get(base, checks, now) {
        let all = passed.len();
        worker.progress(job.number(), &format!("checks on the base: {all} of {all} passed earlier"));
        return Ok(passed);
    }
    let results = checks_on(worker, job, base, CheckedCommit::Base, checks_time(worker, job)).await?;
    if !results.is_empty() {
        worker.memory.base_checks.note(base, checks, &results, now);
    }
    Ok(results)
}

/// The time of all checks on one commit.
fn checks_time(worker: &Worker, job: &Job<'_>) -> Duration {
    worker.settings.check_time.saturating_mul(u32::try_from(job.rules.checks.len()).unwrap_or(u32::MAX))
}

/// Runs the checks on a commit, for `time` at most.
pub(super) async fn checks_on(
    worker: &Worker,
    job: &Job<'_>,
    sha: &Sha,
    on: CheckedCommit,
    time: Duration,
) -> Result<Vec<CheckResult>, WorkError> {
    let checks = &job.rules.checks;
    if checks.is_empty() {
        return Ok(Vec::new());
    }
    let set_up = set_up(worker, job, sha).await?;
    let folder = job.checkout.proof(sha).await?;
    // Nothing that an agent or another check left in a home reaches it.
    let mut sandbox = worker.children.sandbox.clone().reading(job.checkout.borrowed_folders());
    if let SetUp::Ready(prepared) = &set_up {
        prepared.copy_files(&folder).await?;
        sandbox = sandbox.with_template(prepared.home());
    }
    let (hosts, environment) = (check_hosts(worker, &job.rules), worker.children.environment.clone());
    let confined = Confined::to_check(&folder, &hosts, &sandbox, environment, &worker.cancel).await;
    let (mut confined, home, _egress) = confined?;
    let reports = match &home {
        Some(home) => ask_for_reports(&mut confined, home).await,
        None => None,
    };
    let limits = CheckLimits { time, output_bytes: worker.settings.checks.output_bytes, reports };
    let run = run_checks(&folder, checks, &confined.plan, &confined.environment, limits, &worker.cancel);
    let mut results = run.await.map_err(WorkError::Checks)?;
    match set_up {
        SetUp::Failed(step) => results.insert(0, *step),
        // What they say of a tree that no person wrote says nothing of the repository.
        SetUp::Nothing | SetUp::Ready(_) if matches!(on, CheckedCommit::Needed | CheckedCommit::Kept) => {}
        SetUp::Nothing | SetUp::Ready(_) => {
            results.iter().for_each(|result| job.learn(Lesson::of_check(result)));
            worker.memory.flakes.note(sha, &results).iter().for_each(|check| job.learn(Lesson::flaky(check)));
        }
    }
    // A failure between base and head is what is looked for, or is told with what it shows.
    let is_told = matches!(on, CheckedCommit::Base | CheckedCommit::Head);
    for failed in results.iter().filter(|check| is_told && check.failed()) {
        tell(worker, job, failed);
    }
    let passed = results.iter().filter(|check| check.passed()).count();
    worker.emit(&WorkEvent::Checked { issue: job.number(), on, passed, run: results.len() });
    Ok(results)
}

/// Asks test runners for reports, in a folder of the checks' home. Without one, their output has to tell.
async fn ask_for_reports(confined: &mut Confined, home: &Home) -> Option<PathBuf> {
    let place = home.path().join(".hob-tests");
    tokio::fs::create_dir(&place).await.ok()?;
    report_variables(&mut confined.environment, &place);
    Some(place)
}

/// Reports how a check failed as progress.
fn tell(worker: &Worker, job: &Job<'_>, failed: &CheckResult) {
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
