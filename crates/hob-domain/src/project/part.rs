//! What one language, or one program that runs commands, adds to a proposal.

/// Words in a command or a recipe by which it changes files, publishes, needs a daemon that no sandbox has, or never ends.
const NEVER: [&str; 16] = [
    "--fix",
    "--write",
    "--update",
    "--watch",
    "cargo fmt\n",
    "deploy",
    "docker",
    "git commit",
    "git push",
    "kubectl",
    "podman",
    "publish",
    "release",
    "rsync",
    "ssh ",
    "upload",
];

/// Checks and steps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) checks: Vec<String>,
    pub(super) steps: Vec<Step>,
    /// Hosts that the checks themselves fetch from.
    pub(super) check_hosts: Vec<&'static str>,
}

/// A set-up step, and the files whose content decides whether it runs anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) command: String,
    pub(super) key: Vec<String>,
}

impl Part {
    pub(super) fn step(&mut self, command: impl Into<String>, key: &[&str]) {
        let key = key.iter().map(|file| (*file).to_owned()).collect();
        self.steps.push(Step { command: command.into(), key });
    }

    /// The same in a folder.
    pub(super) fn in_folder(self, folder: &str) -> Self {
        let there = |command: String| format!("cd {folder} && {command}");
        let step = |step: Step| Step {
            command: there(step.command),
            key: step.key.into_iter().map(|file| format!("{folder}/{file}")).collect(),
        };
        Self {
            checks: self.checks.into_iter().map(there).collect(),
            steps: self.steps.into_iter().map(step).collect(),
            check_hosts: self.check_hosts,
        }
    }
}

/// Whether a command only looks: it can be a check.
pub(super) fn only_looks(command: &str) -> bool {
    !command.trim().is_empty() && !NEVER.iter().any(|word| command.contains(word))
}
