//! One run of one agent, measured; and one with a fault, survived or not.

use std::{
    fs,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use anyhow::{Context, anyhow, bail};
use hob_bench::{Fault, Kind, Script, Seen, Times, serve};
use hob_process::Program;

use crate::{
    subject::{Place, Subject},
    tree::{cpu_ms, pss_mb},
};

/// The file that each step adds a line to: the proof that it was run, once.
const STEPS: &str = "steps.txt";
/// Steps of a run with a fault, and the one at which it is played.
const FAULT_STEPS: usize = 3;

/// The cost of one run.
#[derive(Debug, Clone, Default)]
pub(super) struct Cost {
    /// Milliseconds from the start to the first request for a step.
    pub(super) start_ms: f64,
    /// Milliseconds from each step's request to the next one.
    pub(super) steps_ms: Vec<f64>,
    /// CPU of all its processes, a step.
    pub(super) cpu_step_ms: Option<f64>,
    /// Memory of all its processes when the steps are through.
    pub(super) pss_mb: f64,
    /// The first and the last step's request.
    pub(super) request_kb: (f64, f64),
}

/// The figures taken while the agent waits for an answer.
#[derive(Default)]
struct Marks {
    first: Option<(Instant, f64)>,
    last: Option<(f64, f64)>,
}

/// Runs `subject` over `steps` steps.
pub(super) async fn cost(subject: &Subject, steps: usize, time: Duration) -> anyhow::Result<Cost> {
    let steps = if subject.has_steps() { steps } else { 1 };
    let marks = Arc::new(Mutex::new(Marks::default()));
    let watched = Arc::clone(&marks);
    let watch = move |seen: &Seen| {
        let mut marks = watched.lock().unwrap_or_else(PoisonError::into_inner);
        match seen.kind {
            Kind::Step(0) if marks.first.is_none() => marks.first = Some((Instant::now(), cpu_ms())),
            Kind::Ending if marks.last.is_none() => marks.last = Some((cpu_ms(), pss_mb())),
            Kind::Step(_) | Kind::Ending | Kind::Aside | Kind::Other => {}
        }
        if !matches!(seen.kind, Kind::Other | Kind::Aside) && steps == 1 && marks.last.is_none() {
            marks.last = Some((cpu_ms(), pss_mb()));
        }
    };
    let stage = Stage::set(script(steps))?;
    let server = serve(stage.script.clone(), watch).await.context("start the scripted model")?;
    let started = Instant::now();
    let ended = subject.run(&stage.place(server.address(), time, steps)).await;
    ended.and_then(|()| stage.proof(subject, steps)).map_err(|error| anyhow!("{}: {error}", subject.name()))?;
    let seen = server.seen();
    let of_work: Vec<&Seen> = seen.iter().filter(|seen| matches!(seen.kind, Kind::Step(_) | Kind::Ending)).collect();
    let apart = |pair: &[&Seen]| (pair[1].at.saturating_sub(pair[0].at)).as_secs_f64() * 1e3;
    let kb = |seen: Option<&&Seen>| seen.map_or(0.0, |seen| seen.bytes as f64 / 1e3);
    let marks = marks.lock().unwrap_or_else(PoisonError::into_inner);
    let (first, last) = (marks.first.context("no step was asked for")?, marks.last.context("no end was asked for")?);
    Ok(Cost {
        start_ms: first.0.saturating_duration_since(started).as_secs_f64() * 1e3,
        steps_ms: if subject.has_steps() { of_work.windows(2).map(apart).collect() } else { Vec::new() },
        cpu_step_ms: subject.has_steps().then(|| (last.0 - first.1) / steps as f64),
        pss_mb: last.1,
        request_kb: (kb(of_work.first()), kb(of_work.iter().rfind(|seen| matches!(seen.kind, Kind::Step(_))))),
    })
}

/// The end of a run with a fault.
pub(super) enum Survival {
    Survived,
    /// The agent failed, and why.
    Lost(anyhow::Error),
}

/// Runs `subject` with `fault` played once.
pub(super) async fn survives(subject: &Subject, fault: Fault, time: Duration) -> anyhow::Result<Survival> {
    let (steps, at) = if subject.has_steps() { (FAULT_STEPS, 1) } else { (1, 0) };
    let stage = Stage::set(script(steps).fault(at, fault, Times::Once))?;
    let server = serve(stage.script.clone(), |_| {}).await.context("start the scripted model")?;
    let ended = subject.run(&stage.place(server.address(), time, steps)).await;
    Ok(match ended.and_then(|()| stage.proof(subject, steps)) {
        Ok(()) => Survival::Survived,
        Err(error) => Survival::Lost(error),
    })
}

fn script(steps: usize) -> Script {
    Script::new((0..steps).map(|step| format!("echo {step} >> {STEPS}"))).edit(STEPS, "0")
}

/// The folders of one run.
struct Stage {
    script: Script,
    folder: PathBuf,
    root: tempfile::TempDir,
}

impl Stage {
    fn set(script: Script) -> anyhow::Result<Self> {
        let root = tempfile::Builder::new().prefix("hob-bench-").tempdir()?;
        let folder = root.path().join("folder");
        fs::create_dir(&folder)?;
        fs::write(folder.join("README.md"), "A folder to measure agents in.\n")?;
        git2::Repository::init(&folder)?;
        Ok(Self { script, folder, root })
    }

    fn place<'a>(&'a self, model: &'a str, time: Duration, steps: usize) -> Place<'a> {
        Place { model, folder: &self.folder, state: self.root.path(), time, steps }
    }

    /// Checks that all steps were run, each once.
    fn proof(&self, subject: &Subject, steps: usize) -> anyhow::Result<()> {
        let written = fs::read_to_string(self.folder.join(STEPS)).unwrap_or_default();
        let wanted: Vec<String> = (0..steps).map(|step| step.to_string()).collect();
        let written: Vec<&str> = written.lines().filter(|line| !line.is_empty()).collect();
        if written == wanted { Ok(()) } else { bail!("{} ran {} of {steps} steps", subject.name(), written.len()) }
    }
}

/// Makes sure that the program of a subject is warm: in the page cache, and its version known.
pub(super) async fn warm(subject: &Subject, time: Duration) -> anyhow::Result<()> {
    cost(subject, 1, time).await.map(drop)
}

/// The version that a peer's program prints, for the table's note.
pub(super) async fn version(subject: &Subject) -> Option<String> {
    let Subject::Peer(_, program) = subject else { return None };
    let flag = if program.ends_with("mini") { "--help" } else { "--version" };
    let asked = Program::of_hob(program, &hob_config::child_environment()).arg(flag);
    let said = asked.run(&tokio_util::sync::CancellationToken::new()).await.ok()?;
    let said = said.stdout.text();
    let is_version = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit()) && word.matches('.').count() >= 2;
    said.split_whitespace().find(is_version).map(|word| word.trim_end_matches('.').to_owned())
}
