//! One run of an agent without a forge: for `hob agent run`, `hob eval` and `hob agent investigate`.

use std::{path::PathBuf, time::Duration};

use hob_agent::{AgentBackend, Executor, RunContext, session::Sessions};
use hob_config::{Settings, child_environment};
use hob_domain::{Image, Outcome, Progress, RunId, RunPurpose, RunReport, RunRequest, Strain};
use hob_forge::fresh_nonce;
use hob_text::{rendered, terminal, title};
use hob_words::{BriefParts, ReviewBrief, brief};
use hob_worker::worker_id;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::cli::{
    args::Shared,
    ask::{self, AutoApprove},
    exit::{Exit, fatal},
    investigated,
    local::TASKS,
    output::{self, styled},
    progress::Verbosity,
    screen::Screen,
    sessions,
    setup::{Setup, sandbox_of},
    signals::on_signal,
    stream::TaskStream,
    words::plain,
};

/// How often the run checks whether it was asked to stop.
const LOOKS: Duration = Duration::from_millis(200);

/// A task without a forge.
pub(super) struct Task<'a> {
    /// Its text; the first line is the title.
    pub(super) text: &'a str,
    /// The checks, commands that have to succeed.
    pub(super) checks: &'a [String],
    /// Its images, for a model with vision.
    pub(super) images: Vec<Image>,
    /// The folder that the agent works in.
    pub(super) folder: PathBuf,
    /// Its time limit, and the setting that this comes from.
    pub(super) time: (Duration, &'static str),
}

/// The agent's request for a task, within the limits of the settings.
pub(super) fn request(settings: &Settings, task: Task<'_>) -> anyhow::Result<RunRequest> {
    let (head, body) = task.text.trim().split_once('\n').unwrap_or((task.text.trim(), ""));
    let head = head.trim_start_matches('#').trim();
    let repo = TASKS.parse()?;
    let (review, fence) = (ReviewBrief::default(), fresh_nonce());
    let budgets = settings.budgets();
    let text = brief(&BriefParts {
        repo: &repo,
        issue: 0.into(),
        title: head,
        body,
        profile: None,
        received: None,
        hand_off_to: &[],
        comments: &[],
        answer: None,
        plan: None,
        reports: false,
        review: &review,
        pushed: &[],
        stopped: None,
        named: &[],
        refused_changes: "",
        last_failure: None,
        earlier_work: None,
        conflicts: &[],
        failed_checks: &[],
        left_out: &[],
        unfit: None,
        shown: None,
        findings: &[],
        base_checks: &[],
        checks: task.checks,
        folders: &[],
        memory: &[],
        text_bytes: task.text.len(),
        fence: &fence,
    });
    let id = RunId(worker_id("task").0);
    let (time, time_setting) = task.time;
    Ok(RunRequest {
        run: id.clone(),
        purpose: RunPurpose::Work,
        session: id,
        repo,
        issue: 0.into(),
        title: title(head, 200),
        body: rendered(body).text,
        brief: text,
        folder: task.folder,
        checks: task.checks.to_vec(),
        time,
        time_setting,
        usd_micros: budgets.attempt.usd_micros.into_iter().chain(budgets.issue.usd_micros).min(),
        tokens: budgets.attempt.tokens.into_iter().chain(budgets.issue.tokens).min(),
        approved: Vec::new(),
        investigation: None,
        hand_off_to: Vec::new(),
        images: task.images,
        strain: Strain::Usual,
        checks_took: Default::default(),
        candidate: 0,
    })
}

/// The kind of an outcome, the agent's text, and the title of its change.
pub(super) fn said(outcome: &Outcome) -> (&'static str, String, Option<&str>) {
    let (kind, text) = match outcome {
        Outcome::Done { summary, .. } => ("done", summary.clone()),
        Outcome::NothingToDo { reason } => ("nothing_to_do", reason.clone()),
        Outcome::Question { question } => ("question", question.clone()),
        Outcome::ApprovalNeeded { proposed } => ("approval_needed", proposed.text.clone()),
        Outcome::HandOff(given) => ("hand_off", given.as_question()),
        Outcome::Failed { reason, .. } => ("failed", reason.clone()),
    };
    let title = if let Outcome::Done { title, .. } = outcome { title.as_deref() } else { None };
    (kind, text, title)
}

/// An agent, by its name in the settings.
#[derive(Clone, Copy)]
pub(super) struct NamedAgent<'a> {
    pub(super) name: &'a str,
    pub(super) agent: &'a dyn AgentBackend,
}

/// Runs the agent, and shows its progress.
pub(super) async fn run(
    setup: &Setup,
    shared: &Shared,
    NamedAgent { name, agent }: NamedAgent<'_>,
    auto_approve: AutoApprove,
    request: &RunRequest,
    screen: &Screen,
) -> anyhow::Result<RunReport> {
    let settings = &setup.settings;
    let cancel = CancellationToken::new();
    on_signal(
        cancel.clone(),
        screen.clone(),
        "stopping; the session can be resumed (a second signal exits immediately)",
    );
    let (sessions, session) = (sessions::open(setup), request.session.clone());
    sessions.forget_to_stop(&session);
    let asked_to_stop = tokio::spawn(stop_when_asked(sessions.clone(), session.clone(), cancel.clone()));
    let (sender, progress) = mpsc::channel(256);
    let approval = ask::approval(auto_approve, settings.limits.approval_time, screen);
    let sandbox = sandbox_of(settings, &setup.state_dir).await;
    let context = RunContext::new(cancel.clone(), sender, child_environment(), sandbox).asking(approval);
    let executor = Executor::new(sessions.clone(), settings.runs.clone());
    let run = async {
        let report = executor.run(name, agent, request, &context).await;
        drop(context);
        report
    };
    let mut stream = TaskStream::new(request.run.clone());
    if shared.json {
        let begins = json!({ "event": "agent_started", "agent": name, "session": request.session });
        stream.write(begins, &format!("starting agent `{name}`"), None)?;
    }
    let (report, shown) = tokio::join!(run, show(progress, shared, screen, request, stream, &cancel));
    screen.close();
    asked_to_stop.abort();
    sessions.forget_to_stop(&session);
    shown?;
    report.map_err(|error| fatal(Exit::Unhealthy, error.to_string()))
}

/// Stops the run once `hob pause` or `hob cancel` asks for it.
async fn stop_when_asked(sessions: Sessions, session: RunId, cancel: CancellationToken) {
    loop {
        tokio::time::sleep(LOOKS).await;
        let (sessions, session) = (sessions.clone(), session.clone());
        let asked = tokio::task::spawn_blocking(move || sessions.is_asked_to_stop(&session));
        if asked.await.unwrap_or(false) {
            return cancel.cancel();
        }
    }
}

/// Shows events until the run ends.
async fn show(
    mut progress: mpsc::Receiver<Progress>,
    shared: &Shared,
    screen: &Screen,
    request: &RunRequest,
    mut stream: TaskStream,
    cancel: &CancellationToken,
) -> Result<(), output::Unwritable> {
    // An investigation shows its iterations instead of turns.
    let shows_turns = request.investigation.is_none();
    let mut last = None;
    let mut written = Ok(());
    while let Some(news) = progress.recv().await {
        if shared.json && written.is_ok() {
            written = tell(&mut stream, &news);
            if written.is_err() {
                // The rest of the output cannot be read by anyone.
                cancel.cancel();
            }
        }
        match (news.iteration, shared.verbosity()) {
            (Some(_), Verbosity::Quiet) => {}
            (Some(iteration), Verbosity::Stages | Verbosity::Everything) => {
                let told = (last.as_ref() != Some(&iteration.progress)).then(|| iteration.progress.clone());
                screen.line(investigated::lines(&iteration, told.as_ref()));
                last = told.or(last);
            }
            (None, verbosity)
                if !news.text.is_empty()
                    && (verbosity == Verbosity::Everything || shows_turns && verbosity == Verbosity::Stages) =>
            {
                screen.line(styled(output::DIM, &terminal(&news.text)));
            }
            (None, _) => {}
        }
    }
    written
}

/// Writes an event for programs.
fn tell(stream: &mut TaskStream, news: &Progress) -> Result<(), output::Unwritable> {
    if let Some(iteration) = &news.iteration {
        // Plain data always has a JSON form.
        let mut event = serde_json::to_value(iteration).unwrap_or_default();
        event["event"] = "iteration".into();
        let message = format!("{} {}: {}", iteration.place(), plain(&iteration.action), plain(&iteration.effect));
        stream.write(event, &message, Some(iteration.progress.percent))?;
    }
    if let Some(checklist) = &news.checklist {
        let text = checklist.standing();
        stream.write(activity(&text), &text, Some(checklist.percent()))?;
    }
    if news.text.is_empty() {
        return Ok(());
    }
    stream.write(activity(&news.text), &plain(&news.text), None)
}

fn activity(text: &str) -> Value {
    json!({ "event": "activity", "text": text })
}
