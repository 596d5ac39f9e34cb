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
    task::{Files, Reach, TestPatch, TestsKind},
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

/// Bytes of a file that is left out of a patch that would be too large.
const LARGE: u64 = 1 << 20;

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
        if let TestsKind::Patch(TestPatch { patch, .. }) = &task.tests.kind {
            // Before an agent costs anything.
            let check = scratch.applies(&["apply", "--check", "--whitespace=nowarn"], patch).await;
            check.map_err(|error| EvalError::Unfit(format!("its `test_patch` does not apply: {error}")))?;
        }
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

    /// Where the tests of this trial are, once the agent is gone.
    pub(crate) fn tests(&self) -> PathBuf {
        self.place.path().join("tests")
    }

    /// Where the task's solution is, in a trial without an agent.
    pub(crate) fn solution(&self) -> PathBuf {
        self.place.path().join("solution")
    }

    /// The change as a patch that `git apply` takes: without new files that the folder's `.gitignore` names, and without what programs
    /// leave beside their sources. Of a change that is too large, its largest files are left out, and the patch begins with their names.
    ///
    /// # Errors
    /// [`EvalError::Git`] when git cannot read the folder.
    pub async fn patch(&self) -> Result<String, EvalError> {
        self.writes_info("exclude", &(LEFT_BEHIND.join("\n") + "\n"))?;
        // Without `--force`: a file that the folder began with is followed even if it is ignored.
        self.adds(&[]).await?;
        if let Some(patch) = self.diff(&[]).await? {
            return Ok(patch);
        }
        let names = self.own(&["diff", "--cached", "--name-only", "-z", "--no-renames", "base", "--"]).await?;
        let large: Vec<&str> = names
            .split_terminator('\0')
            .filter(|name| self.folder().join(name).symlink_metadata().is_ok_and(|file| file.len() > LARGE))
            .collect();
        let without: Vec<String> = large.iter().map(|name| format!(":(top,exclude,literal){name}")).collect();
        let rest = self.diff(&without.iter().map(String::as_str).collect::<Vec<_>>()).await?;
        let left_out = if rest.is_none() { "all of it".to_owned() } else { large.join(", ") };
        Ok(format!("Left out, because the patch would be too large: {left_out}\n{}", rest.unwrap_or_default()))
    }

    /// The change of these paths, of all if there are none; `None` if it is too large.
    async fn diff(&self, paths: &[&str]) -> Result<Option<String>, EvalError> {
        self.writes_info("attributes", "")?;
        let Some(readable) = self.diffed(paths).await? else { return Ok(None) };
        let readable = match String::from_utf8(readable) {
            Ok(text) => return Ok(Some(text)),
            Err(error) => error.into_bytes(),
        };
        // A patch is a text, and so a file in another encoding is told as a binary one.
        self.writes_info("attributes", "* -diff\n")?;
        let Some(binary) = self.diffed(paths).await? else { return Ok(None) };
        let (some, all) = (parts(&readable), parts(&binary));
        if some.len() != all.len() {
            return Ok(Some(String::from_utf8_lossy(&binary).into_owned()));
        }
        let told = some.into_iter().zip(all).map(|(part, same)| std::str::from_utf8(part).map_or(same, str::as_bytes));
        Ok(Some(String::from_utf8_lossy(&told.collect::<Vec<_>>().concat()).into_owned()))
    }

    async fn diffed(&self, paths: &[&str]) -> Result<Option<Vec<u8>>, EvalError> {
        let command = ["diff", "--cached", "--binary", "--no-ext-diff", "--no-textconv", "base", "--"];
        let (git_dir, folder) = self.own_git();
        self.git.bytes(&[&command, paths].concat(), &self.folder(), &of_git(&git_dir, &folder)).await
    }

    /// Writes a file of Hob's own git directory, whose rules go before those of the folder.
    fn writes_info(&self, name: &str, text: &str) -> Result<(), EvalError> {
        let info = self.place.path().join("base.git/info");
        fs::create_dir_all(&info).map_err(EvalError::at("make", &info))?;
        let file = info.join(name);
        fs::write(&file, text).map_err(EvalError::at("write", file))
    }

    /// Applies a patch to a folder that no agent has had.
    pub(crate) async fn apply(&self, patch: &str) -> Result<(), EvalError> {
        self.applies(&["apply", "--whitespace=nowarn"], patch).await
    }

    async fn applies(&self, command: &[&str], patch: &str) -> Result<(), EvalError> {
        if patch.trim().is_empty() {
            return Ok(());
        }
        let file = self.place.path().join("given.patch");
        fs::write(&file, patch).map_err(EvalError::at("write", &file))?;
        self.own(&[command, &[&*file.to_string_lossy()]].concat()).await?;
        fs::remove_file(&file).map_err(EvalError::at("remove", file))
    }

    /// Keeps what the folder begins with, in a git directory that the agent never sees.
    async fn remember(&self) -> Result<(), EvalError> {
        self.own(&["init", "--quiet"]).await?;
        self.adds(&["--force"]).await?;
        self.own(&["commit", "--quiet", "--allow-empty", "--no-verify", "--message", "base"]).await?;
        self.own(&["tag", "base"]).await.map(drop)
    }

    /// A history of one commit for the agent: the real one would tell it what came later.
    async fn give_history(&self) -> Result<(), EvalError> {
        let folder = self.folder();
        self.git.run(&["init", "--quiet"], &folder, &[]).await?;
        self.git.add(&["--force"], &folder, &[]).await?;
        self.git.run(&["commit", "--quiet", "--no-verify", "--message", "base"], &folder, &[]).await.map(drop)
    }

    /// A command on Hob's own git directory for this folder.
    async fn own(&self, command: &[&str]) -> Result<String, EvalError> {
        let (git_dir, folder) = self.own_git();
        self.git.run(command, &self.folder(), &of_git(&git_dir, &folder)).await
    }

    async fn adds(&self, options: &[&str]) -> Result<(), EvalError> {
        let (git_dir, folder) = self.own_git();
        self.git.add(options, &self.folder(), &of_git(&git_dir, &folder)).await
    }

    /// Hob's own git directory and its working tree.
    fn own_git(&self) -> (String, String) {
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        (text(self.place.path().join("base.git")), text(self.folder()))
    }
}

fn of_git<'a>(git_dir: &'a str, folder: &'a str) -> [(&'static str, &'a str); 2] {
    [("GIT_DIR", git_dir), ("GIT_WORK_TREE", folder)]
}

/// The parts of a patch, one a file. No line of a file's content begins as these do.
fn parts(patch: &[u8]) -> Vec<&[u8]> {
    const BEGIN: &[u8] = b"diff --git ";
    let mut parts = Vec::new();
    let mut from = 0;
    for at in (1..patch.len()).filter(|at| patch[at - 1] == b'\n' && patch[*at..].starts_with(BEGIN)) {
        parts.push(&patch[from..at]);
        from = at;
    }
    parts.push(&patch[from..]);
    parts
}

/// Copies a folder's contents or a file.
fn copy(from: &Path, to: &Path) -> Result<(), EvalError> {
    let is_folder = from.is_dir();
    // A file goes into a folder that is there, whether or not its path ends with a slash.
    let within = to.join(from.file_name().unwrap_or_default());
    let to = if !is_folder && to.is_dir() { within.as_path() } else { to };
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
