//! The folder of one trial, the files of its image if it has one, and the patch that the agent made of the folder.

use std::{
    fs,
    path::{Path, PathBuf},
};

use hob_process::{Environment, copy_tree};
use hob_sandbox::{Limits, Network, Sandbox};

use crate::{
    EvalError, Task,
    git::Git,
    image_root::ImageRoot,
    place::OwnPlace,
    task::{Files, Reach},
};

/// What programs leave behind and a change has no need of: byte code, caches, and what compilers write.
const LEFT_BEHIND: [&str; 18] = [
    "__pycache__/",
    "*.py[cod]",
    ".pytest_cache/",
    ".mypy_cache/",
    ".ruff_cache/",
    ".hypothesis/",
    ".tox/",
    ".venv/",
    ".coverage",
    "*.egg-info/",
    "node_modules/",
    "*.class",
    "*.o",
    "**/target/debug/",
    "**/target/release/",
    "**/target/CACHEDIR.TAG",
    "**/target/.rustc_info.json",
    ".DS_Store",
];

/// The folders of one trial; they are removed with this.
#[derive(Debug)]
pub struct Scratch {
    place: OwnPlace,
    pub(crate) git: Git,
    /// What takes the place of this machine's files; `None` if the task needs no image.
    image: Option<ImageRoot>,
    workdir: PathBuf,
    environment: Environment,
    limits: Limits,
}

impl Scratch {
    /// Makes what the agent of `task` begins with, in `place`; `image` has the files of its image.
    pub(crate) async fn make(
        task: &Task,
        place: OwnPlace,
        image: Option<ImageRoot>,
        environment: &Environment,
    ) -> Result<Self, EvalError> {
        let (workdir, variables) = match &image {
            Some(image) => (image.workdir.clone(), image.variables(&task.environment)),
            None => (task.workdir.clone(), task.variables(environment)),
        };
        let (git, limits) = (Git::new(environment), task.limits);
        let scratch = Self { place, git, image, workdir, environment: variables, limits };
        let folder = scratch.folder();
        for made in [&folder, &scratch.logs()] {
            fs::create_dir_all(made).map_err(EvalError::at("make", made))?;
        }
        match &task.files {
            Files::Copied(copies) => copies.iter().try_for_each(|(from, to)| copy(from, &folder.join(to)))?,
            Files::Image(_) => {}
            Files::Commit { repository, commit } => {
                scratch.git.check_out(repository, commit, &folder, &scratch.place.path().join("index")).await?
            }
        }
        scratch.remember().await?;
        if let Files::Commit { .. } = &task.files {
            scratch.give_history().await?;
        }
        Ok(scratch)
    }

    /// The folder's path for the tests, and for an agent in a box.
    pub fn workdir(&self) -> &Path {
        &self.workdir
    }

    /// The environment of a child that works in it: that of this machine or of the image, and the task's variables.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Whether it has the files of an image.
    pub(crate) fn has_image(&self) -> bool {
        self.image.is_some()
    }

    /// What a child may reach that works in it: the task's limits and network, the folder in its place, and the image's files.
    pub fn sandbox(&self, sandbox: Sandbox, reach: Reach) -> Sandbox {
        let sandbox = match reach {
            Reach::OfSettings => sandbox,
            Reach::Nothing => sandbox.with_network(Network::None),
        };
        let sandbox = sandbox.at_most(self.limits).showing(self.workdir.clone(), self.folder());
        match &self.image {
            Some(image) => sandbox.rooted(image.root.clone()),
            None => sandbox,
        }
    }

    /// The agent's folder.
    pub fn folder(&self) -> PathBuf {
        self.place.work()
    }

    /// Where tests write what they found.
    pub(crate) fn logs(&self) -> PathBuf {
        self.place.path().join("logs")
    }

    /// Where tests stand that are made for this trial, once the agent is gone.
    pub(crate) fn tests(&self) -> PathBuf {
        self.place.path().join("tests")
    }

    /// The change as a patch: without new files that the folder's `.gitignore` names, and without what programs leave beside their sources.
    ///
    /// # Errors
    /// [`EvalError::Git`] when git cannot read the folder.
    pub async fn patch(&self) -> Result<String, EvalError> {
        let info = self.place.path().join("base.git/info");
        fs::create_dir_all(&info).map_err(EvalError::at("make", &info))?;
        let exclude = info.join("exclude");
        fs::write(&exclude, LEFT_BEHIND.join("\n") + "\n").map_err(EvalError::at("write", &exclude))?;
        // Without `--force`: a file that the folder began with is followed even if it is ignored.
        self.own(&["add", "--all", "."]).await?;
        self.own(&["diff", "--cached", "--binary", "--no-ext-diff", "--no-textconv", "base"]).await
    }

    /// Applies a patch to a folder that no agent has had.
    pub(crate) async fn apply(&self, patch: &str) -> Result<(), EvalError> {
        let file = self.place.path().join("solution.patch");
        fs::write(&file, patch).map_err(EvalError::at("write", &file))?;
        self.own(&["apply", "--whitespace=nowarn", &file.to_string_lossy()]).await.map(drop)
    }

    /// Keeps what the folder begins with, in a git directory that the agent never sees.
    async fn remember(&self) -> Result<(), EvalError> {
        self.own(&["init", "--quiet"]).await?;
        self.own(&["add", "--all", "--force", "."]).await?;
        self.own(&["commit", "--quiet", "--allow-empty", "--no-verify", "--message", "base"]).await?;
        self.own(&["tag", "base"]).await.map(drop)
    }

    /// A history of one commit for the agent: the real one would tell it what came later.
    async fn give_history(&self) -> Result<(), EvalError> {
        let folder = self.folder();
        for command in [
            ["init", "--quiet"].as_slice(),
            &["add", "--all", "--force", "."],
            &["commit", "--quiet", "--no-verify", "--message", "base"],
        ] {
            self.git.run(command, &folder, &[]).await?;
        }
        Ok(())
    }

    /// A command on Hob's own git directory for this folder.
    async fn own(&self, command: &[&str]) -> Result<String, EvalError> {
        let folder = self.folder();
        let git_dir = self.place.path().join("base.git");
        let (git_dir, work_tree) = (git_dir.to_string_lossy(), folder.to_string_lossy());
        self.git.run(command, &folder, &[("GIT_DIR", &git_dir), ("GIT_WORK_TREE", &work_tree)]).await
    }
}

/// Copies a folder's contents or a file.
fn copy(from: &Path, to: &Path) -> Result<(), EvalError> {
    let is_folder = from.is_dir();
    let folder = if is_folder { Some(to) } else { to.parent() };
    if let Some(folder) = folder {
        fs::create_dir_all(folder).map_err(EvalError::at("make", folder))?;
    }
    if is_folder {
        return copy_tree(from, to).map_err(EvalError::at("copy", from));
    }
    fs::copy(from, to).map(drop).map_err(EvalError::at("copy", from))
}

#[cfg(test)]
mod tests {
    use hob_process::Environment;

    use super::*;
    use crate::{find_tasks, swe_bench::SweBenchParts};

    #[tokio::test]
    async fn a_patch_has_the_change_and_nothing_that_programs_leave_behind() {
        let place = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &[u8]| {
            let path = place.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        for (path, text) in [
            ("task/task.toml", ""),
            ("task/instruction.md", "Do it."),
            ("task/tests/test.sh", "true"),
            ("task/environment/Dockerfile", "FROM scratch\nWORKDIR /app\nCOPY files/ .\n"),
            ("task/environment/files/.gitignore", "*.log\nkept.bin\n"),
            ("task/environment/files/kept.bin", "0"),
            ("task/environment/files/__pycache__/shipped.pyc", "0"),
        ] {
            put(path, text.as_bytes());
        }
        let found = find_tasks(&place.path().join("task"), false, &SweBenchParts::default()).unwrap();
        let environment = Environment::from([("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())]);
        let at = OwnPlace::make(&place.path().join("state")).unwrap();
        let scratch = Scratch::make(&found.tasks[0], at, None, &environment).await.unwrap();
        let folder = scratch.folder();
        let left =
            ["pkg/__pycache__/a.cpython-311.pyc", "b.pyc", ".pytest_cache/x", "run.log", "target/debug/a", "m.o"];
        for (name, text) in left.into_iter().map(|name| (name, [0, 255, 0].as_slice())).chain([
            ("new.py", b"x = 1\n".as_slice()),
            ("kept.bin", b"1".as_slice()),
            ("__pycache__/shipped.pyc", b"1".as_slice()),
        ]) {
            fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
            fs::write(folder.join(name), text).unwrap();
        }
        let patch = scratch.patch().await.unwrap();
        let named: Vec<_> = patch
            .lines()
            .filter_map(|line| line.strip_prefix("diff --git a/")?.split_once(" b/"))
            .map(|(name, _)| name)
            .collect();
        assert_eq!(named, ["__pycache__/shipped.pyc", "kept.bin", "new.py"], "{patch}");
    }
}
