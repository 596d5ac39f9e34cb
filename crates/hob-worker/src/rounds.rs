//! The rounds of one attempt: the agent works, Hob commits and checks; what fails goes back to the agent, a limited
//! number of times.

use std::{sync::PoisonError, time::Duration};

use hob_agent::RunContext;
use hob_domain::{
    Allowance, BlockKind, Blocked, BriefParts, Budget, CheckResult, CheckTally, Diff, DiffPolicy, Evidence,
    FailureClass, HobFiles, Outcome, Progress, RunId, RunReport, RunRequest, Sha, Spend, Verdict, brief, failed_checks,
    failure_mark, quiet, title, visible,
};
use hob_forge::fresh_nonce;
use hob_workspace::{CheckLimits, Identity, run_checks};
use tokio::{sync::mpsc, time::Instant};
use tokio_util::sync::CancellationToken;

use crate::{Notice, WorkError, Worker, attempt::Job};

/// Lines of progress that may wait to be shown.
const PROGRESS_QUEUE: usize = 256;

/// Work that passed its checks.
pub(super) struct Proven {
    pub(super) head: Sha,
    pub(super) diff: Diff,
    pub(super) evidence: Evidence,
    pub(super) summary: String,
}

/// What one round led to.
enum Round {
    Proven(Proven),
    /// The checks that failed go back to the agent.
    Again(Evidence),
    /// Nothing more can be done without a person.
    Blocked(Blocked),
    /// The agent failed in a way that may pass.
    Later(String, Option<Duration>),
    /// The model's quota is used up.
    Quota(String, Option<Duration>),
}

impl Worker {
    /// Runs the agent and its proof until the work is published, blocked or put off.
    pub(super) async fn rounds(&self, job: &Job<'_>, labels: &mut Vec<String>) -> Result<(), WorkError> {
        let base = self.checks_on_base(job).await?;
        if is_proven(job) {
            // Its way to a pull request was cut off: an agent that is asked again may find nothing left to do.
            let summary = "The work of an earlier attempt, which could not be published then.".to_owned();
            if let Round::Proven(proven) = Box::pin(self.prove(job, &base, summary)).await? {
                return Box::pin(self.publish(job, labels, &proven)).await;
            }
        }
        let mut failed: Vec<CheckResult> = Vec::new();
        let mut last = Evidence::default();
        let mut worked = job.checkout.start().clone();
        let mut rounds = 0;
        for round in 0..=self.settings.limits.check_rounds {
            rounds = round + 1;
            if round > 0 {
                self.progress(
                    job.issue,
                    &format!("the checks failed: back to the agent, {round} of {}", self.settings.limits.check_rounds),
                );
            }
            match Box::pin(self.round(job, round, &base, &failed)).await? {
                Round::Proven(proven) => return Box::pin(self.publish(job, labels, &proven)).await,
                Round::Blocked(blocked) => {
                    self.keep_work(job).await?;
                    return self.block(job.lease, labels, blocked).await;
                }
                Round::Later(reason, asked) => {
                    self.keep_what_there_is(job).await;
                    return match self.stalled(job, &reason).await? {
                        Some(blocked) => self.block(job.lease, labels, blocked).await,
                        None => self.try_later(job.lease, labels, reason, asked).await,
                    };
                }
                Round::Quota(reason, reset_after) => {
                    self.keep_what_there_is(job).await;
                    return self.pause_for_quota(job.lease, labels, reason, reset_after).await;
                }
                Round::Again(evidence) => {
                    let before = std::mem::take(&mut failed);
                    failed = evidence.head.iter().filter(|check| !check.passed()).cloned().collect();
                    last = evidence;
                    let tip = job.checkout.tip().await?;
                    // The same work cannot pass what it failed.
                    if round > 0 && tip == worked && said(&before) == said(&failed) {
                        break;
                    }
                    worked = tip;
                }
            }
        }
        self.keep_work(job).await?;
        let blocked = Blocked {
            kind: BlockKind::ChecksFailed,
            text: format!("The checks still fail after {rounds} round(s) of work.\n\n{}", failed_checks(&last.head)),
            question: "What should the agent do about this?".to_owned(),
            since: self.forge.now(),
        };
        self.block(job.lease, labels, blocked).await
    }

    async fn round(
        &self,
        job: &Job<'_>,
        round: u32,
        base: &[CheckResult],
        failed: &[CheckResult],
    ) -> Result<Round, WorkError> {
        let allowance = match self.left(job) {
            Ok(allowance) => allowance,
            Err(blocked) => return Ok(Round::Blocked(blocked)),
        };
        let report = Box::pin(self.run_agent(job, round, failed, allowance)).await?;
        self.write_spend(job, report.spend).await?;
        let summary = match report.outcome {
            Outcome::Done { summary } => summary,
            // An agent that goes on from its own work may find it done: nobody has seen it yet.
            Outcome::NothingToDo { reason } if has_unseen_work(job).await? => reason,
            Outcome::NothingToDo { reason } => return Ok(Round::Blocked(self.nothing_changed(&reason))),
            Outcome::Question { question } => {
                let text = "The agent needs an answer before it can go on.".to_owned();
                return Ok(Round::Blocked(Blocked {
                    kind: BlockKind::Question,
                    text,
                    question,
                    since: self.forge.now(),
                }));
            }
            Outcome::ApprovalNeeded { proposed } => {
                let blocked = self.approval_needed(&proposed);
                job.lease.note_proposed(proposed).await;
                return Ok(Round::Blocked(blocked));
            }
            Outcome::Failed { reason, failure } => return Ok(self.after_failure(reason, failure)),
        };
        self.commit(job, &summary).await?;
        self.prove(job, base, summary).await
    }

    /// Holds the work so far to the rules and the checks.
    async fn prove(&self, job: &Job<'_>, base: &[CheckResult], summary: String) -> Result<Round, WorkError> {
        let Some((head, diff)) = self.work_so_far(job).await? else {
            return Ok(Round::Blocked(self.nothing_changed(&summary)));
        };
        if let Some(blocked) = self.policy_violations(job, &diff)? {
            return Ok(Round::Blocked(blocked));
        }
        let head_results = self.checks_on(job, &head, "head").await?;
        let evidence = Evidence { base: base.to_vec(), head: head_results };
        Ok(match evidence.verdict() {
            Verdict::NoChecks | Verdict::Green | Verdict::RedToGreen { .. } => {
                Round::Proven(Proven { head, diff, evidence, summary })
            }
            Verdict::Broken { .. } | Verdict::StillRed { .. } | Verdict::Undecided { .. } => Round::Again(evidence),
        })
    }

    async fn run_agent(
        &self,
        job: &Job<'_>,
        round: u32,
        failed: &[CheckResult],
        allowance: Allowance,
    ) -> Result<RunReport, WorkError> {
        let record = job.lease.record();
        let fence = fresh_nonce();
        let text = brief(&BriefParts {
            repo: self.forge.repo(),
            issue: job.issue.number,
            title: &job.issue.title,
            body: &job.issue.body,
            comments: &job.comments,
            answer: record.answer.as_ref(),
            last_failure: record.last_failure.as_deref(),
            earlier_work: Some(job.checkout.start()).filter(|start| *start != job.checkout.base()),
            failed_checks: failed,
            checks: &job.rules.checks,
            text_bytes: self.settings.limits.body_bytes,
            fence: &fence,
        });
        let left = job.ends.saturating_duration_since(Instant::now());
        let request = RunRequest {
            run: RunId(format!("{}-{round}", job.run)),
            session: job.session.clone(),
            repo: self.forge.repo().clone(),
            issue: job.issue.number,
            title: title(&job.issue.title, 200),
            body: visible(&job.issue.body).0,
            brief: text,
            folder: job.checkout.folder().to_owned(),
            checks: job.rules.checks.clone(),
            time: allowance.time.map_or(left, |time| time.min(left)),
            usd_micros: allowance.usd_micros,
            tokens: allowance.tokens,
            approved: record.approved,
        };
        self.progress(job.issue, &format!("the agent `{}` works", job.agent_name));
        let (sender, mut lines) = mpsc::channel::<Progress>(PROGRESS_QUEUE);
        // Dropped with the run, so that a run that ends early ends its children too.
        let cancel = self.cancel.child_token();
        let context = RunContext::new(cancel.clone(), sender, self.environment.clone()).asking(self.approval.clone());
        let _ends_with_run = cancel.drop_guard();
        let ended = CancellationToken::new();
        let run = async {
            let report = self.executor.run(&job.agent_name, job.agent.as_ref(), &request, &context).await;
            drop(context);
            ended.cancel();
            report
        };
        let show = async {
            let mut noted = Spend::default();
            while let Some(line) = lines.recv().await {
                if let Some(spent) = line.spent {
                    // The heartbeat writes it: a worker that dies in the middle of a run takes little of the bill with it.
                    job.lease.note_spend(spent.since(noted)).await;
                    noted = spent;
                }
                if !line.text.is_empty() {
                    self.tell(&Notice::Progress { issue: job.issue.number, text: line.text });
                }
            }
            noted
        };
        let (report, noted, ()) = tokio::join!(run, show, Box::pin(self.checkpoints(job, &ended)));
        let report = report?;
        job.lease.note_spend(report.spend.since(noted)).await;
        Ok(report)
    }

    /// Keeps the work on the branch now and then while the agent works, until `ended`.
    async fn checkpoints(&self, job: &Job<'_>, ended: &CancellationToken) {
        let every = self.settings.limits.checkpoint;
        while !every.is_zero() {
            tokio::select! {
                () = tokio::time::sleep(every) => {}
                () = ended.cancelled() => return,
            }
            if let Err(error) = Box::pin(self.keep_work(job)).await {
                tracing::warn!(issue.number = job.issue.number.0, %error, "the work so far could not be kept: {error}");
            }
        }
    }

    /// Writes what a run cost to the ledger at once: a worker that dies later takes nothing of the bill with it.
    async fn write_spend(&self, job: &Job<'_>, spend: Spend) -> Result<(), WorkError> {
        self.warn_of_budget(job, spend);
        if spend.usd_micros == 0 && spend.tokens() == 0 {
            return Ok(());
        }
        match self.forge.transition(job.lease, |_| format!("the agent spent {spend}")).await {
            // The next transition has it too: work that is done is not thrown away for this.
            Err(error) if matches!(error.class(), FailureClass::Transient { .. }) => {
                tracing::warn!(issue.number = job.issue.number.0, %error, "the spend could not be written yet: {error}");
                Ok(())
            }
            result => Ok(result?),
        }
    }

    /// Says once that the issue's budget is nearly used up.
    fn warn_of_budget(&self, job: &Job<'_>, spend: Spend) {
        let (budget, soft) = (self.settings.limits.budgets().issue, self.settings.limits.soft);
        let bill = job.lease.record().spend;
        let (before, now) = (budget.used(bill.since(spend)), budget.used(bill));
        if before < soft && soft <= now {
            self.progress(job.issue, &format!("{:.0}% of the issue's budget is used: {bill}", (now * 100.0).floor()));
        }
    }

    fn after_failure(&self, reason: String, failure: FailureClass) -> Round {
        match failure {
            FailureClass::Transient { retry_after } => Round::Later(reason, retry_after),
            FailureClass::QuotaExhausted { reset_after } => Round::Quota(reason, reset_after),
            FailureClass::Cancelled => Round::Later(reason, None),
            FailureClass::Permanent | FailureClass::NeedsHuman => Round::Blocked(Blocked {
                kind: BlockKind::AgentFailed,
                text: format!("The agent failed: {reason}"),
                question: "Can you say what it should do differently, or set right what it lacks?".to_owned(),
                since: self.forge.now(),
            }),
        }
    }

    fn nothing_changed(&self, said: &str) -> Blocked {
        Blocked {
            kind: BlockKind::NoChanges,
            text: format!("The agent changed no file. It said: {}", said.trim()),
            question: "Is there something to change? Say what, or close the issue.".to_owned(),
            since: self.forge.now(),
        }
    }

    /// What the attempt may still take; the reason to stop where that is nothing.
    fn left(&self, job: &Job<'_>) -> Result<Allowance, Blocked> {
        let bill = job.lease.record().spend;
        let issue = self.settings.limits.budgets().issue.left(bill);
        issue.map_err(|exhausted| self.used_up(&exhausted.to_string(), bill))?;
        let attempt = Budget {
            usd_micros: job.allowance.usd_micros,
            tokens: job.allowance.tokens,
            wall_seconds: job.allowance.time.map(|time| time.as_secs()),
            attempts: None,
        };
        let spent = bill.since(job.began);
        attempt.left(spent).map_err(|exhausted| {
            self.limit_reached(format!(
                "The attempt's {exhausted} is used up: {spent}. The issue's bill so far: {bill}."
            ))
        })
    }

    /// Notes how the attempt failed and on what work; the reason to stop where it failed just so before.
    async fn stalled(&self, job: &Job<'_>, reason: &str) -> Result<Option<Blocked>, WorkError> {
        let tip = job.checkout.tip().await?;
        let work = job.checkout.diff(job.checkout.base(), &tip).await?;
        let mark = failure_mark(reason, &work.patch);
        let before = job.lease.record().stalled;
        if before.as_ref() != Some(&mark) {
            job.lease.note_stalled(mark).await;
            return Ok(None);
        }
        Ok(Some(Blocked {
            kind: BlockKind::NoProgress,
            text: format!("Two attempts in a row failed in the same way on the same work: {reason}"),
            question: "What should be done differently? More attempts would only cost more.".to_owned(),
            since: self.forge.now(),
        }))
    }

    async fn commit(&self, job: &Job<'_>, summary: &str) -> Result<(), WorkError> {
        let identity =
            Identity { name: self.settings.identity.name.clone(), email: self.settings.identity.email.clone() };
        let subject = quiet(&title(&job.issue.title, 72));
        let body = quiet(&title(summary, 500));
        let message = format!("{subject}\n\n{body}\n\nIssue: {}\n", job.issue.number);
        job.checkout.commit(&message, &identity, self.forge.now()).await?;
        Ok(())
    }

    /// The branch's tip and all that it changes; none where it changes nothing.
    async fn work_so_far(&self, job: &Job<'_>) -> Result<Option<(Sha, Diff)>, WorkError> {
        let head = job.checkout.tip().await?;
        let diff = job.checkout.diff(job.checkout.base(), &head).await?;
        Ok((!diff.files.is_empty()).then_some((head, diff)))
    }

    fn policy_violations(&self, job: &Job<'_>, diff: &Diff) -> Result<Option<Blocked>, WorkError> {
        let workspace = &self.settings.workspace;
        let max_bytes = workspace.max_file_mib << 20;
        let policy = DiffPolicy::new(&job.rules.protected, HobFiles::Protected, workspace.max_files, max_bytes)?;
        let violations = policy.violations(diff);
        if violations.is_empty() {
            return Ok(None);
        }
        let list: String = violations.iter().take(20).map(|violation| format!("\n- {violation}")).collect();
        Ok(Some(Blocked {
            kind: BlockKind::PolicyViolated,
            text: format!("The work breaks rules and was not pushed:\n{list}"),
            question: "Should the issue be solved in another way? If the rule is wrong here, a person has to make this change.".to_owned(),
            since: self.forge.now(),
        }))
    }

    /// Pushes what there is, so that a blocked issue goes on from it; work that breaks the rules stays unpushed.
    pub(super) async fn keep_work(&self, job: &Job<'_>) -> Result<(), WorkError> {
        let before = job.checkout.tip().await?;
        self.commit(job, "Work in progress").await?;
        let Some((head, diff)) = self.work_so_far(job).await? else { return Ok(()) };
        if self.policy_violations(job, &diff)?.is_some() {
            // Nothing that comes later may carry it in its history.
            return Ok(job.checkout.unwind(&before).await?);
        }
        if job.pushed.lock().unwrap_or_else(PoisonError::into_inner).as_ref() == Some(&head) {
            return Ok(());
        }
        self.push(job, &head).await
    }

    async fn checks_on_base(&self, job: &Job<'_>) -> Result<Vec<CheckResult>, WorkError> {
        self.checks_on(job, job.checkout.base(), "base").await
    }

    async fn checks_on(&self, job: &Job<'_>, sha: &Sha, name: &str) -> Result<Vec<CheckResult>, WorkError> {
        if job.rules.checks.is_empty() {
            return Ok(Vec::new());
        }
        let folder = job.checkout.proof(sha).await?;
        let limits = CheckLimits {
            time: self.settings.checks.time.saturating_mul(u32::try_from(job.rules.checks.len()).unwrap_or(u32::MAX)),
            output_bytes: self.settings.checks.output_bytes,
        };
        let results = run_checks(&folder, &job.rules.checks, &self.environment, limits, &self.cancel)
            .await
            .map_err(|error| WorkError::Checks(error.to_string()))?;
        let passed = results.iter().filter(|check| check.passed()).count();
        self.progress(job.issue, &format!("checks on the {name}: {passed} of {} pass", results.len()));
        Ok(results)
    }
}

/// Whether the branch has work that was never in a pull request.
async fn has_unseen_work(job: &Job<'_>) -> Result<bool, WorkError> {
    Ok(job.lease.record().pull_request.is_none() && job.checkout.tip().await? != *job.checkout.base())
}

/// Whether the branch has work that passed its checks in the attempt before, which failed only after that.
fn is_proven(job: &Job<'_>) -> bool {
    let record = job.lease.record();
    record.last_failure.is_some() && record.head_sha.as_ref() == Some(job.checkout.start())
}

/// What failed checks say, without their times.
fn said(failed: &[CheckResult]) -> Vec<(&str, &str)> {
    failed.iter().map(|check| (check.command.as_str(), check.output.as_str())).collect()
}

/// How many of the checks on the head passed.
pub(super) fn tally(evidence: &Evidence) -> Option<CheckTally> {
    let passed = evidence.head.iter().filter(|check| check.passed()).count();
    (!evidence.head.is_empty()).then_some(CheckTally { passed, run: evidence.head.len() })
}
