//! One run of the agent: its brief, its limits, what it spends, and the checkpoints of its work.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    time::Duration,
};

use hob_agent::{RunContext, Traffic};
use hob_domain::{
    Allowance, CheckResult, Checklist, Conflict, Deed, FailureClass, HobFiles, Lesson, Login, Note, Outcome, Progress,
    RunId, RunPurpose, RunReport, RunRequest, Spend, Strain, Transition, investigation::Iteration,
};
use hob_forge::fresh_nonce;
use hob_text::{rendered, title, without_tokens};
use hob_words::{BriefParts, brief, investigation_brief};
use hob_workspace::PublicPaths;
use tokio::{
    sync::{mpsc, watch},
    time::Instant,
};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::{
    WorkError, WorkEvent, Worker,
    attempt::{
        active_profile::ActiveProfile,
        advances::{QUEUE, advances},
        branch::{is_reviewed, keep},
        hearing::begin_to_hear,
        job::Job,
        live::follow_checklist,
        loaded_agent::{LoadedAgent, targets},
        outage::note_answer,
        purpose::plan_brief,
        set_up::{SetUp, set_up},
    },
    metrics::{Degraded, METRICS},
    notify::notify,
};

/// Lines of progress that may wait to be shown.
pub(super) const PROGRESS_QUEUE: usize = 256;

/// What the agent begins a round with.
struct Round<'a> {
    /// Counted from 0.
    number: u32,
    /// The checks that the work of the round before failed.
    failed: &'a [CheckResult],
    conflicts: &'a [Conflict],
    /// What people said on the issue since the attempt was prepared.
    meanwhile: Vec<(Login, String)>,
}

/// Runs the agent, and writes what that cost.
pub(super) async fn run_agent(
    worker: &Worker,
    job: &Job<'_>,
    round: u32,
    failed: &[CheckResult],
    allowance: Allowance,
) -> Result<RunReport, WorkError> {
    let active = job.active.now();
    let conflicts = if round == 0 && active.took_over_at.is_none() {
        job.checkout.conflicts().to_vec()
    } else {
        job.checkout.conflicts_left().await?
    };
    let meanwhile = begin_to_hear(job).await;
    let begins = Round { number: round, failed, conflicts: &conflicts, meanwhile };
    let request = request(worker, job, &active, begins, allowance);
    let does = match job.purpose {
        RunPurpose::Work => "running",
        RunPurpose::Plan => "planning with",
        RunPurpose::Report => "reporting with",
        RunPurpose::Review => "reviewing with",
        RunPurpose::Investigate => "investigating with",
    };
    worker.progress(job.number(), &format!("{does} agent `{}`", active.loaded.name));
    worker.emit(&WorkEvent::AgentStarted {
        issue: job.number(),
        run_id: job.run.clone(),
        agent: active.loaded.name.clone(),
        session: active.session.clone(),
    });
    let (sender, lines) = mpsc::channel::<Progress>(PROGRESS_QUEUE);
    let (wishes, asked) = mpsc::channel(QUEUE);
    // Dropped with the run, so that a run that ends early ends its children too.
    let cancel = worker.cancel.child_token();
    // `git` in the agent's folder reads objects that are Hob's.
    let mut sandbox = worker.children.sandbox.clone().reading(job.checkout.borrowed_folders());
    // A run that only reads needs nothing that was fetched.
    if !job.only_reads()
        && let SetUp::Ready(prepared) = set_up(worker, &job.checks(), job.checkout.start()).await?
    {
        job.checkout.take_prepared(&prepared).await?;
        sandbox = sandbox.with_template(prepared.home());
    }
    let context = RunContext::new(cancel.clone(), sender, worker.children.environment.as_ref().clone(), sandbox)
        .asking(worker.children.approval.clone())
        .hearing(job.held.steering.clone())
        .billed(job.held.lease.record().spend, wishes);
    let reached = context.reached.clone();
    let _ends_with_run = cancel.drop_guard();
    let ended = CancellationToken::new();
    let span = tracing::error_span!("agent_run", run = %request.run, agent = active.loaded.name, round);
    let run = async {
        let began = Instant::now();
        let report =
            worker.children.executor.run(&active.loaded.name, active.loaded.agent.as_ref(), &request, &context).await;
        let is_failed = !matches!(&report, Ok(RunReport { outcome, .. }) if !matches!(outcome, Outcome::Failed { .. }));
        METRICS.runs.ended(&active.loaded.name, is_failed, began.elapsed());
        drop(context);
        ended.cancel();
        report
    };
    let run = run.instrument(span);
    let (news, steps) = watch::channel(None);
    let (report, noted, (), (), ()) = tokio::join!(
        run,
        show_progress(worker, job, lines, news),
        checkpoints(worker, job, &ended),
        Box::pin(follow_checklist(worker, job, steps)),
        Box::pin(advances(worker, job, asked, &ended)),
    );
    for (host, Traffic { sent_bytes, received_bytes, refused }) in reached.hosts() {
        let (agent, session) = (active.loaded.name.clone(), request.run.clone());
        worker.tell(job.number(), Deed::Reached { agent, session, host, sent_bytes, received_bytes, refused });
    }
    let RunReport { outcome, spend } = report?;
    job.held.lease.note(Note::Spend(spend.since(noted))).await;
    job.held.lease.note(Note::Heard(job.held.steering.heard())).await;
    if !matches!(outcome, Outcome::Failed { .. }) {
        note_answer(worker, job).await;
    }
    write_spend(worker, job, spend).await?;
    let paths = public_paths(worker, job.checkout.folder());
    Ok(RunReport { outcome: outcome.in_words(|words| without_tokens(&paths.text(words))), spend })
}

fn request(
    worker: &Worker,
    job: &Job<'_>,
    active: &ActiveProfile,
    Round { number, failed, conflicts, meanwhile }: Round<'_>,
    allowance: Allowance,
) -> RunRequest {
    let (record, issue, fence) = (job.held.lease.record(), &job.held.issue, fresh_nonce());
    // A run that only reads is not checked.
    let checks: &[String] = if job.only_reads() { &[] } else { &job.rules.checks };
    let LoadedAgent { profile, limits, .. } = &active.loaded;
    // A person reads a plan or a report first; after an investigation the work may begin.
    let work_of = profile.as_ref().filter(|_| matches!(job.purpose, RunPurpose::Work | RunPurpose::Investigate));
    let hand_off_to = work_of.map(|profile| targets(&job.catalog, profile)).unwrap_or_default();
    let (left_out, unfit) = (job.checkout.left_out(), job.unfit().map(|unfit| unfit.to_string()));
    let comments: Vec<_> = job.comments.iter().cloned().chain(meanwhile).collect();
    let shown = job.for_the_agent().filter(|_| number > 0);
    let parts = BriefParts {
        repo: worker.forge.repo(),
        issue: issue.number,
        title: &issue.title,
        body: &issue.body,
        profile: profile.as_ref().map(|profile| (&profile.name, profile.instructions.as_str())),
        received: record.chain.received(),
        hand_off_to: &hand_off_to,
        comments: &comments,
        answer: record.answer.as_ref(),
        plan: plan_brief(job, &record),
        reports: job.purpose == RunPurpose::Report,
        review: &job.review,
        pushed: &job.pushed_by_people,
        stopped: record.failure.stopped.as_ref(),
        named: &job.named,
        refused_changes: &refused_changes(worker, job),
        last_failure: record.failure.text.as_deref(),
        earlier_work: Some(job.checkout.start()).filter(|start| *start != job.checkout.base()),
        conflicts,
        failed_checks: failed,
        left_out: &left_out,
        unfit: unfit.as_deref(),
        shown: shown.as_deref(),
        findings: &job.findings(),
        base_checks: job.base_checks.get().map_or(&[], Vec::as_slice),
        checks,
        folders: &job.rules.folders,
        memory: &job.memory,
        text_bytes: worker.settings.limits.text_bytes(),
        fence: &fence,
    };
    let text = if job.case.is_some() { investigation_brief(&parts) } else { brief(&parts) };
    let (time, time_setting) = match (time_of(worker, job, allowance), limits.max_time) {
        ((time, _), Some(most)) if most < time => (most, "the profile's `max_time`"),
        (time, _) => time,
    };
    let Allowance { usd_micros, tokens, .. } = allowance.and(limits.allowance());
    RunRequest {
        run: RunId(format!("{}-{number}", active.run)),
        purpose: job.purpose,
        session: active.session.clone(),
        repo: worker.forge.repo().clone(),
        issue: issue.number,
        title: title(&issue.title, 200),
        body: rendered(&issue.body).text,
        brief: text,
        folder: job.checkout.folder().to_owned(),
        checks: checks.to_vec(),
        checks_took: job.checks_took(),
        time,
        time_setting,
        usd_micros,
        tokens,
        approved: record.approval.given.clone(),
        investigation: job.case.clone(),
        hand_off_to,
        images: job.images.clone(),
        strain: Strain::of(
            failed.len(),
            record.failure.text.as_deref(),
            record.route.as_ref().map_or(0, |route| route.complexity),
        ),
        candidate: active.candidate,
    }
}

/// The changes that would not be pushed, in words; empty for a run that changes nothing.
fn refused_changes(worker: &Worker, job: &Job<'_>) -> String {
    let workspace = &worker.settings.workspace;
    if job.only_reads() {
        return String::new();
    }
    hob_domain::refused_changes(&job.rules.protected, HobFiles::Protected, workspace.max_files, workspace.max_file)
}

/// The time of a run, and the setting that it comes from.
fn time_of(worker: &Worker, job: &Job<'_>, allowance: Allowance) -> (Duration, &'static str) {
    const OF_ATTEMPT: &str = "limits.attempt_time";
    let left = job.limits.ends.saturating_duration_since(Instant::now());
    let Some(time) = allowance.time.filter(|time| *time < left) else { return (left, OF_ATTEMPT) };
    let budgets = worker.settings.budgets();
    let whole = job.limits.allowance.time.map(|time| time.as_secs());
    let of_issue = budgets.issue.left(job.limits.began).ok().and_then(|left| left.time).map(|time| time.as_secs());
    let setting = match whole {
        _ if whole == of_issue => "budget.time",
        _ => OF_ATTEMPT,
    };
    (time, setting)
}

/// The replacements for the worker's paths in an agent's text.
pub(super) fn public_paths(worker: &Worker, folder: &Path) -> PublicPaths {
    let state = worker.children.sandbox.homes().and_then(Path::parent).map(Path::to_owned);
    let home = worker.children.environment.get(OsStr::new("HOME")).map(PathBuf::from);
    PublicPaths::new(folder, state.into_iter().chain(home))
}

/// Shows the agent's progress, passes its checklist on, and notes its spend as it grows; returns the total that was
/// noted.
pub(super) async fn show_progress(
    worker: &Worker,
    job: &Job<'_>,
    mut lines: mpsc::Receiver<Progress>,
    steps: watch::Sender<Option<Checklist>>,
) -> Spend {
    let mut noted = Spend::default();
    while let Some(line) = lines.recv().await {
        if let Some(spent) = line.spent {
            // The heartbeat writes it, so that a worker that dies in the middle of a run loses little of its spend.
            if noted == Spend::default() {
                note_answer(worker, job).await;
            }
            job.held.lease.note(Note::Spend(spent.since(noted))).await;
            noted = spent;
        }
        if line.fell_back {
            METRICS.profiles.degraded(Degraded::Model);
        }
        if let Some(checklist) = line.checklist {
            worker.advanced(job.number(), &checklist.standing(), checklist.percent());
            steps.send_replace(Some(checklist.in_words(|step| public_paths(worker, job.checkout.folder()).text(step))));
        }
        if let Some(iteration) = line.iteration {
            let Iteration { action, effect, .. } = &iteration;
            let text = format!("{} {action}: {effect}", iteration.place());
            worker.advanced(job.number(), &text, iteration.progress.percent);
        }
        job.checks().learn(line.tested.as_ref().map(Lesson::of_test));
        if !line.text.is_empty() {
            worker.activity(job.number(), &line.text);
        }
    }
    noted
}

/// Keeps the work on the branch now and then while the agent works, until `ended`.
async fn checkpoints(worker: &Worker, job: &Job<'_>, ended: &CancellationToken) {
    let every = worker.settings.limits.checkpoint;
    while !every.is_zero() && !is_reviewed(job) && !job.only_reads() {
        tokio::select! {
            () = tokio::time::sleep(every) => {}
            () = ended.cancelled() => return,
        }
        if let Err(error) = keep(worker, job).await {
            tracing::warn!(issue = job.number().0, %error, "the work so far could not be kept: {error}");
        }
    }
}

/// Writes the cost of a run to the ledger at once, so that a worker that dies later loses none of it.
pub(super) async fn write_spend(worker: &Worker, job: &Job<'_>, spend: Spend) -> Result<(), WorkError> {
    warn_of_budget(worker, job, spend);
    if spend.usd_micros == 0 && spend.tokens() == 0 {
        return Ok(());
    }
    let written = worker.forge.ledger().transition(&job.held.lease, Transition::RecordSpend(spend)).await;
    notify(worker, &job.held.lease, &job.held.issue.title).await;
    match written {
        Ok(_sentence) => Ok(()),
        // The next transition writes it too, so a failure here must not discard finished work.
        Err(error) if matches!(error.class(), FailureClass::Transient { .. }) => {
            tracing::warn!(issue = job.number().0, %error, "the spend could not be written yet: {error}");
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

/// Says once that the issue's budget is nearly used up.
fn warn_of_budget(worker: &Worker, job: &Job<'_>, spend: Spend) {
    let (record, settings) = (job.held.lease.record(), &worker.settings);
    let (budget, soft, bill) = (settings.budgets().of_issue(&record.commands), settings.limits.soft, record.spend);
    let (before, now) = (budget.used(bill.since(spend)), budget.used(bill));
    if before < soft && soft <= now {
        worker.progress(job.number(), &format!("{:.0}% of the issue's budget is used: {bill}", (now * 100.0).floor()));
    }
}
