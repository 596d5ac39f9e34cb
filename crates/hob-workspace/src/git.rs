//! The git command line, hardened: restricted files, destinations and time.
//!
//! Every command has an explicit git directory of Hob's, so that git does not search for one and never opens one that
//! an agent wrote. No system or user configuration, no hooks, no prompts, no automatic maintenance, no recursion into
//! submodules, no background children. No token: the forwarder has it.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    sync::Arc,
};

use hob_config::WorkspaceSettings;
use hob_domain::Sha;
use hob_process::{Environment, Exit, Finished, Program};
use tokio_util::sync::CancellationToken;

use crate::{
    Remote, WorkspaceError,
    convert::GitCommand,
    forwarder::{Clients, Right},
    git_dir::GitDir,
    object_id::checked,
    part::{PART_SETTINGS, Part, Patterns},
    route::Route,
};

/// Settings of every command. They are passed by environment, where they override every file.
///
/// `transfer.fsckObjects` is left off: old, harmless flaws would shut out real repositories, and what it guards
/// against (hostile names in trees, hostile `.gitmodules`) is refused at checkout or never read here.
const SETTINGS: [(&str, &str); 27] = [
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.excludesFile", "/dev/null"),
    ("core.attributesFile", "/dev/null"),
    ("core.protectNTFS", "true"),
    ("core.protectHFS", "true"),
    ("credential.helper", ""),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("push.recurseSubmodules", "no"),
    ("diff.ignoreSubmodules", "all"),
    // As many workers as processors; a checkout of 20,000 files is faster, a small one is not slower.
    ("checkout.workers", "0"),
    // Only the operator chooses the server: redirects are not followed.
    ("http.followRedirects", "false"),
    // Git talks to the forwarder, on this machine.
    ("http.proxy", ""),
    ("remote.origin.proxy", ""),
    ("http.sslVerify", "true"),
    ("http.saveCookies", "false"),
    // The program that git runs where objects are borrowed; this one does nothing.
    ("core.alternateRefsCommand", "true"),
    ("transfer.bundleURI", "false"),
    ("push.gpgSign", "false"),
    // Below 1,000 bytes a second for 30 s: the connection is dead.
    ("http.lowSpeedLimit", "1000"),
    ("http.lowSpeedTime", "30"),
    ("http.userAgent", concat!("hob/", env!("CARGO_PKG_VERSION"))),
    // Asks which commits the server has, so that a base that moved meanwhile does not upload the whole history.
    ("push.negotiate", "true"),
    ("advice.detachedHead", "false"),
];

/// Bytes of git's output that are kept; the longest is the list of objects a checkout needs, 42 bytes each.
const OUTPUT_CAP: usize = 64 << 20;

/// Hob's way of running git.
#[derive(Debug, Clone)]
pub(super) struct Git {
    settings: WorkspaceSettings,
    /// What it inherits. It is the same for all repositories, so that they share it.
    inherited: Arc<Environment>,
    /// Replaces the user's home: git and curl read dot files there, and there must not be any.
    home: PathBuf,
    clients: Clients,
}

impl Git {
    /// `home` is the home that git and curl see.
    pub(super) fn new(settings: WorkspaceSettings, inherited: Arc<Environment>, home: &Path) -> Self {
        let clients = Clients::new(&inherited);
        Self { settings, inherited, home: home.to_owned(), clients }
    }

    /// The environment of a command.
    fn environment(&self) -> Environment {
        let mut environment = Environment::clone(&self.inherited);
        for (name, value) in [
            ("LC_ALL", "C"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_ASKPASS", "false"),
            ("SSH_ASKPASS", "false"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_ATTR_NOSYSTEM", "1"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
        ] {
            environment.insert(name.into(), value.into());
        }
        environment.insert("HOME".into(), self.home.clone().into());
        // Only the forwarder uses the proxies, whose addresses may contain passwords.
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
            environment.remove(OsStr::new(name));
            environment.remove(OsStr::new(&name.to_ascii_lowercase()));
        }
        environment.insert("NO_PROXY".into(), "*".into());
        environment
    }

    pub(super) fn settings(&self) -> &WorkspaceSettings {
        &self.settings
    }

    /// A command on a git directory of Hob's without network access, even for missing objects.
    pub(super) fn local(&self, git_dir: GitDir<'_>) -> Result<Program, WorkspaceError> {
        let program = self.program(git_dir, "none", Vec::new())?;
        Ok(program.env("GIT_NO_LAZY_FETCH", "1").deadline(self.settings.local_time))
    }

    /// Opens a way to `remote` for one command.
    pub(super) fn route(&self, remote: &Remote, right: Right) -> Result<Route, WorkspaceError> {
        Ok(Route::open(remote, right, &self.clients)?)
    }

    /// A command that talks to a remote, by a way that is open until its end.
    pub(super) fn remote(&self, git_dir: GitDir<'_>, route: &Route) -> Result<Program, WorkspaceError> {
        Ok(self.program(git_dir, route.protocols(), route.settings())?.deadline(self.settings.transfer_time))
    }

    /// The same program, without network access, for another process to start.
    pub(super) fn command(&self) -> GitCommand {
        let more = variables("none", Vec::new()).map(|(name, value)| (name.into(), value.into()));
        let environment = self.environment().into_iter().chain(more).collect();
        GitCommand { program: self.settings.git.clone().into(), environment }
    }

    fn program(
        &self,
        git_dir: GitDir<'_>,
        protocols: &str,
        more: Vec<(String, String)>,
    ) -> Result<Program, WorkspaceError> {
        git_dir.renew()?;
        let mut program = Program::of_hob(&self.settings.git, &self.environment()).output_cap(OUTPUT_CAP);
        for (name, value) in variables(protocols, more) {
            program = program.env(name, value);
        }
        // A folder of Hob's: the agent's could contain programs that a relative path in `PATH` would find.
        Ok(program.dir(git_dir.path()).arg(option("--git-dir=", git_dir.opened())))
    }

    /// The patterns for the files of a part, in work on `base` that has these commits; `None` for the whole repository.
    pub(super) async fn patterns(
        &self,
        git_dir: GitDir<'_>,
        part: &Part,
        base: &Sha,
        work: &[&Sha],
    ) -> Result<Option<Patterns>, WorkspaceError> {
        if part.is_whole() {
            return Ok(None);
        }
        let mut changed = String::new();
        for commit in work.iter().filter(|commit| **commit != base) {
            let compare = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", checked(base)?, checked(commit)?];
            changed += &done("list what the work changed", self.local(git_dir)?.args(compare)).await?;
        }
        Ok(Some(part.patterns(changed.split_terminator('\0'))))
    }

    /// Writes the files of the commit to the folder `tree`, except those that `index` has: they are taken to be there as it says.
    /// With `patterns` only the files that these match.
    pub(super) async fn check_out(
        &self,
        git_dir: &Path,
        index: &Path,
        tree: &Path,
        sha: &Sha,
        patterns: Option<&Patterns>,
    ) -> Result<(), WorkspaceError> {
        // It removes the patterns of the command before.
        let local = self.local(GitDir::Issue(git_dir))?;
        let mut local = local.arg(option("--work-tree=", tree)).env("GIT_INDEX_FILE", index);
        if let Some(patterns) = patterns {
            patterns.write(git_dir)?;
            for (key, value) in PART_SETTINGS {
                local = local.args(["-c", &format!("core.{key}={value}")]);
            }
        }
        done("check the files out", local.args(["read-tree", "-m", "-u", checked(sha)?])).await.map(drop)
    }
}

/// The settings of a command, and the protocols that it may use, as git reads them from the environment.
fn variables(protocols: &str, more: Vec<(String, String)>) -> impl Iterator<Item = (String, String)> {
    let own = SETTINGS.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let settings: Vec<_> = own.chain(more).collect();
    let first = [
        ("GIT_ALLOW_PROTOCOL".to_owned(), protocols.to_owned()),
        ("GIT_CONFIG_COUNT".to_owned(), settings.len().to_string()),
    ];
    let numbered = settings
        .into_iter()
        .enumerate()
        .flat_map(|(n, (key, value))| [(format!("GIT_CONFIG_KEY_{n}"), key), (format!("GIT_CONFIG_VALUE_{n}"), value)]);
    first.into_iter().chain(numbered)
}

/// Runs a local command to its end; returns its standard output.
pub(super) async fn done(doing: &'static str, program: Program) -> Result<String, WorkspaceError> {
    let finished = program.run(&CancellationToken::new()).await?;
    match finished.exit {
        Exit::Code(0) => Ok(finished.stdout.text()),
        Exit::Code(_) | Exit::Signal(_) | Exit::Deadline | Exit::Cancelled => {
            let said = said(&finished);
            let advice = if is_full_disk(&said) { "; make room for Hob's state folder" } else { "" };
            Err(WorkspaceError::Git { doing, detail: format!("{said}{advice}") })
        }
    }
}

/// The message of a failed command, fit for one line of an error: its end, without control characters.
pub(super) fn said(finished: &Finished) -> String {
    const LONGEST: usize = 1_000;
    let text = finished.stderr.text();
    let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let clean: String = lines.join("; ").chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    let start = clean.char_indices().rev().nth(LONGEST - 1).map_or(0, |(at, _)| at);
    if clean.is_empty() { finished.exit.to_string() } else { clean[start..].to_owned() }
}

/// Whether git ran out of disk space.
pub(super) fn is_full_disk(said: &str) -> bool {
    said.contains("No space left on device") || said.contains("Disk quota exceeded")
}

fn option(name: &str, path: &Path) -> PathBuf {
    let mut option = std::ffi::OsString::from(name);
    option.push::<&OsStr>(path.as_ref());
    option.into()
}
