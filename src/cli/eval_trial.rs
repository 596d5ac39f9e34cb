//! One trial of `hob eval run`: an agent, or none, on one task, and what the task's tests say of it.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use hob_agent::{AgentBackend, AgentError, AgentParts, Approval, Executor, Registry, RunContext};
use hob_config::child_environment;
use hob_domain::{FailureClass, Outcome, RunReport, RunRequest};
use hob_eval::{
    Baseline, Engine, EvalError, LimitKind, Place, Scratch, Task, Trial, Verdict, Verifier, fetches, try_baseline,
    unusable,
};
use hob_process::Exit as ProcessExit;
use hob_sandbox::Tier;
use hob_text::{clip, terminal};
use hob_worker::sandbox_of_tier;
use tokio::sync::{OnceCell, mpsc};
use tokio_util::sync::CancellationToken;

use crate::cli::{
    alone,
    args::Shared,
    eval_args::{BaselineArg, TasksArgs},
    exit::{Exit, fatal},
    progress::Verbosity,
    screen::Screen,
    sessions,
    setup::{Setup, launcher, sandbox_of},
    signals::on_signal,
};

/// What a first signal does to an evaluation.
const STOPPING: &str = "stopping: trials that have ended are kept (a second signal exits immediately)";
/// Bytes of a sentence in the results.
pub(super) const WHY_MAX: usize = 1_000;

/// The parts that all trials need.
pub(super) struct Evaluation {
    setup: Setup,
    pub(super) agent: String,
    solver: Solver,
    place: Place,
    executor: Executor,
    verifier: Verifier,
    time: Option<Duration>,
    approval: Approval,
    pub(super) cancel: CancellationToken,
    pub(super) screen: Screen,
    pub(super) verbosity: Verbosity,
}

/// What works on the tasks, and what makes the images that some of them need.
pub(super) struct By {
    pub(super) agent: String,
    pub(super) engine: Option<Engine>,
}

/// A trial that came to its end, with the data kept beside it.
pub(super) struct Ended {
    pub(super) trial: Trial,
    pub(super) patch: String,
    pub(super) output: String,
}

/// What works on the tasks.
enum Solver {
    /// An agent.
    Agent(Arc<dyn AgentBackend>),
    /// The native agent, with each task's recording as its model.
    Recorded,
    /// No agent.
    Baseline(Baseline),
}

/// What came of an attempt.
pub(super) enum Tried {
    /// It counts.
    Ended(Box<Ended>),
    /// The tests cannot run here: why.
    Unusable(String),
}

/// A task with what is known of its tests on this machine.
pub(super) struct Entry {
    pub(super) task: Task,
    /// Why they cannot tell whether it is solved, once that was tried.
    unusable: OnceCell<Option<String>>,
}

impl Entry {
    /// A task of whose tests nothing is known.
    pub(super) fn new(task: Task) -> Self {
        Self { task, unusable: OnceCell::new() }
    }
}

/// What runs tests, and where.
pub(super) struct Bench {
    pub(super) verifier: Verifier,
    pub(super) place: Place,
}

/// The tests of tasks run in boxes; the folders of trials are below Hob's state.
pub(super) fn bench(setup: &Setup, engine: Option<Engine>) -> Bench {
    let boxed = sandbox_of_tier(&setup.settings, Tier::Box, &setup.state_dir, launcher());
    let place = Place::new(&setup.state_dir.join("eval"), child_environment(), engine);
    Bench { verifier: Verifier::new(boxed), place }
}

impl Evaluation {
    pub(super) fn new(setup: Setup, shared: &Shared, args: &TasksArgs, by: By, screen: Screen) -> anyhow::Result<Self> {
        let agent = by.agent;
        let solver = match (args.baseline, args.recorded) {
            (Some(BaselineArg::Nothing), _) => Solver::Baseline(Baseline::Nothing),
            (Some(BaselineArg::Solution), _) => Solver::Baseline(Baseline::Solution),
            (None, true) => Solver::Recorded,
            (None, false) => Solver::Agent(backend(&setup, &agent, None)?),
        };
        let Bench { verifier, place } = bench(&setup, by.engine);
        let cancel = CancellationToken::new();
        on_signal(cancel.clone(), screen.clone(), STOPPING);
        Ok(Self {
            executor: Executor::new(sessions::open(&setup), setup.settings.runs.clone()),
            approval: if args.auto_approve { Approval::Given } else { Approval::Nobody },
            time: args.time,
            verbosity: shared.verbosity(),
            setup,
            agent,
            solver,
            place,
            verifier,
            cancel,
            screen,
        })
    }

    /// One attempt at a task. An image that cannot be made is a reason not to try it.
    pub(super) async fn attempt(&self, entry: &Entry, attempt: u32) -> anyhow::Result<Tried> {
        let tried = self.attempted(entry, attempt).await;
        if self.cancel.is_cancelled() {
            anyhow::bail!("the evaluation was stopped");
        }
        tried.or_else(|error| match error.downcast_ref::<EvalError>() {
            Some(EvalError::Engine { .. } | EvalError::Unfit(_)) => Ok(Tried::Unusable(error.to_string())),
            Some(EvalError::File { .. } | EvalError::Process(_) | EvalError::Git { .. }) | None => Err(error),
        })
    }

    /// The agent, then the tests. Where it is doubtful whether they can run here, the task's own solution tells.
    async fn attempted(&self, entry: &Entry, attempt: u32) -> anyhow::Result<Tried> {
        if self.cancel.is_cancelled() {
            anyhow::bail!("the evaluation was stopped");
        }
        // Tests that fetch what they need are tried before an agent costs anything.
        if fetches(&entry.task)
            && let Some(why) = self.unusable(entry).await?
        {
            return Ok(Tried::Unusable(why));
        }
        let tried = match &self.solver {
            Solver::Baseline(baseline) => self.baseline(&entry.task, *baseline, attempt).await?,
            Solver::Agent(backend) => Some(self.trial(&entry.task, backend.as_ref(), attempt).await?),
            Solver::Recorded => {
                let backend = backend(&self.setup, &self.agent, entry.task.recording.as_deref())?;
                Some(self.trial(&entry.task, backend.as_ref(), attempt).await?)
            }
        };
        let Some((ended, doubt)) = tried else {
            return Ok(Tried::Unusable("it has no solution".to_owned()));
        };
        // What is not solved counts only if the task can be solved here.
        let is_doubtful = doubt.is_some() || (!ended.trial.solved && entry.task.has_solution());
        if is_doubtful && let Some(why) = self.unusable(entry).await? {
            return Ok(Tried::Unusable(why));
        }
        Ok(Tried::Ended(Box::new(ended)))
    }

    /// Why the tests of a task cannot run here.
    async fn unusable(&self, entry: &Entry) -> anyhow::Result<Option<String>> {
        let found = || unusable(&self.verifier, &entry.task, &self.place, &self.cancel);
        let found = entry.unusable.get_or_try_init(found).await?.clone();
        if self.cancel.is_cancelled() {
            anyhow::bail!("the evaluation was stopped");
        }
        Ok(found)
    }

    /// A trial without an agent; `None` if the task has no solution.
    async fn baseline(
        &self,
        task: &Task,
        baseline: Baseline,
        attempt: u32,
    ) -> anyhow::Result<Option<(Ended, Option<String>)>> {
        let began = Instant::now();
        let tried = try_baseline(&self.verifier, task, baseline, &self.place, &self.cancel).await?;
        let Some((scratch, verdict)) = tried else { return Ok(None) };
        let patch = scratch.patch().await?;
        let trial = Trial {
            attempt,
            outcome: "done".to_owned(),
            seconds: seconds(began),
            ..judged(task, &verdict, "", &patch)
        };
        self.ended(trial, patch, verdict).map(Some)
    }

    /// A trial that its verdict ends, and why its tests may not have run.
    fn ended(&self, trial: Trial, patch: String, verdict: Verdict) -> anyhow::Result<(Ended, Option<String>)> {
        if verdict.exit == ProcessExit::Cancelled {
            anyhow::bail!("the evaluation was stopped");
        }
        let doubt = verdict.doubt();
        Ok((Ended { trial, patch, output: verdict.output }, doubt))
    }

    /// One trial of an agent.
    async fn trial(
        &self,
        task: &Task,
        backend: &dyn AgentBackend,
        attempt: u32,
    ) -> anyhow::Result<(Ended, Option<String>)> {
        let scratch = self.place.make(task, &self.cancel).await?;
        let request = self.request(task, &scratch)?;
        let began = Instant::now();
        let RunReport { outcome, spend } = self.agent_run(task, backend, &request, &scratch).await?;
        let seconds = seconds(began);
        if let Some(why) = no_answer(&outcome) {
            anyhow::bail!("{why}");
        }
        let patch = scratch.patch().await?;
        let verdict = self.verifier.verify(task, &scratch, &self.cancel).await?;
        let metrics = sessions::open(&self.setup).record(&request.session).map(|record| record.metrics);
        let metrics = metrics.unwrap_or_default();
        let (kind, said, _title) = alone::said(&outcome);
        let trial = Trial {
            attempt,
            outcome: kind.to_owned(),
            limit: if kind == "failed" { LimitKind::named_in(&said) } else { None },
            usd: spend.usd_micros as f64 / 1e6,
            input_tokens: spend.input_tokens,
            cached_tokens: metrics.cached_tokens,
            output_tokens: spend.output_tokens,
            turns: metrics.turns,
            seconds,
            session: request.session.to_string(),
            ..judged(task, &verdict, &said, &patch)
        };
        self.ended(trial, patch, verdict)
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
            scratch.workdir().display()
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
        scratch: &Scratch,
    ) -> Result<RunReport, AgentError> {
        let sandbox = sandbox_of(&self.setup.settings, &self.setup.state_dir).await;
        let sandbox = scratch.sandbox(sandbox, task.reach);
        let (sender, mut progress) = mpsc::channel(256);
        let context = RunContext::new(self.cancel.child_token(), sender, scratch.environment().clone(), sandbox);
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

/// What the verdict says of a trial; the rest is its agent's.
fn judged(task: &Task, verdict: &Verdict, said: &str, patch: &str) -> Trial {
    Trial {
        task: task.name.clone(),
        solved: verdict.is_solved(),
        reward: verdict.reward,
        why: clip(&why(said, verdict), WHY_MAX),
        patch_bytes: patch.len() as u64,
        ..Trial::default()
    }
}

/// The seconds since, in hundredths.
fn seconds(began: Instant) -> f64 {
    (began.elapsed().as_secs_f64() * 100.0).round() / 100.0
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
    match (verdict.reward, verdict.silence()) {
        (None, Some(silence)) => format!("{silence}: {}", verdict.output.trim()),
        (Some(_), _) | (None, None) => verdict.complaint.clone().unwrap_or_else(|| said.to_owned()),
    }
}
