//! Failed checks, run again before the work is blamed for them, or credited with them.
//!
//! # Flow
//! [`hob_proof::next`] asks for each run. What turns out to be a flake passes, with how often it failed.
//!
//! # Guarantees
//! - No check is run more than ten more times on a commit, or after `proof_time`.
//! - Each run has all checks up to the one that failed, in their order, in a fresh folder and home: a check may need what those
//!   before it leave.

use hob_domain::{CheckExit, CheckResult, CheckRun, Evidence, FlakeName, Flakes, Rate, Sha, TestEnd};
use hob_proof::{FEW, Next, ON_BASE, next, reruns_of};
use tokio::time::Instant;

use crate::{
    CheckedCommit, WorkError, WorkEvent, Worker,
    attempt::{check_job::CheckJob, checks_run::these_checks_on},
};

/// The evidence of this head after each check that failed there, and not on the base, was run again.
pub(super) async fn run_again(
    worker: &Worker,
    job: &CheckJob<'_>,
    head: &Sha,
    evidence: Evidence,
) -> Result<Evidence, WorkError> {
    let reruns = Reruns::new(worker, job, Instant::now() + worker.settings.proof_time);
    let base = evidence.base;
    let was_red = |check: &CheckResult| base.iter().any(|base| base.command == check.command && base.failed());
    let results = reruns.settled(head, CheckedCommit::Head, evidence.head, |check| !was_red(check)).await?;
    let is_again = |check: &&CheckResult| matches!(check.run, CheckRun::Again { .. });
    if results.iter().any(|check| is_again(&check)) {
        let passed = results.iter().filter(|check| check.passed()).count();
        let (issue, run) = (job.number(), results.len());
        worker.emit(&WorkEvent::Checked { issue, on: CheckedCommit::Head, passed, run });
    }
    Ok(Evidence { base, head: results })
}

/// The results on the base after what failed there was run again, until it passes: a base that failed by chance would excuse what the
/// work breaks, and show a need for it.
pub(super) async fn base_again(
    worker: &Worker,
    job: &CheckJob<'_>,
    mut results: Vec<CheckResult>,
) -> Result<Vec<CheckResult>, WorkError> {
    let reruns = Reruns::new(worker, job, Instant::now() + worker.settings.proof_time);
    let base = job.checkout.base().clone();
    for result in results.iter_mut().filter(|result| result.failed() && result.says_something()) {
        let command = result.command.clone();
        let rate = reruns.known.rate(&FlakeName { check: command.clone(), test: None });
        for _ in 0..if rate.failed > 0 { reruns_of(rate) } else { FEW } {
            let runs = reruns.run(&base, CheckedCommit::Base, &[&command]).await?;
            let run = runs.into_iter().find(|run| run.command == command);
            let Some(passed) = run.filter(CheckResult::passed) else { continue };
            let here = reruns.on_base(&command);
            worker.progress(job.number(), &format!("`{command}` failed on the base in {here}: it is flaky"));
            *result = CheckResult { run: CheckRun::Again { here, base: reruns.on_bases(&command) }, ..passed };
            break;
        }
    }
    Ok(results)
}

/// Reruns within their time.
pub(super) struct Reruns<'a> {
    worker: &'a Worker,
    job: &'a CheckJob<'a>,
    /// When their time is over.
    ends: Instant,
    /// What the repository's record knows.
    known: Flakes,
}

impl<'a> Reruns<'a> {
    pub(super) fn new(worker: &'a Worker, job: &'a CheckJob<'a>, ends: Instant) -> Self {
        let known = worker.forge.repository_ledger().known().map(|record| record.flakes).unwrap_or_default();
        Self { worker, job, ends, known }
    }

    /// The results of a run between base and head after the checks that may be flakes were run again. A test that passed in one of
    /// these says nothing of the need for the change.
    pub(super) async fn between(
        &self,
        commit: &Sha,
        on: CheckedCommit,
        results: Vec<CheckResult>,
        evidence: &Evidence,
    ) -> Result<Vec<CheckResult>, WorkError> {
        let is_flaky = |check: &CheckResult| self.known.iter().any(|flake| flake.name.check == check.command);
        let was_green =
            |check: &CheckResult| evidence.base.iter().any(|base| base.command == check.command && base.passed());
        // What fails without the change is wanted.
        let is_wanted = on == CheckedCommit::Needed;
        self.settled(commit, on, results, |check| if is_wanted { is_flaky(check) } else { was_green(check) }).await
    }

    /// The results on a commit after those of `blamed` checks that failed were run again.
    async fn settled(
        &self,
        commit: &Sha,
        on: CheckedCommit,
        results: Vec<CheckResult>,
        blamed: impl Fn(&CheckResult) -> bool,
    ) -> Result<Vec<CheckResult>, WorkError> {
        // A check that is out of time may pass in another run, as one that failed.
        let ended =
            |check: &CheckResult| check.exit == CheckExit::OutOfTime || check.failed() && check.says_something();
        let fails = |check: &&CheckResult| ended(check) && blamed(check);
        let suspects: Vec<&CheckResult> = results.iter().filter(fails).collect();
        let (mut again, mut asked) = (Vec::new(), false);
        loop {
            let wants = |wanted: Next| -> Vec<&str> {
                let those = suspects.iter().filter(|check| self.next(check, &again) == wanted);
                those.map(|check| check.command.as_str()).collect()
            };
            let (on_head, on_base) = (wants(Next::OnHead), wants(Next::OnBase));
            let runs = if !on_head.is_empty() {
                self.run(commit, on, &on_head).await?
            } else if !on_base.is_empty() && !asked {
                asked = true;
                for _ in 0..ON_BASE {
                    self.run(self.job.checkout.base(), CheckedCommit::Base, &on_base).await?;
                }
                continue;
            } else {
                break;
            };
            // Its time is over, or it says nothing.
            if !on_head.iter().all(|command| runs.iter().any(|run| run.command == *command)) {
                break;
            }
            again.extend(runs);
        }
        let is_suspect: Vec<bool> = results.iter().map(|check| fails(&check)).collect();
        let settled = results.into_iter().zip(is_suspect);
        Ok(settled.map(|(check, is)| if is { self.after(check, on, &again) } else { check }).collect())
    }

    /// The result of a check that failed, after it was run again.
    fn after(&self, mut failed: CheckResult, on: CheckedCommit, again: &[CheckResult]) -> CheckResult {
        let runs: Vec<&CheckResult> = again.iter().filter(|run| run.command == failed.command).collect();
        if runs.is_empty() {
            return failed;
        }
        let mut here = Rate { failed: 1, runs: 1 };
        runs.iter().for_each(|run| here.add(run.failed()));
        let run = CheckRun::Again { here, base: self.on_bases(&failed.command) };
        let next = self.next(&failed, again);
        let passed = runs.iter().find(|run| run.passed()).filter(|_| next == Next::Flake);
        let says = if passed.is_some() { ", as a known flake does at times" } else { "" };
        let number = self.job.number();
        self.worker.progress(number, &format!("`{}` failed on the {on} in {here}{says}", failed.command));
        if let Some(passed) = passed {
            return CheckResult { run, ..(*passed).clone() };
        }
        if on == CheckedCommit::Needed {
            let passed = |test: &str| runs.iter().any(|run| run.tests.end(test) == Some(TestEnd::Passed));
            for (test, end) in &mut failed.tests.tests {
                *end = if passed(test) { TestEnd::Skipped } else { *end };
            }
        }
        CheckResult { run, ..failed }
    }

    fn next(&self, failed: &CheckResult, again: &[CheckResult]) -> Next {
        let here = self.known.rates_on_base(self.job.base_runs.lock().iter());
        let again: Vec<&CheckResult> = again.iter().filter(|run| run.command == failed.command).collect();
        next(failed, &again, |test| {
            let name = FlakeName { check: failed.command.clone(), test: test.map(str::to_owned) };
            self.known.rate(&name).and(here.get(&name).copied().unwrap_or_default())
        })
    }

    /// How often a check failed on the attempt's base.
    fn on_base(&self, command: &str) -> Rate {
        let mut rate = Rate::default();
        let runs = self.job.base_runs.lock();
        runs.iter().filter(|run| run.command == command).for_each(|run| rate.add(run.failed()));
        rate
    }

    /// How often a check failed on unchanged code.
    fn on_bases(&self, command: &str) -> Rate {
        let known = self.known.rate(&FlakeName { check: command.to_owned(), test: None });
        known.and(self.on_base(command))
    }

    /// One more run of the checks up to the last of these. Empty if the time is over or a set-up step failed.
    async fn run(&self, commit: &Sha, on: CheckedCommit, these: &[&str]) -> Result<Vec<CheckResult>, WorkError> {
        let (checks, left) = (&self.job.rules.checks, self.ends.saturating_duration_since(Instant::now()));
        let last = checks.iter().rposition(|check| these.contains(&check.as_str())).filter(|_| !left.is_zero());
        let Some(last) = last else { return Ok(Vec::new()) };
        let names = these.iter().map(|check| format!("`{check}`")).collect::<Vec<_>>().join(", ");
        self.worker.activity(self.job.number(), &format!("running {names} again on the {on}"));
        let all = self.worker.settings.check_time.saturating_mul(u32::try_from(last + 1).unwrap_or(u32::MAX));
        let results = these_checks_on(self.worker, self.job, commit, on, &checks[..=last], left.min(all)).await?;
        if results.len() > last + 1 {
            return Ok(Vec::new());
        }
        Ok(results.into_iter().filter(CheckResult::says_something).collect())
    }
}
