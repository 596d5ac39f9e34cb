//! The reviewer of work that passed its checks, before its pull request opens.
//!
//! # Flow
//! [`publish_reviewed`] has the work reviewed. Findings that must not be merged go back to the author,
//! [`REVIEWER_ROUNDS`](hob_words::REVIEWER_ROUNDS) times at most; then the pull request opens with the remaining findings.
//!
//! # Guarantees
//! The reviewer works in its own clean checkout: nothing that it writes there goes anywhere. It never blocks: if it is
//! missing, down, slow, over its share or unintelligible, the pull request opens and says so.

use hob_agent::{AgentError, NarrowedAgent, RunContext};
use hob_domain::{
    Allowance, CatalogEntry, Diff, Exhausted, InvalidProfileName, Note, Outcome, Profile, ProfileName, Progress, RunId,
    RunPurpose, RunRequest, Strain, failed_checks,
};
use hob_forge::fresh_nonce;
use hob_text::{count, rendered, title, without_tokens};
use hob_words::{
    Findings, ReviewerParts, ReviewerReport, UnreadableFindings, evidence_table, reviewer_allowance, reviewer_brief,
};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::{
    WorkError, Worker,
    agent::{build_narrowed, default_agent},
    attempt::{
        advances::{QUEUE, advances},
        agent_run::{PROGRESS_QUEUE, public_paths, show_progress, write_spend},
        branch::{is_reviewed, keep},
        end::{AttemptEnd, Interrupt},
        hearing::{goes_back, said_before},
        job::Job,
        proof::Proven,
        publish::publish,
        remaining_allowance::remaining_allowance,
    },
    metrics::{Degraded, METRICS},
    profiles::base_catalog,
};

/// The profile that reviews, and the agent that works by it.
struct Reviewer {
    profile: Profile,
    narrowed: NarrowedAgent,
}

/// Why there is no review, for people.
#[derive(Debug, thiserror::Error)]
enum NoReview {
    #[error("`review.reviewer`: {0}")]
    Name(#[from] InvalidProfileName),
    #[error("there is no profile `{0}`")]
    NoProfile(ProfileName),
    /// The profile's file is damaged.
    #[error("{0}")]
    Damaged(String),
    /// The profiles or the checkout could not be read.
    #[error(transparent)]
    Work(#[from] WorkError),
    #[error(transparent)]
    Agent(#[from] AgentError),
    #[error("no budget is left")]
    NoBudget,
    #[error("its share of the issue, a {0}, is used up")]
    ShareUsedUp(Exhausted),
    #[error("it asked a question, and a reviewer gets no answer")]
    Question,
    #[error("it tried an action that needs approval, and a reviewer only reads")]
    ApprovalNeeded,
    #[error("it tried to hand off the work")]
    HandOff,
    /// The reviewer says why it failed.
    #[error("{0}")]
    Failed(String),
    #[error(transparent)]
    Unreadable(#[from] UnreadableFindings),
}

/// What came of asking for a review.
enum Reviewed {
    Found(Findings),
    Missing(NoReview),
}

/// Publishes proven work, after a review if the settings want one. `None` if the author has findings to address, or
/// words of people to read.
pub(super) async fn publish_reviewed(
    worker: &Worker,
    job: &Job<'_>,
    mut proven: Box<Proven>,
) -> Result<Option<AttemptEnd>, WorkError> {
    if let Some(change) = said_before(job, &proven) {
        proven.change = change;
    }
    if goes_back(worker, job, &proven) {
        keep(worker, job).await?;
        return Ok(None);
    }
    // Work in a pull request is reviewed there.
    if !worker.settings.review.reviewer.is_empty() && !is_reviewed(job) {
        let sent_back = job.with_reviews(|reviews| reviews.sent_back.clone());
        if let Some((_, change)) = sent_back.filter(|(diff, _)| *diff == proven.diff) {
            // The author left it unchanged: the same work has the same findings.
            proven.change = change;
        } else {
            // It was, if it was chosen by that.
            if job.with_reviews(|reviews| reviews.looked_at.take()).as_ref() != Some(&proven.diff) {
                look(worker, job, &proven).await?;
            }
            if worker.cancel.is_cancelled() {
                return Ok(Some(AttemptEnd::Interrupted(Interrupt::Stopped)));
            }
            if send_back(worker, job, &proven) {
                keep(worker, job).await?;
                return Ok(None);
            }
        }
    }
    publish(worker, job, &proven).await
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
pub(super) async fn look(worker: &Worker, job: &Job<'_>, proven: &Proven) -> Result<(), WorkError> {
    let reviewer = &worker.settings.review.reviewer;
    let found = match reviewer_of(worker, job, reviewer).await {
        Ok(reviewer) => ask(worker, job, proven, &reviewer).await?,
        Err(cause) => Reviewed::Missing(cause),
    };
    match &found {
        Reviewed::Found(found) => {
            let all = count(found.list.len(), "finding");
            worker.progress(job.number(), &format!("`{reviewer}` has {all}, {} of them high", found.high().count()));
        }
        Reviewed::Missing(cause) => {
            METRICS.profiles.degraded(Degraded::Review);
            tracing::warn!(issue = job.number().0, reviewer, "continuing without a review: {cause}");
            worker.progress(job.number(), &format!("continuing without a review: {cause}"));
        }
    }
    job.with_reviews(|reviews| {
        let look = reviews.report.get_or_insert_with(|| ReviewerReport::new(reviewer));
        match found {
            Reviewed::Found(findings) => (look.findings, look.missing) = (findings, None),
            Reviewed::Missing(cause) => look.missing = Some(cause.to_string()),
        }
    });
    Ok(())
}

/// The reviewer's profile and the agent that works by it, or why there is none.
async fn reviewer_of(worker: &Worker, job: &Job<'_>, name: &str) -> Result<Reviewer, NoReview> {
    let name: ProfileName = name.parse()?;
    let read_now;
    // If the settings name the agent, the profiles were not read yet.
    let catalog = if job.catalog.entries.is_empty() {
        let remote = worker.remote().await?;
        read_now = base_catalog(worker, &remote, &job.base_tip).await;
        &read_now
    } else {
        &job.catalog
    };
    let Some((profile, origin)) = catalog.get(&name) else {
        let fault = catalog.damaged(&name).and_then(CatalogEntry::fault);
        return Err(fault.map_or(NoReview::NoProfile(name), NoReview::Damaged));
    };
    // The agent that the repository chose for the work is not asked to judge it, too.
    let base = worker.children.named_agent.clone().unwrap_or_else(|| default_agent(worker, &job.rules));
    let narrowed = build_narrowed(worker, &job.rules, base, profile.clone(), origin.source).await?;
    Ok(Reviewer { profile: profile.clone(), narrowed })
}

/// Asks the reviewer. Its cost is the issue's.
async fn ask(worker: &Worker, job: &Job<'_>, proven: &Proven, reviewer: &Reviewer) -> Result<Reviewed, WorkError> {
    let allowance = match allowance(worker, job) {
        Ok(allowance) => allowance,
        Err(cause) => return Ok(Reviewed::Missing(cause)),
    };
    let Reviewer { profile, narrowed } = reviewer;
    let request = match request(worker, job, proven, reviewer, allowance).await {
        Ok(request) => request,
        Err(error) => return Ok(Reviewed::Missing(error.into())),
    };
    worker.progress(job.number(), &format!("reviewing the work with `{}`", profile.name));
    let (sender, lines) = mpsc::channel::<Progress>(PROGRESS_QUEUE);
    let ((wishes, asked), ended) = (mpsc::channel(QUEUE), CancellationToken::new());
    let cancel = worker.cancel.child_token();
    // It reads only the files of its checkout: no history, and nothing that the work fetched or left.
    let context = RunContext::new(
        cancel.clone(),
        sender,
        worker.children.environment.as_ref().clone(),
        worker.children.sandbox.clone(),
    )
    .billed(job.held.lease.record().spend, wishes);
    let _ends_with_run = cancel.drop_guard();
    let span = tracing::error_span!("reviewer", run = %request.run, reviewer = %profile.name);
    let run = async {
        let report =
            worker.children.executor.run(profile.name.as_str(), narrowed.agent.as_ref(), &request, &context).await;
        drop(context);
        ended.cancel();
        report
    };
    // Its checklist is not the work's.
    let (unseen, _) = watch::channel(None);
    let (report, noted, ()) = tokio::join!(
        run.instrument(span),
        show_progress(worker, job, lines, unseen),
        Box::pin(advances(worker, job, asked, &ended)),
    );
    let spend = report.as_ref().map_or(noted, |report| report.spend);
    job.with_reviews(|reviews| reviews.taken = reviews.taken + spend);
    job.held.lease.note(Note::Spend(spend.since(noted))).await;
    let paths = public_paths(worker, &request.folder);
    let in_public = |outcome: Outcome| outcome.in_words(|words| without_tokens(&paths.text(words)));
    let found = report.map_err(NoReview::from).and_then(|report| findings(in_public(report.outcome), &proven.diff));
    if let Ok(found) = &found {
        // The next attempt may have to address them, on any machine.
        job.held.lease.note(Note::Found(found.high().cloned().collect())).await;
    }
    write_spend(worker, job, spend).await?;
    Ok(found.map_or_else(Reviewed::Missing, Reviewed::Found))
}

fn findings(outcome: Outcome, diff: &Diff) -> Result<Findings, NoReview> {
    match outcome {
        Outcome::Done { summary: said, .. } | Outcome::NothingToDo { reason: said } => Ok(Findings::read(&said, diff)?),
        Outcome::Question { .. } => Err(NoReview::Question),
        Outcome::ApprovalNeeded { .. } => Err(NoReview::ApprovalNeeded),
        Outcome::HandOff(_) => Err(NoReview::HandOff),
        Outcome::Failed { reason, .. } => Err(NoReview::Failed(reason)),
    }
}

/// The reviewer's allowance, or why there is no review.
fn allowance(worker: &Worker, job: &Job<'_>) -> Result<Allowance, NoReview> {
    let left = remaining_allowance(worker, job).map_err(|_| NoReview::NoBudget)?;
    let budget = worker.settings.budgets().of_issue(&job.held.lease.record().commands);
    let taken = job.with_reviews(|reviews| reviews.taken);
    reviewer_allowance(&budget, taken, left).map_err(NoReview::ShareUsedUp)
}

async fn request(
    worker: &Worker,
    job: &Job<'_>,
    proven: &Proven,
    reviewer: &Reviewer,
    allowance: Allowance,
) -> Result<RunRequest, WorkError> {
    let (issue, fence) = (&job.held.issue, fresh_nonce());
    let brief = reviewer_brief(&ReviewerParts {
        repo: worker.forge.repo(),
        issue: issue.number,
        title: &issue.title,
        body: &issue.body,
        comments: &job.comments_so_far(),
        profile: (&reviewer.profile.name, &reviewer.profile.instructions),
        patch: &proven.diff.patch,
        evidence: &format!(
            "{}\n{}",
            evidence_table(&proven.evidence, &proven.shown),
            failed_checks(&proven.evidence.head)
        ),
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
    let allowance = allowance.and(reviewer.narrowed.limits.allowance());
    // The author must have time to address the findings.
    let remaining = job.limits.ends.saturating_duration_since(tokio::time::Instant::now()) / 2;
    Ok(RunRequest {
        session: run.clone(),
        run,
        purpose: RunPurpose::Review,
        repo: worker.forge.repo().clone(),
        issue: issue.number,
        title: title(&issue.title, 200),
        body: rendered(&issue.body).text,
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
        strain: Strain::Usual,
        checks_took: Default::default(),
        candidate: 0,
    })
}
