//! `hob eval run PATH`: an agent on many tasks with hidden tests. `hob eval compare`: the difference between two such runs.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::{StreamExt, stream};
use hob_agent::{AgentBackend, AgentError, AgentParts, Approval, Executor, Registry, RunContext};
use hob_config::{BackendKind, child_environment};
use hob_domain::{FailureClass, Outcome, RunReport, RunRequest};
use hob_eval::{
    Comparison, EvalError, Found, Heading, LimitKind, Results, Score, Scratch, SweBenchParts, Task, Trial, Unusable,
    Verdict, Verifier, find_tasks,
};
use hob_process::Exit as ProcessExit;
use hob_sandbox::{Tier, probe};
use hob_text::{clip, count, terminal};
use hob_worker::sandbox_of_tier;
use serde::Serialize;
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::cli::{
    alone,
    args::Shared,
    eval_args::{CompareArgs, TasksArgs},
    exit::{Exit, fatal},
    json,
    layout::Table,
    output,
    progress::Verbosity,
    screen::Screen,
    sessions,
    setup::{Setup, launcher, sandbox_of},
    signals::stop_on_signal,
};

/// Bytes of a sentence in the results.
const WHY_MAX: usize = 1_000;
/// The time of the tests of an instance of SWE-bench, as long as in its own harness.
const TESTS_TIME: Duration = Duration::from_secs(1_800);
/// The agent of `--recorded`.
const NATIVE: &str = "native";

/// The parts that all trials need.
struct Evaluation {
    setup: Setup,
    agent: String,
    /// The agent; `None` if each task's recording makes its own.
    backend: Option<Arc<dyn AgentBackend>>,
    executor: Executor,
    verifier: Verifier,
    time: Option<Duration>,
    approval: Approval,
    cancel: CancellationToken,
    screen: Screen,
    verbosity: Verbosity,
}

/// A trial that came to its end, with the data kept beside it.
struct Ended {
    trial: Trial,
    patch: String,
    output: String,
}

/// The report of an evaluation, for programs.
#[derive(Debug, Serialize)]
struct Report<'a> {
    agent: &'a str,
    model: Option<&'a str>,
    results: PathBuf,
    #[serde(flatten)]
    score: Score,
    unusable: Vec<Unusable>,
    /// Tasks that could not be tried to their end, which the next run tries again.
    failed: Vec<Unusable>,
    trials: &'a [Trial],
}

pub(super) async fn run(mut setup: Setup, shared: Shared, mut args: TasksArgs, screen: Screen) -> anyhow::Result<()> {
    setup.record = std::mem::take(&mut args.record).folder()?;
    let path = args.path.clone().unwrap_or_default();
    let Found { tasks, unusable } = found(&path, &args)?;
    if let Some(missing) = probe(Tier::Box).missing {
        return Err(fatal(
            Exit::Unhealthy,
            format!("the tests of tasks run in a box, which this machine cannot make: {missing}"),
        ));
    }
    let agent = agent(&setup, &args)?;
    let model = if args.recorded { Some("recorded".to_owned()) } else { model(&setup, &agent) };
    let heading = Heading {
        agent: agent.clone(),
        model: model.clone(),
        tasks: path.to_string_lossy().into_owned(),
        hob: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let folder = args.results.clone().unwrap_or_else(|| default_results(&path, &agent));
    let mut results = Results::open(&folder, heading).map_err(usage)?;
    let wanted: Vec<Task> = tasks.into_iter().filter(|task| !results.has(&task.name)).collect();
    if !results.trials().is_empty() {
        output::note(format!("{} already in `{}`", count(results.trials().len(), "trial"), folder.display()));
    }
    let jobs = args.jobs.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from);
    let evaluation = Evaluation::new(setup, &shared, &args, agent, screen)?;
    let failed = evaluation.all(&wanted, jobs, &shared, &mut results).await?;
    evaluation.screen.close();
    let trials = results.trials();
    let score = Score::new(trials);
    if shared.json {
        let (agent, model) = (evaluation.agent.as_str(), model.as_deref());
        json::result(&Report { agent, model, results: folder, score, unusable, failed: failed.clone(), trials })?;
    } else {
        let row = (evaluation.agent.clone(), model.unwrap_or_default(), score);
        table(&[row])?;
        output::line(format!("results in `{}`", folder.display()))?;
    }
    match failed.first() {
        None => Ok(()),
        Some(Unusable { task, why }) => Err(fatal(
            Exit::Unfinished,
            format!(
                "{} did not finish, the first is `{task}`: {why}\nhint: run the same command again to continue",
                count(failed.len(), "task")
            ),
        )),
    }
}

/// The requested tasks.
fn found(path: &Path, args: &TasksArgs) -> anyhow::Result<Found> {
    let parts = SweBenchParts {
        repositories: args.repositories.clone(),
        test_command: args.test_command.clone(),
        tests_time: TESTS_TIME,
    };
    let mut found = find_tasks(path, args.assume_built, &parts).map_err(usage)?;
    let is_wanted = |name: &str| args.only.is_empty() || args.only.iter().any(|part| name.contains(part.as_str()));
    found.tasks.retain(|task| is_wanted(&task.name));
    found.unusable.retain(|task| is_wanted(&task.task));
    found.tasks.truncate(args.limit.unwrap_or(usize::MAX));
    if args.recorded {
        let bare = found.tasks.iter().filter(|task| task.recording.is_none());
        let why = "it has no `recording.json`".to_owned();
        found.unusable.extend(bare.map(|task| Unusable { task: task.name.clone(), why: why.clone() }));
        found.tasks.retain(|task| task.recording.is_some());
    }
    for Unusable { task, why } in &found.unusable {
        output::note(format!("{}: not tried: {}", terminal(task), terminal(why)));
    }
    match found.tasks.is_empty() {
        true => Err(fatal(Exit::Usage, format!("no task of `{}` can be tried", path.display()))),
        false => Ok(found),
    }
}

fn usage(error: EvalError) -> anyhow::Error {
    let exit = match &error {
        EvalError::Unfit(_) => Exit::Usage,
        EvalError::File { source, .. } if source.kind() == std::io::ErrorKind::NotFound => Exit::NotFound,
        EvalError::File { .. } | EvalError::Process(_) | EvalError::Git { .. } => Exit::Failure,
    };
    fatal(exit, error.to_string())
}

fn agent(setup: &Setup, args: &TasksArgs) -> anyhow::Result<String> {
    match (&args.agent, args.recorded) {
        (Some(name), true) if name != NATIVE => {
            Err(fatal(Exit::Usage, format!("recordings are played by the agent `{NATIVE}`, not by `{name}`")))
        }
        (_, true) => Ok(NATIVE.to_owned()),
        (Some(name), false) => Ok(name.clone()),
        (None, false) => Ok(setup.settings.agent.clone()),
    }
}

/// The model of an agent, as far as the settings say it.
fn model(setup: &Setup, agent: &str) -> Option<String> {
    let own = setup.settings.agents.get(agent);
    let is_native = own.map_or(agent == NATIVE, |own| own.backend == BackendKind::Native);
    let default = setup.settings.model.default.clone().filter(|_| is_native);
    own.and_then(|own| own.model.clone()).or(default)
}

/// Beside the working folder, by the names of tasks and agent.
fn default_results(path: &Path, agent: &str) -> PathBuf {
    let absolute = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = absolute.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Path::new("eval-results").join(format!("{name}-{agent}"))
}

impl Evaluation {
    fn new(setup: Setup, shared: &Shared, args: &TasksArgs, agent: String, screen: Screen) -> anyhow::Result<Self> {
        let backend = if args.recorded { None } else { Some(backend(&setup, &agent, None)?) };
        let boxed = sandbox_of_tier(&setup.settings, Tier::Box, &setup.state_dir, launcher());
        let verifier = Verifier::new(boxed, child_environment());
        let cancel = CancellationToken::new();
        stop_on_signal(cancel.clone(), screen.clone());
        Ok(Self {
            executor: Executor::new(sessions::open(&setup), setup.settings.executor.clone()),
            approval: if args.auto_approve { Approval::Given } else { Approval::Nobody },
            time: args.time,
            verbosity: shared.verbosity(),
            setup,
            agent,
            backend,
            verifier,
            cancel,
            screen,
        })
    }

    /// Tries all tasks, with limited concurrency; returns those that did not come to an end.
    async fn all(
        &self,
        tasks: &[Task],
        jobs: usize,
        shared: &Shared,
        results: &mut Results,
    ) -> anyhow::Result<Vec<Unusable>> {
        let mut trials = stream::iter(tasks).map(|task| async move { (task, self.trial(task).await) });
        let mut trials = std::pin::pin!(trials.by_ref().buffer_unordered(jobs));
        let (mut failed, mut number) = (Vec::new(), 0);
        while let Some((task, ended)) = trials.next().await {
            number += 1;
            match ended {
                Ok(Ended { trial, patch, output }) => {
                    if shared.json {
                        json::event(trial_event(&trial)?)?;
                    } else if self.verbosity != Verbosity::Quiet {
                        self.screen.line(format!("[{number}/{}] {}", tasks.len(), told(&trial)));
                    }
                    results.add(task, trial, &patch, &output)?;
                }
                Err(error) => {
                    let why = clip(&error.to_string(), WHY_MAX);
                    if !self.cancel.is_cancelled() {
                        self.screen.line(format!(
                            "[{number}/{}] {}: did not finish: {}",
                            tasks.len(),
                            task.name,
                            terminal(&why)
                        ));
                    }
                    failed.push(Unusable { task: task.name.clone(), why });
                }
            }
        }
        Ok(failed)
    }

    /// Tries one task: the agent, then the tests.
    async fn trial(&self, task: &Task) -> anyhow::Result<Ended> {
        if self.cancel.is_cancelled() {
            anyhow::bail!("the evaluation was stopped");
        }
        let backend = match (&self.backend, &task.recording) {
            (Some(backend), _) => Arc::clone(backend),
            (None, recording) => backend(&self.setup, &self.agent, recording.as_deref())?,
        };
        let place = self.setup.state_dir.join("eval");
        let scratch = Scratch::make(task, &place, &child_environment()).await?;
        let request = self.request(task, &scratch)?;
        let began = Instant::now();
        let RunReport { outcome, spend } = self.agent_run(task, backend.as_ref(), &request).await?;
        let seconds = (began.elapsed().as_secs_f64() * 100.0).round() / 100.0;
        if let Some(why) = no_answer(&outcome) {
            anyhow::bail!("{why}");
        }
        let patch = scratch.patch().await?;
        let verdict = self.verifier.verify(task, &scratch, &self.cancel).await?;
        if verdict.exit == ProcessExit::Cancelled {
            anyhow::bail!("the evaluation was stopped");
        }
        let metrics = sessions::open(&self.setup).record(&request.session).map(|record| record.metrics);
        let metrics = metrics.unwrap_or_default();
        let (kind, said, _title) = alone::said(&outcome);
        let limit = if kind == "failed" { LimitKind::named_in(&said) } else { None };
        let trial = Trial {
            task: task.name.clone(),
            solved: verdict.is_solved(),
            reward: verdict.reward,
            outcome: kind.to_owned(),
            limit,
            why: clip(&why(&said, &verdict), WHY_MAX),
            usd: spend.usd_micros as f64 / 1e6,
            input_tokens: spend.input_tokens,
            cached_tokens: metrics.cached_tokens,
            output_tokens: spend.output_tokens,
            turns: metrics.turns,
            seconds,
            patch_bytes: patch.len() as u64,
            session: request.session.to_string(),
        };
        Ok(Ended { trial, patch, output: verdict.output })
    }

    fn request(&self, task: &Task, scratch: &Scratch) -> anyhow::Result<RunRequest> {
        let settings = &self.setup.settings;
        let most = self.time.map_or((settings.limits.attempt_time, "limits.attempt_time"), |time| (time, "--time"));
        let time = match task.time {
            Some(time) if time < most.0 => (time, "agent.timeout_sec"),
            Some(_) | None => most,
        };
        let text = format!(
            "{}\n\nWhere the task says `{}`, it means the folder that you work in.\n",
            task.instruction.trim(),
            task.workdir.display()
        );
        alone::request(
            settings,
            alone::Task { text: &text, checks: &[], images: Vec::new(), folder: scratch.folder(), time },
        )
    }

    async fn agent_run(
        &self,
        task: &Task,
        backend: &dyn AgentBackend,
        request: &RunRequest,
    ) -> Result<RunReport, AgentError> {
        let sandbox = sandbox_of(&self.setup.settings, &self.setup.state_dir).await;
        let sandbox = sandbox.showing(task.workdir.clone(), request.folder.clone());
        let (sender, mut progress) = mpsc::channel(256);
        let context = RunContext::new(self.cancel.child_token(), sender, child_environment(), sandbox);
        let context = context.asking(self.approval.clone());
        let run = async {
            let report = self.executor.run(&self.agent, backend, request, &context).await;
            drop(context);
            report
        };
        let show = async {
            while let Some(progress) = progress.recv().await {
                if self.verbosity == Verbosity::Everything && !progress.text.is_empty() {
                    self.screen.line(format!("{}: {}", task.name, terminal(&progress.text)));
                }
            }
        };
        tokio::join!(run, show).0
    }
}

/// The agent, whose model plays a recording if there is one.
fn backend(setup: &Setup, name: &str, recording: Option<&Path>) -> anyhow::Result<Arc<dyn AgentBackend>> {
    let mut parts =
        AgentParts { record: setup.record.clone(), ..AgentParts::new(&setup.settings, &setup.state_dir, &setup.files) };
    if let Some(recording) = recording {
        // The recording is the whole model, whichever the agent's settings name.
        parts.model.default = Some(format!("cassette/{}", recording.display()));
        if let Some(agent) = parts.agents.get_mut(name) {
            (agent.model, agent.fallback) = (None, Vec::new());
        }
    }
    let unhealthy = |error: AgentError| fatal(Exit::Unhealthy, error.to_string());
    Registry::new(parts).and_then(|registry| registry.get(name)).map_err(unhealthy)
}

/// Why a run says nothing of the agent: its model, its program or this machine failed, or it was stopped.
fn no_answer(outcome: &Outcome) -> Option<&str> {
    let Outcome::Failed { reason, failure } = outcome else { return None };
    match failure {
        // Its own time is a limit, and so its result counts.
        FailureClass::Unfinished if LimitKind::named_in(reason).is_some() => None,
        FailureClass::Permanent | FailureClass::NeedsHuman => None,
        FailureClass::Transient { .. }
        | FailureClass::Unfinished
        | FailureClass::QuotaExhausted { .. }
        | FailureClass::Misconfigured
        | FailureClass::Cancelled => Some(reason),
    }
}

/// The agent's text, or what the tests lack.
fn why(said: &str, verdict: &Verdict) -> String {
    match (verdict.reward, verdict.exit) {
        (Some(_), _) => verdict.complaint.clone().unwrap_or_else(|| said.to_owned()),
        (None, ProcessExit::Deadline) => "the tests timed out".to_owned(),
        (None, exit) => format!("the tests wrote no reward ({exit}): {}", verdict.output.trim()),
    }
}

fn trial_event(trial: &Trial) -> serde_json::Result<serde_json::Value> {
    let mut event = serde_json::to_value(trial)?;
    event["event"] = "trial".into();
    Ok(event)
}

fn told(trial: &Trial) -> String {
    let verdict = match (trial.solved, trial.limit) {
        (true, _) => output::styled(output::GOOD, "solved"),
        (false, None) => output::styled(output::BAD, "not solved"),
        (false, Some(_)) => output::styled(output::BAD, "not solved, ended by a limit"),
    };
    let turns = if trial.turns == 0 { String::new() } else { format!(", {}", count(trial.turns, "turn")) };
    format!("{}: {verdict}; ${:.4}{turns}, {:.1} s", trial.task, trial.usd, trial.seconds)
}

/// A row for each agent and model.
fn table(rows: &[(String, String, Score)]) -> Result<(), output::Unwritable> {
    let heads =
        ["agent", "model", "solved", "95%", "usd", "usd each", "tokens in", "cached", "out", "turns", "seconds"];
    let mut table = Table::new(&heads, &["ended by a limit"]);
    for (agent, model, score) in rows {
        let Score { solved, limited, .. } = score;
        let limits: Vec<String> = score.limits.iter().map(|(name, number)| format!("{name} {number}")).collect();
        let limits = if limits.is_empty() { String::new() } else { format!(" ({})", limits.join(", ")) };
        table.row(vec![
            agent.clone(),
            model.clone(),
            format!("{}/{} {}", solved.count, solved.of, percent(solved.rate)),
            format!("{}–{}", percent(solved.low), percent(solved.high)),
            format!("{:.2}", score.usd),
            score.usd_per_solved.map_or_else(|| "–".to_owned(), |usd| format!("{usd:.4}")),
            score.input_tokens.to_string(),
            percent(score.cached_share),
            score.output_tokens.to_string(),
            format!("{:.1}", score.median_turns),
            format!("{:.1}", score.median_seconds),
            format!("{}{limits}", percent(limited.rate)),
        ]);
    }
    table.print()
}

fn percent(part: f64) -> String {
    format!("{:.0}%", 100.0 * part)
}

pub(super) fn compare(shared: &Shared, args: &CompareArgs) -> anyhow::Result<()> {
    let read = |folder: &PathBuf| Results::read(folder).map_err(usage);
    let runs = args.results.iter().map(read).collect::<anyhow::Result<Vec<_>>>()?;
    let paired = match runs.as_slice() {
        [(_, first), (_, second)] => Some(Comparison::new(first, second)),
        _one_or_many => None,
    };
    if shared.json {
        let rows: Vec<_> =
            runs.iter().map(|(heading, trials)| json!({ "run": heading, "score": Score::new(trials) })).collect();
        return json::result(&json!({ "runs": rows, "paired": paired }));
    }
    let row = |(heading, trials): &(Heading, Vec<Trial>)| {
        (heading.agent.clone(), heading.model.clone().unwrap_or_default(), Score::new(trials))
    };
    table(&runs.iter().map(row).collect::<Vec<_>>())?;
    let Some(paired) = paired else { return Ok(()) };
    let list = |names: &[String]| if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
    output::line(format!(
        "\n{} tried by both; solved by both {}, by neither {}\nonly by the first {}{}\nonly by the second {}{}\n\
         second minus first: {:+.1} points (95%: {:+.1} to {:+.1}), p = {:.3}, {:+.2} USD",
        count(paired.tasks, "task"),
        paired.both,
        paired.neither,
        paired.only_first.len(),
        list(&paired.only_first),
        paired.only_second.len(),
        list(&paired.only_second),
        100.0 * paired.difference,
        100.0 * paired.low,
        100.0 * paired.high,
        paired.p,
        paired.usd,
    ))?;
    if paired.left_out > 0 {
        output::line(format!("left out, since only one of them tried it: {}", count(paired.left_out, "task")))?;
    }
    Ok(())
}
