//! The proof of the work: the repository's rules and its checks, on the base and on the head.

use hob_domain::{BlockReason, CheckResult, CheckTally, Diff, Evidence, Sha, Verdict};
use hob_workspace::{CheckLimits, run_checks};

use crate::{
    CheckedCommit, WorkError, WorkEvent, Worker,
    attempt::{
        branch::{policy_violations, work_so_far},
        job::Job,
    },
};

/// Work that passed its checks.
pub(super) struct Proven {
    pub(super) head: Sha,
    pub(super) diff: Diff,
    pub(super) evidence: Evidence,
    pub(super) summary: String,
}

/// What the proof of the work so far says.
pub(super) enum Proof {
    Passed(Box<Proven>),
    /// The checks that failed go back to the agent.
    Failed(Evidence),
    /// Nothing more can be done without a person.
    Blocked(BlockReason),
}

/// Holds the work so far to the rules and the checks.
pub(super) async fn prove(
    worker: &Worker,
    job: &Job<'_>,
    base: &[CheckResult],
    summary: String,
) -> Result<Proof, WorkError> {
    let Some((head, diff)) = work_so_far(job).await? else {
        return Ok(Proof::Blocked(BlockReason::NoChanges { said: summary }));
    };
    if let Some(reason) = policy_violations(worker, job, &diff)? {
        return Ok(Proof::Blocked(reason));
    }
    let head_results = checks_on(worker, job, &head, CheckedCommit::Head).await?;
    let evidence = Evidence { base: base.to_vec(), head: head_results };
    Ok(match evidence.verdict() {
        Verdict::NoChecks | Verdict::Green | Verdict::RedToGreen { .. } => {
            Proof::Passed(Box::new(Proven { head, diff, evidence, summary }))
        }
        Verdict::Broken { .. } | Verdict::StillRed { .. } | Verdict::Undecided { .. } => Proof::Failed(evidence),
    })
}

/// Runs the checks on the commit that the work starts from.
pub(super) async fn checks_on_base(worker: &Worker, job: &Job<'_>) -> Result<Vec<CheckResult>, WorkError> {
    checks_on(worker, job, job.checkout.base(), CheckedCommit::Base).await
}

async fn checks_on(
    worker: &Worker,
    job: &Job<'_>,
    sha: &Sha,
    on: CheckedCommit,
) -> Result<Vec<CheckResult>, WorkError> {
    let checks = &job.rules.checks;
    if checks.is_empty() {
        return Ok(Vec::new());
    }
    let folder = job.checkout.proof(sha).await?;
    let settings = &worker.settings.checks;
    let limits = CheckLimits {
        time: settings.time.saturating_mul(u32::try_from(checks.len()).unwrap_or(u32::MAX)),
        output_bytes: settings.output_bytes,
    };
    let run = run_checks(&folder, checks, &worker.environment, limits, &worker.cancel);
    let results = run.await.map_err(WorkError::Checks)?;
    let passed = results.iter().filter(|check| check.passed()).count();
    worker.emit(&WorkEvent::Checked { issue: job.number(), on, passed, run: results.len() });
    Ok(results)
}

/// How many of the checks on the head passed.
pub(super) fn tally(evidence: &Evidence) -> Option<CheckTally> {
    let passed = evidence.head.iter().filter(|check| check.passed()).count();
    (!evidence.head.is_empty()).then_some(CheckTally { passed, run: evidence.head.len() })
}
