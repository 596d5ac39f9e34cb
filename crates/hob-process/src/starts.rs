//! Tests whether a program starts where children run. Its existence proves little: a script's interpreter, the language
//! behind a shim or its libraries may be out of a child's reach.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    io::Read,
    path::{Path, PathBuf},
    sync::{LazyLock, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use hob_sandbox::{Plan, Tier};
use tokio_util::sync::CancellationToken;

use crate::{Environment, Exit, Program, program::found_in};

/// Time a program has to print its version; one that takes longer has started.
const PATIENCE: Duration = Duration::from_secs(20);
/// A shell's exit codes for a program that it cannot start or does not find.
const NOT_STARTED: [i32; 2] = [126, 127];
/// Shims, which end with other codes if the program that they stand for is missing.
const SHIMS: [&str; 4] = ["asdf", "mise", "rustup", "volta"];
/// Bytes of a script in which its first line is looked for.
const FIRST_LINE: u64 = 512;

/// A file at a moment, and the tier in which it was started.
type Identity = (PathBuf, Option<SystemTime>, u64, Tier);

/// Programs that start, so that each is started once. One that does not may be fixed while Hob runs.
static KNOWN: LazyLock<Mutex<BTreeSet<Identity>>> = LazyLock::new(Mutex::default);

/// The start of a program.
#[derive(Debug, Clone)]
pub struct Start {
    /// The end of the program; `None` if it could not be run.
    pub exit: Option<Exit>,
    /// The head and the tail of what it printed, standard output first; untrusted text.
    pub said: String,
    /// What the sandbox refused it, each with a count, as a part of a sentence; untrusted text.
    pub refused: Option<String>,
    /// Why it does not start, as a sentence; `None` if it does.
    pub fault: Option<String>,
}

/// Why a program of the `PATH` does not start within this plan, by its `--version`; `None` if it does, or does not
/// exist.
pub async fn fault_at_start(plan: &Plan, environment: &Environment, name: &str) -> Option<String> {
    start(plan, environment, name).await?.fault
}

/// Starts a program of the `PATH` within this plan with `--version`; `None` if it is not there at all, or started
/// before without a refusal.
pub async fn start(plan: &Plan, environment: &Environment, name: &str) -> Option<Start> {
    if plan.root().is_some() {
        // This machine's file says nothing of the one that is there.
        return None;
    }
    let path = found_in(environment.get(OsStr::new("PATH")), OsStr::new(name))?;
    let file = std::fs::metadata(&path).ok()?;
    let identity = (path, file.modified().ok(), file.len(), plan.tier());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if known().contains(&identity) {
        return None;
    }
    let start = started(plan, environment, name).await?;
    if start.fault.is_none() && start.refused.is_none() {
        known().insert(identity);
    }
    Some(start)
}

async fn started(plan: &Plan, environment: &Environment, name: &str) -> Option<Start> {
    let home = tokio::task::spawn_blocking(tempfile::tempdir).await.ok()?.ok()?;
    let program = Program::inside(&plan.clone().writes(home.path()), name, environment).arg("--version");
    let program = program.env("HOME", home.path()).dir(home.path()).deadline(PATIENCE).output_cap(4_000);
    let finished = match program.run(&CancellationToken::new()).await {
        Ok(finished) => finished,
        Err(error) => {
            return Some(Start { exit: None, said: String::new(), refused: None, fault: Some(error.to_string()) });
        }
    };
    let (said, refused) = (finished.stderr.text(), finished.refused);
    let is_fault = match finished.exit {
        Exit::Code(code) => NOT_STARTED.contains(&code) || code != 0 && SHIMS.iter().any(|shim| said.contains(shim)),
        Exit::Signal(_) => true,
        Exit::Deadline | Exit::Cancelled => false,
    };
    let last = said.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("it said nothing");
    let fault = is_fault.then(|| format!("`{name}` does not start in the sandbox ({}: {last})", finished.exit));
    Some(Start { exit: Some(finished.exit), said: finished.stdout.text() + &said, refused, fault })
}

/// Why this file cannot be started within this plan, without starting it; `None` if nothing prevents it. An unknown
/// program may do anything when it is started.
pub async fn fault_of_file(plan: &Plan, environment: &Environment, file: &Path) -> Option<String> {
    let shown = file.display();
    let interpreter = first_line(file).and_then(|line| interpreter(&line));
    let plan = file.canonicalize().iter().fold(plan.clone().reads(file), |plan, file| plan.reads(file));
    let look = |what: &Path| {
        let look = Program::inside(&plan, "/bin/sh", environment).args(["-c", ": <\"$1\"", "sh"]).arg(what).dir("/");
        async move { look.run(&CancellationToken::new()).await.is_ok_and(|finished| finished.exit.is_success()) }
    };
    if !look(file).await {
        return Some(format!("`{shown}` cannot be read in the sandbox: name its folder in `sandbox.read`"));
    }
    let interpreter = interpreter?;
    let path = match interpreter.contains('/') {
        true => PathBuf::from(&interpreter),
        false => match found_in(environment.get(OsStr::new("PATH")), OsStr::new(&interpreter)) {
            Some(found) => found,
            None => return Some(format!("`{shown}` needs `{interpreter}`, which is not on the path: install it")),
        },
    };
    if !path.exists() {
        return Some(format!("`{shown}` needs `{}`, which is not there: install it", path.display()));
    }
    let is_read = look(&path).await;
    (!is_read).then(|| {
        let path = path.display();
        format!("`{shown}` needs `{path}`, which cannot be read in the sandbox: name its folder in `sandbox.read`")
    })
}

fn first_line(file: &Path) -> Option<String> {
    let mut begins = Vec::new();
    std::fs::File::open(file).ok()?.take(FIRST_LINE).read_to_end(&mut begins).ok()?;
    begins.starts_with(b"#!").then(|| String::from_utf8_lossy(&begins).lines().next().unwrap_or_default().to_owned())
}

/// The interpreter in a script's first line: a path, or a name that `env` looks up.
fn interpreter(line: &str) -> Option<String> {
    let mut words = line.strip_prefix("#!")?.split_whitespace();
    let first = words.next()?;
    if Path::new(first).file_name() != Some(OsStr::new("env")) {
        return Some(first.to_owned());
    }
    words.find(|word| !word.starts_with('-') && !word.contains('=')).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interpreter_of_a_script_is_known() {
        for (line, found) in [
            ("#!/bin/sh", Some("/bin/sh")),
            ("#! /opt/python/bin/python3 -u", Some("/opt/python/bin/python3")),
            ("#!/usr/bin/env node", Some("node")),
            ("#!/usr/bin/env -S FOO=1 uv run --script", Some("uv")),
            ("#!", None),
            ("\u{7f}ELF", None),
        ] {
            assert_eq!(interpreter(line).as_deref(), found, "{line}");
        }
    }
}
