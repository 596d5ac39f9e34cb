//! `hob agent run`: an agent alone on a folder, without a forge.

use std::{
    io::Read,
    path::{Path, PathBuf},
};

use hob_agent::{AgentError, AgentParts, Registry};
use hob_domain::{FailureClass, IMAGE_BYTES_MAX, IMAGES_MAX, Image, Outcome, RunId, RunReport, RunRequest, Spend};
use hob_text::{clip, terminal};
use serde::Serialize;

use crate::cli::{
    agent_args::AgentRunArgs,
    alone::{self, NamedAgent, Task},
    args::Shared,
    exit::{Exit, fatal},
    json,
    local::{TASKS, fresh, may_go_on},
    output,
    screen::Screen,
    sessions,
    setup::Setup,
};

/// Bytes of a task.
const TASK_MAX: usize = 1 << 20;

/// The result of a run, for programs.
#[derive(Debug, Serialize)]
struct Ended<'a> {
    /// `done`, `nothing_to_do`, `question`, `approval_needed`, `hand_off` or `failed`.
    outcome: &'static str,
    /// The agent's final text.
    text: String,
    /// The title of the change; `None` if there is no change, or the agent gave it no title.
    title: Option<&'a str>,
    agent: &'a str,
    session: &'a RunId,
    usd: f64,
    spend: Spend,
    /// Turns of a native agent; `None` for others, which do not report them.
    turns: Option<u32>,
    /// The cached ones of the tokens sent.
    cached_tokens: u64,
}

pub(super) async fn run(
    mut setup: Setup,
    shared: Shared,
    mut args: AgentRunArgs,
    screen: Screen,
) -> anyhow::Result<()> {
    setup.record = std::mem::take(&mut args.record).folder()?;
    let folder = folder(&args.folder)?;
    let task = task(&args.task)?;
    let settings = &setup.settings;
    let name = args.agent.clone().unwrap_or_else(|| settings.local_agent().to_owned());
    let parts =
        AgentParts { record: setup.record.clone(), ..AgentParts::new(settings, &setup.state_dir, &setup.files) };
    let unhealthy = |error: AgentError| fatal(Exit::Unhealthy, error.to_string());
    let agent = Registry::new(parts).and_then(|registry| registry.get(&name)).map_err(unhealthy)?;
    let time = args.time.map_or((settings.limits.attempt_time, "limits.attempt_time"), |time| (time, "--time"));
    let resumed = args.resume.as_deref().map(|text| resumed(&setup, text, &name)).transpose()?;
    let mut request = alone::request(
        settings,
        Task { text: &task, checks: &args.check, images: images(&args.image)?, folder, time },
    )?;
    if let Some(session) = resumed {
        (request.run, request.session) = (fresh(session.as_str()), session);
    }
    let agent = NamedAgent { name: &name, agent: agent.as_ref() };
    let report = alone::run(&setup, &shared, agent, args.auto_approve.into(), &request, &screen).await?;
    tell(&setup, &shared, &name, &request, &report)
}

/// The session that goes on.
fn resumed(setup: &Setup, text: &str, agent: &str) -> anyhow::Result<RunId> {
    let found = sessions::open(setup).find(text, Some(&TASKS.parse()?));
    let found = found.map_err(|error| fatal(Exit::NotFound, error.to_string()))?;
    may_go_on(&found)?;
    if found.agent != agent {
        let why = format!("session `{}` belongs to agent `{}`\nhint: add `--agent {1}`", found.id, found.agent);
        return Err(fatal(Exit::Usage, why));
    }
    Ok(found.id)
}

fn folder(folder: &Path) -> anyhow::Result<PathBuf> {
    match folder.canonicalize() {
        Ok(folder) if folder.is_dir() => Ok(folder),
        Ok(_) => Err(fatal(Exit::Usage, format!("`{}` is not a folder", folder.display()))),
        Err(error) => Err(fatal(Exit::NotFound, format!("cannot use the folder `{}`: {error}", folder.display()))),
    }
}

/// The text of the task: a file's, or standard input's.
fn task(file: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    let most = TASK_MAX as u64 + 1;
    let read = match file.as_os_str() == "-" {
        true => std::io::stdin().lock().take(most).read_to_string(&mut text),
        false => std::fs::File::open(file).and_then(|file| file.take(most).read_to_string(&mut text)),
    };
    read.map_err(|error| fatal(Exit::NotFound, format!("cannot read the task `{}`: {error}", file.display())))?;
    if text.len() > TASK_MAX {
        return Err(fatal(Exit::Usage, format!("the task has more than {TASK_MAX} bytes")));
    }
    if text.trim().is_empty() {
        return Err(fatal(Exit::Usage, "the task is empty".to_owned()));
    }
    Ok(text)
}

/// The images that are named.
fn images(files: &[PathBuf]) -> anyhow::Result<Vec<Image>> {
    if files.len() > IMAGES_MAX {
        return Err(fatal(Exit::Usage, format!("a task may have at most {IMAGES_MAX} images")));
    }
    let read = |file: &PathBuf| {
        let mut bytes = Vec::new();
        let most = IMAGE_BYTES_MAX as u64 + 1;
        std::fs::File::open(file)
            .and_then(|file| file.take(most).read_to_end(&mut bytes))
            .map_err(|error| fatal(Exit::NotFound, format!("cannot read the image `{}`: {error}", file.display())))?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let unfit = |error| fatal(Exit::Usage, format!("cannot show the image `{}`: {error}", file.display()));
        Image::new(&name, bytes).map_err(unfit)
    };
    files.iter().map(read).collect()
}

/// Prints the result; a run that is not done is also an error.
fn tell(setup: &Setup, shared: &Shared, agent: &str, request: &RunRequest, report: &RunReport) -> anyhow::Result<()> {
    let record = sessions::open(setup).record(&request.session);
    let turns = record.as_ref().map(|record| record.metrics.turns).filter(|turns| *turns > 0);
    let cached_tokens = record.map_or(0, |record| record.metrics.cached_tokens);
    let (outcome, spend, session) = (&report.outcome, report.spend, &request.session);
    let usd = spend.usd();
    if shared.json {
        let (kind, text, title) = alone::said(outcome);
        json::result(&Ended { outcome: kind, text, title, agent, session, usd, spend, turns, cached_tokens })?;
    } else {
        let turns = turns.map(|turns| format!(", {}", hob_text::count(turns, "turn"))).unwrap_or_default();
        output::line(format!("{}\n{spend}{turns}; session {session}", terminal(&sessions::outcome(outcome))))?;
    }
    match outcome {
        Outcome::Done { .. } | Outcome::NothingToDo { .. } => Ok(()),
        Outcome::Failed { failure: FailureClass::Cancelled, .. } => {
            let how = format!("`hob agent run --resume {session}` with the same folder and task continues it");
            Err(fatal(Exit::Unfinished, format!("stopped before the task was done\nhint: {how}")))
        }
        unfinished => {
            let why = sessions::outcome(unfinished).split_whitespace().collect::<Vec<_>>().join(" ");
            Err(fatal(Exit::Unfinished, format!("the task is not done: {}", clip(&why, 1_000))))
        }
    }
}
