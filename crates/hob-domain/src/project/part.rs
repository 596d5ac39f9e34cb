//! The part of a proposal for one language, or for one program that runs commands.

use crate::project::{
    files::ProjectFiles,
    hosts::{Found, found},
};

/// Words in a command or a recipe that mean that it changes files, publishes, needs a daemon that no sandbox has, or
/// never ends.
const NEVER: [&str; 20] = [
    "--fix",
    "--update",
    "--watch",
    "--write",
    "cargo watch",
    "deploy",
    "docker",
    "git commit",
    "git push",
    "gofmt -w",
    "goreleaser",
    "kubectl",
    "podman",
    "publish",
    "release-it",
    "rsync",
    "semantic-release",
    "ssh ",
    "upload",
    "watchexec",
];
/// Options that switch one of these off.
const OFF: [&str; 2] = ["--watch=false", "--watchAll=false"];
/// Words in a command that mean that it fetches: checks have no network, and set-up steps have to fetch what they need.
const FETCHES: [&str; 10] = [
    "bundle install",
    "cargo install",
    "curl ",
    "go get",
    "go install",
    "npm ci",
    "npm install",
    "pip install",
    "wget ",
    "yarn install",
];

/// Checks and steps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) checks: Vec<String>,
    pub(super) steps: Vec<Step>,
    /// The hosts that the checks themselves fetch from. `None` if they fetch nothing.
    pub(super) checks_from: Option<Found>,
}

/// A set-up step, and the files whose content decides whether it runs again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) command: String,
    pub(super) key: Vec<String>,
    pub(super) from: Found,
}

impl Part {
    pub(super) fn step(&mut self, command: impl Into<String>, key: &[&str]) {
        let key = key.iter().map(|file| (*file).to_owned()).collect();
        self.steps.push(Step { command: command.into(), key, from: Found::default() });
    }

    /// The same with the hosts in its folder's files and in the settings at the top.
    pub(super) fn with_hosts(mut self, files: &ProjectFiles, top: &ProjectFiles) -> Self {
        for step in &mut self.steps {
            step.from = found(&step.key, files, top);
        }
        self.checks_from = self.checks_from.map(|_unknown| found(&["tox.ini".to_owned()], files, top));
        self
    }

    /// The same in a folder.
    pub(super) fn in_folder(self, folder: &str) -> Self {
        let there = |command: String| format!("cd {folder} && {command}");
        let step = |step: Step| Step {
            command: there(step.command),
            key: step.key.into_iter().map(|file| format!("{folder}/{file}")).collect(),
            from: step.from,
        };
        Self {
            checks: self.checks.into_iter().map(there).collect(),
            steps: self.steps.into_iter().map(step).collect(),
            checks_from: self.checks_from,
        }
    }
}

/// Whether a command only looks, so that it can be a check.
pub(super) fn only_looks(command: &str) -> bool {
    let on = OFF.iter().fold(command.to_owned(), |text, off| text.replace(off, ""));
    let formats = |line: &str| line.contains("cargo fmt") && !line.contains("--check");
    !on.trim().is_empty() && !NEVER.iter().any(|word| on.contains(word)) && !on.lines().any(formats)
}

/// Whether a command fetches something by itself.
pub(super) fn fetches(command: &str) -> bool {
    FETCHES.iter().any(|word| command.contains(word))
}
