//! A task: what the agent is told and begins with, and what decides whether it is solved.

use std::{collections::BTreeMap, ffi::OsStr, path::PathBuf, time::Duration};

use hob_process::Environment;
use hob_sandbox::Limits;
use serde::Serialize;

use crate::{engine::Wanted, named_tests::NamedTests};

/// A task of either format.
#[derive(Debug, Clone)]
pub struct Task {
    /// Its name: a file name, which no other task of the run has.
    pub name: String,
    /// What is wanted, for the agent.
    pub instruction: String,
    /// The folder's path for the tests, and for an agent in a box, unless its image has another.
    pub(crate) workdir: PathBuf,
    /// The time that the agent has by the task; none: it names none.
    pub time: Option<Duration>,
    /// Replies that solve it, for a model that plays them; none: the task has none.
    pub recording: Option<PathBuf>,
    /// What the agent's folder begins with.
    pub(crate) files: Files,
    /// What decides.
    pub(crate) tests: Tests,
    /// Variables that its container would have; `$PATH` in one of them is this machine's.
    pub(crate) environment: BTreeMap<String, String>,
    /// What its container would be held to.
    pub(crate) limits: Limits,
    /// What the agent may reach.
    pub reach: Reach,
    /// Its solution; `None` if it has none.
    pub(crate) solution: Option<Solution>,
}

/// The network that a task leaves to an agent or to its tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// That of the settings.
    OfSettings,
    /// None, even if the settings open one.
    Nothing,
}

/// What solves a task without an agent.
#[derive(Debug, Clone)]
pub(crate) enum Solution {
    /// A folder with `solve.sh`, and the variables that it gets.
    Folder(PathBuf, BTreeMap<String, String>),
    /// A patch of the repository.
    Patch(String),
}

impl Task {
    /// Why it needs the image that podman or docker would make; `None` if it does not.
    pub fn needs_image(&self) -> Option<&str> {
        match &self.files {
            Files::Image(wanted) => Some(&wanted.why),
            Files::Copied(_) | Files::Commit { .. } => None,
        }
    }

    /// Whether a machine that has what its image has can take the place of that image.
    pub fn can_be_assumed_built(&self) -> bool {
        matches!(&self.files, Files::Image(wanted) if wanted.is_built)
    }

    /// Whether it has a solution of its own.
    pub fn has_solution(&self) -> bool {
        self.solution.is_some()
    }

    /// The environment of a child that works on it: `machine`, and the variables that the task's container would have.
    pub(crate) fn variables(&self, machine: &Environment) -> Environment {
        let mut all = machine.clone();
        let path = machine.get(OsStr::new("PATH")).map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
        for (name, value) in &self.environment {
            let value = with_path(value, &path);
            // The image's programs are where this machine has them.
            let value = if name == "PATH" && !value.contains(&path) { format!("{value}:{path}") } else { value };
            all.insert(name.into(), value.into());
        }
        all
    }

    /// The names of the variables that its container would have.
    pub fn variable_names(&self) -> impl Iterator<Item = &str> {
        self.environment.keys().map(String::as_str)
    }
}

/// A value with `path` in the place of `$PATH`.
pub(crate) fn with_path(value: &str, path: &str) -> String {
    let mut parts = value.split("$PATH");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| {
        // `$PATHS` is another variable.
        let is_other = part.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        all + if is_other { "$PATH" } else { path } + part
    })
}

/// What a folder begins with.
#[derive(Debug, Clone)]
pub(crate) enum Files {
    /// Copies, in order: from a file or folder, to a path below the agent's folder.
    Copied(Vec<(PathBuf, PathBuf)>),
    /// The files of an image.
    Image(Wanted),
    /// The tree of a commit.
    Commit { repository: PathBuf, commit: String },
}

/// The tests of a task.
#[derive(Debug, Clone)]
pub(crate) struct Tests {
    /// Where they are.
    pub(crate) kind: TestsKind,
    /// How long they may take.
    pub(crate) time: Duration,
    /// Variables that they get.
    pub(crate) environment: BTreeMap<String, String>,
    /// What they may reach.
    pub(crate) reach: Reach,
}

#[derive(Debug, Clone)]
pub(crate) enum TestsKind {
    /// A folder with `test.sh`, which writes a number to `/logs/verifier/reward.txt`, or numbers to `reward.json` beside it.
    Folder(PathBuf),
    /// A patch of test files and a command, whose exit code and named tests decide.
    Patch(TestPatch),
}

/// Tests that come as a patch of a repository's files.
#[derive(Debug, Clone)]
pub(crate) struct TestPatch {
    /// Where the repository is.
    pub(crate) repository: PathBuf,
    /// The commit that the patch is of.
    pub(crate) commit: String,
    /// The patch.
    pub(crate) patch: String,
    /// The commands that decide, for the shell.
    pub(crate) script: String,
    /// The tests that have to pass in them.
    pub(crate) named: NamedTests,
}

/// A task that cannot be tried here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unusable {
    /// Its name.
    pub task: String,
    /// Why, one sentence.
    pub why: String,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Found {
    /// The tasks, by name.
    pub tasks: Vec<Task>,
    /// Those that cannot be tried.
    pub unusable: Vec<Unusable>,
}

impl Found {
    /// Leaves out the tasks for which there is a reason not to try them.
    pub fn leave_out(&mut self, why_not: impl Fn(&Task) -> Option<String>) {
        for task in std::mem::take(&mut self.tasks) {
            match why_not(&task) {
                None => self.tasks.push(task),
                Some(why) => self.unusable.push(Unusable { task: task.name, why }),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_is_put_in_its_own_place_only() {
        for (value, with) in [("$PATH", "/bin"), ("/a:$PATH:/b", "/a:/bin:/b"), ("$PATHS $PATH_ x", "$PATHS $PATH_ x")]
        {
            assert_eq!(with_path(value, "/bin"), with);
        }
    }
}
