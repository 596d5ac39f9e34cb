//! The reviewer of work that passed its checks, before its pull request opens.
//!
//! # Flow
//! [`publish_reviewed`] has the work reviewed. Findings that must not be merged go back to the author,
//! [`REVIEWER_ROUNDS`](hob_words::REVIEWER_ROUNDS) times at most; then the pull request opens with the remaining findings.
//!
//! # Guarantees
//! The reviewer works in its own clean checkout: nothing that it writes there goes anywhere. It never blocks: if it is
//! missing, down, slow, over its share or unintelligible, the pull request opens and says so.

use hob_agent::{NarrowedAgent, RunContext};
use hob_domain::{
    Allowance, CatalogEntry, Diff, Note, Outcome, Profile, ProfileName, Progress, RunId, RunPurpose, RunReport,
    RunRequest, failed_checks,
};
use hob_forge::fresh_nonce;
use hob_text::{count, rendered, title};
use hob_words::{Findings, ReviewerParts, ReviewerReport, evidence_table, reviewer_allowance, reviewer_brief};
use tokio::sync::{mpsc, watch};
use tracing::Instrument;

use crate::{
    WorkError, Worker,
    agent::build_narrowed,
    attempt::{
        agent_run::{PROGRESS_QUEUE, show_progress, write_spend},
        branch::{is_reviewed, keep},
        end::{AttemptEnd, Interrupt},
        job::Job,
        proof::Proven,
        publish::publish,
        remaining_allowance::remaining_allowance,
    },
    counters::{Degraded, degraded},
    profiles::base_catalog,
};

/// Publishes proven work, after a review if the settings want one. `None` if the author has findings to address.
pub(super) async fn publish_reviewed(
    worker: &Worker,
    job: &Job<'_>,
    mut proven: Box<Proven>,
) -> Result<Option<AttemptEnd>, WorkError> {
    // Work in a pull request is reviewed there.
    if !worker.settings.review.before_pull.is_empty() && !is_reviewed(job) {
        let sent_back = job.with_reviews(|reviews| reviews.sent_back.clone());
        if let Some((_, change)) = sent_back.filter(|(diff, _)| *diff == proven.diff) {
            // The author left it unchanged: the same work has the same findings.
            proven.change = change;
        } else {
            Box::pin(look(worker, job, &proven)).await?;
            if worker.cancel.is_cancelled() {
                return Ok(Some(AttemptEnd::Interrupted(Interrupt::Stopped)));
            }
            if send_back(worker, job, &proven) {
                keep(worker, job).await?;
                return Ok(None);
            }
        }
    }
    Ok(Some(publish(worker, job, &proven).await?))
}

/// Whether the findings go back to the author; if they do, that is noted.
fn send_back(worker: &Worker, job: &Job<'_>, proven: &Proven) -> bool {
    // The author has no rounds left, so the findings are for people.
    let can_work = remaining_allowance(worker, job).is_ok();
    job.with_reviews(|reviews| {
        let Some(look) = reviews.report.as_mut().filter(|look| can_work && look.goes_back()) else { return false };
        look.rounds += 1;
        reviews.sent_back = Some((proven.diff.clone(), proven.change.clone()));
        true
    })
}

/// Has the work reviewed, and notes the result.
async fn look(worker: &Worker, job: &Job<'_>, proven: &Proven) -> Result<(), WorkError> {
    let reviewer = &worker.settings.review.before_pull;
    let found = match Box::pin(reviewer_of(worker, job, reviewer)).await {
        Ok((profile, narrowed)) => Box::pin(ask(worker, job, proven, (&profile, &narrowed))).await?,
        Err(cause) => Err(cause),
    };
    match &found {
        Ok(found) => {
            let all = count(found.list.len(), "finding");
            worker.progress(job.number(), &format!("`{reviewer}` has {all}, {} of them high", found.high().count()));
        }
        Err(cause) => {
            degraded(Degraded::Review);
            tracing::warn!(issue = job.number().0, reviewer, "continuing without a review: {cause}");
            worker.progress(job.number(), &format!("continuing without a review: {cause}"));
        }
    }
    job.with_reviews(|reviews| {
        let look = reviews.report.get_or_insert_with(|| ReviewerReport::new(reviewer));
        match found {
            Ok(findings) => (look.findings, look.missing) = (findings, None),
            Err(cause) => look.missing = Some(cause),
        }
    });
    Ok(())
}

/// The reviewer's profile and the agent that works by it, or why there is none.
async fn reviewer_of(worker: &Worker, job: &Job<'_>, name: &str) -> Result<(Profile, NarrowedAgent), String> {
    let name: ProfileName = name.parse().map_err(|error| format!("`review.before_pull`: {error}"))?;
    let read_now;
    // If the settings name the agent, the profiles were not read yet.
    let catalog = if job.catalog.entries.is_empty() {
        let remote = worker.remote().await.map_err(|error| error.to_string())?;
        read_now = base_catalog(worker, &remote, &job.base_tip).await;
        &read_now
    } else {
        &job.catalog
    };
    let why = || catalog.damaged(&name).and_then(CatalogEntry::fault);
    let missing = || why().unwrap_or_else(|| format!("there is no profile `{name}`"));
    let (profile, origin) = catalog.get(&name).ok_or_else(missing)?;
    // The agent that the repository chose for the work is not asked to judge it, too.
    let base = worker.children.named_agent.clone().unwrap_or_else(|| worker.settings.agent.default.clone());
    let built = build_narrowed(worker, &job.rules, base, (profile.clone(), origin.source)).await;
    Ok((profile.clone(), built.map_err(|error| error.reason)?))
}

/// Asks the reviewer; returns the findings, or why there are none. Its cost is the issue's.
async fn ask(
    worker: &Worker,
    job: &Job<'_>,
    proven: &Proven,
    (profile, reviewer): (&Profile, &NarrowedAgent),
) -> Result<Result<Findings, String>, WorkError> {
    let allowance = match allowance(worker, job) {
        Ok(allowance) => allowance,
        Err(cause) => return Ok(Err(cause)),
    };
    let request = match request(worker, job, proven, (profile, reviewer), allowance).await {
        Ok(request) => request,
        Err(error) => return Ok(Err(error.to_string())),
    };
    worker.progress(job.number(), &format!("reviewing the work with `{}`", profile.name));
    let (sender, lines) = mpsc::channel::<Progress>(PROGRESS_QUEUE);
    let cancel = worker.cancel.child_token();
    // It reads only the files of its checkout: no history, and nothing that the work fetched or left.
    let context =
        RunContext::new(cancel.clone(), sender, worker.children.environment.clone(), worker.children.sandbox.clone());
    let _ends_with_run = cancel.drop_guard();
    let span = tracing::error_span!("reviewer", run = %request.run, reviewer = %profile.name);
    let run = async {
        let report =
            worker.children.executor.run(profile.name.as_str(), reviewer.agent.as_ref(), &request, &context).await;
        drop(context);
        report
    };
    // Its checklist is not the work's.
    let (unseen, _) = watch::channel(None);
    let (report, noted) = tokio::join!(run.instrument(span), show_progress(worker, job, lines, unseen));
    let spend = report.as_ref().map_or(noted, |report| report.spend);
    job.with_reviews(|reviews| reviews.taken = reviews.taken + spend);
    job.held.lease.note(Note::Spend(spend.since(noted))).await;
    write_spend(worker, job, spend).await?;
    Ok(match report {
        Ok(report) => findings(report, &proven.diff),
        Err(error) => Err(error.reason),
    })
}

fn findings(report: RunReport, diff: &Diff) -> Result<Findings, String> {
    match report.outcome {
        Outcome::Done { summary: said, .. } | Outcome::NothingToDo { reason: said } => {
            Findings::read(&said, diff).map_err(|error| error.to_string())
        }
        Outcome::Question { .. } => Err("it asked a question, and a reviewer gets no answer".to_owned()),
        Outcome::ApprovalNeeded { .. } => {
            Err("it tried an action that needs approval, and a reviewer only reads".to_owned())
        }
        Outcome::HandOff(_) => Err("it tried to hand off the work".to_owned()),
        Outcome::Failed { reason, .. } => Err(reason),
    }
}

/// The reviewer's allowance, or why there is no review.
fn allowance(worker: &Worker, job: &Job<'_>) -> Result<Allowance, String> {
    let left = remaining_allowance(worker, job).map_err(|_| "no budget is left".to_owned())?;
    let budget = worker.settings.limits.budgets().of_issue(&job.held.lease.record().commands);
    let taken = job.with_reviews(|reviews| reviews.taken);
    reviewer_allowance(&budget, taken, left)
        .map_err(|used_up| format!("its share of the issue, a {used_up}, is used up"))
}

async fn request(
    worker: &Worker,
    job: &Job<'_>,
    proven: &Proven,
    (profile, reviewer): (&Profile, &NarrowedAgent),
    allowance: Allowance,
) -> Result<RunRequest, WorkError> {
    let (issue, fence) = (&job.held.issue, fresh_nonce());
    let brief = reviewer_brief(&ReviewerParts {
        repo: worker.forge.repo(),
        issue: issue.number,
        title: &issue.title,
        body: &issue.body,
        comments: &job.comments,
        profile: (&profile.name, &profile.instructions),
        patch: &proven.diff.patch,
        evidence: &format!("{}\n{}", evidence_table(&proven.evidence), failed_checks(&proven.evidence.head)),
        text_bytes: worker.settings.limits.text_bytes(),
        fence: &fence,
    });
    let folder = job.checkout.proof(&proven.head).await?;
    let number = job.with_reviews(|reviews| {
        reviews.count += 1;
        reviews.count
    });
    // Its own run: it must not join the author's session.
    let run = RunId(format!("{}-look{number}", job.run));
    let allowance = allowance.and(reviewer.limits.allowance());
    // The author must have time to address the findings.
    let remaining = job.limits.ends.saturating_duration_since(tokio::time::Instant::now()) / 2;
    Ok(RunRequest {
        session: run.clone(),
        run,
        purpose: RunPurpose::Review,
        repo: worker.forge.repo().clone(),
        issue: issue.number,
        title: title(&issue.title, 200),
        body: rendered(&issue.body).0,
        brief,
        folder,
        checks: Vec::new(),
        time: allowance.time.map_or(remaining, |time| time.min(remaining)),
        time_setting: "a reviewer's time",
        usd_micros: allowance.usd_micros,
        tokens: allowance.tokens,
        approved: Vec::new(),
        investigation: None,
        hand_off_to: Vec::new(),
        images: Vec::new(),
    })
}
