//! The checks on the two trees between base and head, after they passed on the head: the old tests on the new code, and the new
//! tests on the old code. The pull request says what they show; `docs/proof.md` says what each word claims.

use std::time::Duration;

use hob_domain::{CheckExit, CheckResult, Evidence, NotMade, PathGlobs, Sha};
use hob_proof::{Made, Runs};
use hob_workspace::{Crossed, Crossing, SideRules, crossed};
use tokio::time::Instant;

use crate::{
    CheckedCommit, WorkError, Worker,
    attempt::{
        check_job::CheckJob,
        checks_run::checks_on,
        job::Job,
        run_again::Reruns,
        runs_made::{Between, FourRuns, OneRun},
    },
};

/// What the runs show of `head`, whose checks passed. Runs whose tree is the base's or the head's are not made again.
pub(super) async fn four_runs(
    worker: &Worker,
    job: &Job<'_>,
    head: &Sha,
    evidence: &Evidence,
) -> Result<FourRuns, WorkError> {
    let known = job.shown.lock().clone();
    if let Some((_, runs)) = known.filter(|(of, _)| of == head) {
        return Ok(runs);
    }
    let runs = runs_between(worker, &job.checks(), head, evidence).await?;
    *job.shown.lock() = Some((head.clone(), runs.clone()));
    Ok(runs)
}

/// The runs between base and head, and what all four show.
pub(super) async fn runs_between(
    worker: &Worker,
    job: &CheckJob<'_>,
    head: &Sha,
    evidence: &Evidence,
) -> Result<FourRuns, WorkError> {
    // They were read before.
    let own = Some(&job.rules.tests).filter(|tests| !tests.is_empty());
    let tests = own.and_then(|tests| PathGlobs::new(tests.clone()).ok());
    let rules = SideRules { tests, checks: job.rules.checks.clone() };
    let Crossed { code, tests, judges, mixed, needed, kept } = crossed(job.checkout, head, rules).await?;
    let mut making = Making { worker, job, mixed, ends: Instant::now() + worker.settings.proof_time };
    // A regression is worse news than a test that shows nothing.
    let kept = making.run(kept, CheckedCommit::Kept, head, evidence).await?;
    let needed = making.run(needed, CheckedCommit::Needed, head, evidence).await?;
    let runs = Runs {
        base: evidence.base.clone().into(),
        head: evidence.head.clone().into(),
        needed: needed.made.clone(),
        kept: kept.made.clone(),
        code,
        tests,
        judges,
    };
    Ok(FourRuns { shown: runs.shown(), between: Between { needed, kept } })
}

/// Makes the runs between base and head.
struct Making<'a> {
    worker: &'a Worker,
    job: &'a CheckJob<'a>,
    /// Files of which the trees have code and tests of one side.
    mixed: Vec<String>,
    /// When their time is over.
    ends: Instant,
}

impl Making<'_> {
    async fn run(
        &mut self,
        on: Crossing,
        name: CheckedCommit,
        head: &Sha,
        evidence: &Evidence,
    ) -> Result<OneRun, WorkError> {
        let checkout = self.job.checkout;
        Ok(match on {
            Crossing::Base => OneRun { tree: checkout.tree(checkout.base()).await?, made: Made::AsBase },
            Crossing::Head => OneRun { tree: checkout.tree(head).await?, made: Made::AsHead },
            Crossing::Commit(commit) => {
                OneRun { tree: checkout.tree(&commit).await?, made: self.make(commit, name, evidence).await? }
            }
        })
    }

    async fn make(&mut self, commit: Sha, name: CheckedCommit, evidence: &Evidence) -> Result<Made, WorkError> {
        // A check that does not pass on the head shows nothing anywhere.
        if evidence.head.is_empty() || !evidence.head.iter().all(CheckResult::passed) {
            return Ok(Made::Not(NotMade::Off));
        }
        if !self.mixed.is_empty() {
            return Ok(Made::Not(NotMade::Mixed { files: self.mixed.iter().cloned().collect() }));
        }
        if self.worker.settings.proof_time == Duration::ZERO {
            return Ok(Made::Not(NotMade::Off));
        }
        let left = self.ends.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(Made::Not(NotMade::NoTime));
        }
        let results = checks_on(self.worker, self.job, &commit, name, left).await?;
        let reruns = Reruns::new(self.worker, self.job, self.ends);
        let results = reruns.between(&commit, name, results, evidence).await?;
        let why = why_nothing(&results, &self.job.rules.checks);
        Ok(why.map_or_else(|| Made::Run(results.into()), Made::Not))
    }
}

/// Why results say nothing.
fn why_nothing(results: &[CheckResult], checks: &[String]) -> Option<NotMade> {
    let ended = |exit: CheckExit| results.iter().any(|check| check.exit == exit);
    if ended(CheckExit::OutOfTime) || ended(CheckExit::Cancelled) {
        return Some(NotMade::NoTime);
    }
    if results.len() > checks.len() {
        return Some(NotMade::SetUpFailed);
    }
    results.iter().any(|check| check.refusal().is_some()).then_some(NotMade::Refused)
}
