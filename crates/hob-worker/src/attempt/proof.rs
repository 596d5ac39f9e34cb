//! The proof of the work: the repository's rules and its checks, on the base and on the head.

use std::time::Duration;

use hob_config::RedBase;
use hob_domain::{
    BlockReason, ChangeText, CheckResult, Conflict, Diff, Evidence, FailedChecks, Notable, Sha, Shown, Transition,
    Verdict, left_out,
};

use crate::{
    CheckedCommit, WorkError, Worker,
    attempt::{
        branch::{policy_violations, work_so_far},
        checks_run::checks_on,
        end::AttemptEnd,
        four_runs::four_runs,
        job::Job,
        noticed::noticed,
        run_again::{base_again, run_again},
        runs_made::{Between, FourRuns},
        sign::signed,
    },
    sandbox::what_helps,
};

/// Work that passed its checks.
pub(super) struct Proven {
    pub(super) head: Sha,
    pub(super) diff: Diff,
    pub(super) evidence: Evidence,
    /// What the four runs show.
    pub(super) shown: Shown,
    /// What else a person should see first.
    pub(super) notable: Notable,
    /// Those between base and head.
    pub(super) between: Between,
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
    let base = job.base_checks.get().cloned().unwrap_or_default();
    let evidence = Box::pin(evidence_of_head(worker, job, base, &head)).await?;
    let failed = FailedChecks::among(&evidence.head).last;
    // A run itself clears those of the one before.
    if !failed.is_empty() {
        worker.children.executor.note_failed_checks(&job.active.now().session, failed).await;
    }
    Ok(match evidence.verdict() {
        // The work is not responsible for checks that failed before: with another policy no agent works on a red base.
        Verdict::NoChecks | Verdict::Green | Verdict::RedToGreen { .. } | Verdict::StillRed { .. } => {
            let FourRuns { shown, between } = Box::pin(four_runs(worker, job, &head, &evidence)).await?;
            let notable = noticed(worker, job, &head, &diff).await?;
            job.notable.lock().clone_from(&notable);
            Proof::Passed(Box::new(Proven { head, diff, evidence, shown, notable, between, change }))
        }
        Verdict::Broken { .. } | Verdict::Undecided { .. } => Proof::Failed(evidence),
    })
}

/// The checks on the base and on this head, whose work is somebody else's.
pub(super) async fn evidence_of(worker: &Worker, job: &Job<'_>, head: &Sha) -> Result<Evidence, WorkError> {
    let base = checks_on_base(worker, job).await?;
    evidence_of_head(worker, job, base, head).await
}

/// The checks on the base, whose results are known, and on this head.
async fn evidence_of_head(
    worker: &Worker,
    job: &Job<'_>,
    base: Vec<CheckResult>,
    head: &Sha,
) -> Result<Evidence, WorkError> {
    let results = checks_on(worker, &job.checks(), head, CheckedCommit::Head, checks_time(worker, job)).await?;
    run_again(worker, &job.checks(), head, Evidence { base, head: results }).await
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
    let results = checks_on(worker, &job.checks(), base, CheckedCommit::Base, checks_time(worker, job)).await?;
    let results = base_again(worker, &job.checks(), results).await?;
    if !results.is_empty() {
        worker.memory.base_checks.note(base, checks, &results, now);
    }
    Ok(results)
}

/// The time of all checks on one commit.
fn checks_time(worker: &Worker, job: &Job<'_>) -> Duration {
    worker.settings.check_time.saturating_mul(u32::try_from(job.rules.checks.len()).unwrap_or(u32::MAX))
}
