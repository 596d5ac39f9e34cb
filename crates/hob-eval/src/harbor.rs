//! A task in Harbor's format: `task.toml`, `instruction.md`, `environment/` and `tests/`.
//!
//! What is read of `task.toml` follows version 0.26 of the package `harbor`: `agent.timeout_sec`, `verifier.timeout_sec`, `verifier.env`,
//! `environment.env`, `environment.workdir`. What needs a container is a reason not to try the task.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::Deserialize;

use crate::{
    dockerfile::{self, Copied, Image, NeedsContainer},
    task::{Files, Task, Tests, TestsKind},
    text::{NoText, is_plain, text},
};

/// What tests may take where the task says nothing, as in Harbor.
const TESTS_TIME: f64 = 600.0;
/// The folder of tasks whose environment is empty.
const WORKDIR: &str = "/app";

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TaskFile {
    agent: AgentTable,
    verifier: VerifierTable,
    environment: EnvironmentTable,
    steps: Option<toml::Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AgentTable {
    timeout_sec: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct VerifierTable {
    timeout_sec: Option<f64>,
    env: BTreeMap<String, String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct EnvironmentTable {
    docker_image: Option<String>,
    os: Option<String>,
    gpus: Option<u32>,
    workdir: Option<PathBuf>,
    env: BTreeMap<String, String>,
    mcp_servers: Vec<toml::Value>,
}

/// Why a task cannot be tried here.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotHere {
    #[error("its name may have letters, digits, `-`, `_`, `.` and `+` only")]
    Name,
    #[error("its `task.toml` cannot be read: {}", .0.message())]
    TaskFile(#[from] toml::de::Error),
    #[error(transparent)]
    Text(#[from] NoText),
    #[error("its `instruction.md` is empty")]
    NoInstruction,
    #[error("it has no `tests/test.sh`")]
    NoTests,
    #[error("it needs a variable of the caller's environment: `{0}`")]
    Variable(String),
    /// No folder of this machine can replace it.
    #[error("it wants {0}")]
    Wants(&'static str),
    #[error(transparent)]
    Dockerfile(#[from] NeedsContainer),
    #[error("its image is built with `{0}`, which is not done here: `--assume-built` takes this machine for it")]
    Built(String),
    #[error("`environment/{}`: {source}", path.display())]
    Copied { path: PathBuf, source: io::Error },
    #[error("`environment/{}` is neither a file nor a folder", .0.display())]
    Special(PathBuf),
    #[error("`{0}` is not a time in seconds")]
    Seconds(f64),
}

/// Reads the task in `folder`.
pub(crate) fn read(folder: &Path, name: &str, assume_built: bool) -> Result<Task, NotHere> {
    if !is_plain(name) {
        return Err(NotHere::Name);
    }
    let file: TaskFile = toml::from_str(&text(&folder.join("task.toml"))?)?;
    refuse(&file)?;
    let instruction = text(&folder.join("instruction.md"))?;
    if instruction.trim().is_empty() {
        return Err(NotHere::NoInstruction);
    }
    let context = folder.join("environment");
    let image = image(&context, &file.environment, assume_built)?;
    let copies = image.copies.into_iter().map(|copied| copy(&context, copied)).collect::<Result<_, _>>()?;
    let tests = folder.join("tests");
    if !tests.join("test.sh").is_file() {
        return Err(NotHere::NoTests);
    }
    let recording = Some(folder.join("recording.json")).filter(|file| file.is_file());
    let environment: BTreeMap<String, String> = image.environment.into_iter().chain(file.environment.env).collect();
    let variables = environment.values().chain(file.verifier.env.values());
    if let Some(value) = variables.into_iter().find(|value| value.contains("${")) {
        return Err(NotHere::Variable(value.clone()));
    }
    Ok(Task {
        name: name.to_owned(),
        instruction,
        workdir: file.environment.workdir.filter(|path| path.is_absolute()).unwrap_or(image.workdir),
        time: file.agent.timeout_sec.map(seconds).transpose()?,
        recording,
        files: Files::Copied(copies),
        tests: Tests {
            kind: TestsKind::Folder(tests),
            time: seconds(file.verifier.timeout_sec.unwrap_or(TESTS_TIME))?,
            environment: file.verifier.env,
        },
        environment,
    })
}

/// What no folder of this machine can stand for.
fn refuse(file: &TaskFile) -> Result<(), NotHere> {
    let environment = &file.environment;
    let wants = [
        (file.steps.is_some(), "several steps"),
        (environment.os.as_deref().is_some_and(|os| os != "linux"), "another system than Linux"),
        (environment.gpus.is_some_and(|gpus| gpus > 0), "a GPU"),
        (!environment.mcp_servers.is_empty(), "MCP servers in its environment"),
    ];
    match wants.into_iter().find(|(is_wanted, _)| *is_wanted) {
        Some((_, what)) => Err(NotHere::Wants(what)),
        None => Ok(()),
    }
}

fn image(context: &Path, table: &EnvironmentTable, assume_built: bool) -> Result<Image, NotHere> {
    let has = |name: &str| context.join(name).is_file();
    if has("docker-compose.yaml") || has("docker-compose.yml") {
        return Err(NotHere::Wants("several containers"));
    }
    let image = match has("Dockerfile") {
        true => dockerfile::read(&text(&context.join("Dockerfile"))?)?,
        false => Image {
            workdir: WORKDIR.into(),
            copies: Vec::new(),
            environment: BTreeMap::new(),
            runs: table.docker_image.clone().map(|image| format!("the image {image}")),
        },
    };
    match &image.runs {
        Some(line) if !assume_built => {
            Err(NotHere::Built(line.split_whitespace().take(6).collect::<Vec<_>>().join(" ")))
        }
        Some(_) | None => Ok(image),
    }
}

/// A copy as it is made: a folder's contents, or a file to its own place.
fn copy(context: &Path, copied: Copied) -> Result<(PathBuf, PathBuf), NotHere> {
    let Copied { from, to, into } = copied;
    let source = context.join(&from);
    let kind = source.symlink_metadata().map_err(|source| NotHere::Copied { path: from.clone(), source })?;
    if !kind.is_dir() && !kind.is_file() {
        return Err(NotHere::Special(from));
    }
    let by_name = into && kind.is_file();
    let to = if by_name { to.join(from.file_name().unwrap_or_default()) } else { to };
    Ok((source, to))
}

fn seconds(given: f64) -> Result<Duration, NotHere> {
    let time = Duration::try_from_secs_f64(given).ok().filter(|time| !time.is_zero());
    time.ok_or(NotHere::Seconds(given))
}
