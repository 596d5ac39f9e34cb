//! A task in Harbor's format: `task.toml`, `instruction.md`, `environment/` and `tests/`.
//!
//! What is read of `task.toml` follows version 0.26 of the package `harbor`: `agent.timeout_sec`, `verifier.timeout_sec`, `verifier.env`,
//! `environment.env`, `environment.workdir`. What needs a container is a reason not to try the task.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::Deserialize;

use crate::{
    dockerfile::{self, Copied, Image},
    task::{Files, Task, Tests, TestsKind, is_plain, text},
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

/// Reads the task in `folder`; the error says why it cannot be tried here.
pub(crate) fn read(folder: &Path, name: &str, assume_built: bool) -> Result<Task, String> {
    if !is_plain(name) {
        return Err("its name may have letters, digits, `-`, `_`, `.` and `+` only".to_owned());
    }
    let file: TaskFile = toml::from_str(&text(&folder.join("task.toml"))?)
        .map_err(|error| format!("its `task.toml` cannot be read: {}", error.message()))?;
    refuse(&file)?;
    let instruction = text(&folder.join("instruction.md"))?;
    if instruction.trim().is_empty() {
        return Err("its `instruction.md` is empty".to_owned());
    }
    let context = folder.join("environment");
    let image = image(&context, &file.environment, assume_built)?;
    let copies = image.copies.into_iter().map(|copied| copy(&context, copied)).collect::<Result<_, _>>()?;
    let tests = folder.join("tests");
    if !tests.join("test.sh").is_file() {
        return Err("it has no `tests/test.sh`".to_owned());
    }
    let recording = Some(folder.join("recording.json")).filter(|file| file.is_file());
    let environment: BTreeMap<String, String> = image.environment.into_iter().chain(file.environment.env).collect();
    let variables = environment.values().chain(file.verifier.env.values());
    if let Some(value) = variables.into_iter().find(|value| value.contains("${")) {
        return Err(format!("it needs a variable of the caller's environment: `{value}`"));
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
fn refuse(file: &TaskFile) -> Result<(), String> {
    let environment = &file.environment;
    let wants = [
        (file.steps.is_some(), "several steps"),
        (environment.os.as_deref().is_some_and(|os| os != "linux"), "another system than Linux"),
        (environment.gpus.is_some_and(|gpus| gpus > 0), "a GPU"),
        (!environment.mcp_servers.is_empty(), "MCP servers in its environment"),
    ];
    match wants.into_iter().find(|(is_wanted, _)| *is_wanted) {
        Some((_, what)) => Err(format!("it wants {what}")),
        None => Ok(()),
    }
}

fn image(context: &Path, table: &EnvironmentTable, assume_built: bool) -> Result<Image, String> {
    let has = |name: &str| context.join(name).is_file();
    if has("docker-compose.yaml") || has("docker-compose.yml") {
        return Err("it wants several containers".to_owned());
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
        Some(line) if !assume_built => Err(format!(
            "its image is built with `{}`, which is not done here: `--assume-built` takes this machine for it",
            line.split_whitespace().take(6).collect::<Vec<_>>().join(" ")
        )),
        Some(_) | None => Ok(image),
    }
}

/// A copy as it is made: a folder's contents, or a file to its own place.
fn copy(context: &Path, copied: Copied) -> Result<(PathBuf, PathBuf), String> {
    let Copied { from, to, into } = copied;
    let source = context.join(&from);
    let kind = source.symlink_metadata().map_err(|error| format!("`environment/{}`: {error}", from.display()))?;
    if !kind.is_dir() && !kind.is_file() {
        return Err(format!("`environment/{}` is neither a file nor a folder", from.display()));
    }
    let by_name = into && kind.is_file();
    let to = if by_name { to.join(from.file_name().unwrap_or_default()) } else { to };
    Ok((source, to))
}

fn seconds(given: f64) -> Result<Duration, String> {
    let time = Duration::try_from_secs_f64(given).ok().filter(|time| !time.is_zero());
    time.ok_or_else(|| format!("`{given}` is not a time in seconds"))
}
