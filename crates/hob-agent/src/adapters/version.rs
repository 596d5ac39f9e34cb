//! The version of a program, determined once for each file.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    path::{Path, PathBuf},
    sync::{LazyLock, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use regex::Regex;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use crate::{
    adapters::adapter::{Adapter, Version},
    confined::Confined,
    environment::find_program,
};

/// Time a program has to print its version; some import half of their language's packages first.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program that cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unusable {
    /// It is not installed.
    #[error("`{program}` is not on the path: install it with `{install}`, or set `command` to its path")]
    Missing {
        /// Its name.
        program: String,
        /// The command that installs it.
        install: &'static str,
    },
    /// It does not run, or does not print its version.
    #[error("`{program} {flag}` printed no version ({said}): reinstall it with `{install}`")]
    Unclear {
        /// Its name.
        program: String,
        /// The argument it was given.
        flag: &'static str,
        /// Its end, or its output.
        said: String,
        /// The command that installs it.
        install: &'static str,
    },
    /// It is too old.
    #[error("`{program}` is version {found}, and Hob needs {minimum} or later: `{install}`")]
    Old {
        /// Its name.
        program: String,
        /// The version found.
        found: Version,
        /// The version that Hob needs.
        minimum: Version,
        /// The command that installs it.
        install: &'static str,
    },
}

/// A file at a moment: a program that has changed is checked again.
type Identity = (PathBuf, Option<SystemTime>, u64);

static KNOWN: LazyLock<Mutex<BTreeMap<Identity, Version>>> = LazyLock::new(Mutex::default);

/// Checks that `program` is installed and new enough; returns its path and version.
///
/// # Errors
/// [`Unusable`], with the command that helps.
pub(super) async fn check(
    adapter: &Adapter,
    program: &str,
    confined: &Confined,
    cancel: &CancellationToken,
) -> Result<(PathBuf, Version), Unusable> {
    let install = adapter.install;
    let (name, folders) = (program.to_owned(), confined.environment.get(OsStr::new("PATH")).cloned());
    let found = spawn_blocking(move || {
        let path = find_program(&name, folders.as_deref())?;
        let identity = std::fs::metadata(&path).map(|file| (path.clone(), file.modified().ok(), file.len())).ok();
        Some((path, identity))
    });
    // If the task did not run, the process is about to end.
    let found = found.await.ok().flatten();
    let (path, identity) = found.ok_or(Unusable::Missing { program: program.to_owned(), install })?;
    let known = identity.as_ref().and_then(|identity| known().get(identity).copied());
    let found = match known {
        Some(version) => version,
        None => {
            let version = ask(adapter, &path, confined, cancel).await?;
            if let Some(identity) = identity {
                remember(identity, version);
            }
            version
        }
    };
    match found < adapter.minimum {
        true => Err(Unusable::Old { program: program.to_owned(), found, minimum: adapter.minimum, install }),
        false => Ok((path, found)),
    }
}

fn known() -> std::sync::MutexGuard<'static, BTreeMap<Identity, Version>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn remember(identity: Identity, version: Version) {
    known().insert(identity, version);
}

async fn ask(
    adapter: &Adapter,
    path: &Path,
    confined: &Confined,
    cancel: &CancellationToken,
) -> Result<Version, Unusable> {
    let unclear = |said: String| Unusable::Unclear {
        program: adapter.program.to_owned(),
        flag: adapter.version,
        said,
        install: adapter.install,
    };
    let asked = confined.program(path).dir("/").arg(adapter.version).deadline(PATIENCE).run(cancel).await;
    let finished = asked.map_err(|error| unclear(error.to_string()))?;
    let said = format!("{}\n{}", finished.stdout.text(), finished.stderr.text());
    read(&said).ok_or_else(|| unclear(finished.exit.to_string()))
}

/// The first version in a text.
fn read(text: &str) -> Option<Version> {
    static VERSION: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(\d+)\.(\d+)\.(\d+)").ok());
    let found = VERSION.as_ref()?.captures(text)?;
    let number = |at: usize| found.get(at)?.as_str().parse().ok();
    Some(Version(number(1)?, number(2)?, number(3)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_what_programs_print() {
        for (text, version) in [
            ("2.1.197 (Claude Code)", Some(Version(2, 1, 197))),
            ("codex-cli 0.169.0\n", Some(Version(0, 169, 0))),
            ("This is mini-swe-agent version 2.4.6.\nCheck", Some(Version(2, 4, 6))),
            ("no version", None),
            ("99999999999.0.0", None),
        ] {
            assert_eq!(read(text), version, "{text}");
        }
    }
}
