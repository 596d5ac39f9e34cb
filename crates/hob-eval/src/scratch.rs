//! The folder of one trial, and the patch that the agent made of it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use hob_process::{Environment, copy_tree};
use tempfile::TempDir;

use crate::{EvalError, Task, git::Git, task::Files};

/// The folders of one trial; they are removed with this.
#[derive(Debug)]
pub struct Scratch {
    place: TempDir,
    pub(crate) git: Git,
}

impl Scratch {
    /// Makes what the agent of `task` begins with, below `state`.
    ///
    /// # Errors
    /// [`EvalError`] when a file cannot be copied or a commit is not there.
    pub async fn make(task: &Task, state: &Path, environment: &Environment) -> Result<Self, EvalError> {
        fs::create_dir_all(state).map_err(EvalError::at("make", state))?;
        let place =
            tempfile::Builder::new().prefix("eval-").tempdir_in(state).map_err(EvalError::at("write in", state))?;
        let scratch = Self { place, git: Git::new(environment) };
        let folder = scratch.folder();
        for made in [&folder, &scratch.logs()] {
            fs::create_dir_all(made).map_err(EvalError::at("make", made))?;
        }
        match &task.files {
            Files::Copied(copies) => copies.iter().try_for_each(|(from, to)| copy(from, &folder.join(to)))?,
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

    /// The agent's folder.
    pub fn folder(&self) -> PathBuf {
        self.place.path().join("work")
    }

    /// Where tests write what they found.
    pub(crate) fn logs(&self) -> PathBuf {
        self.place.path().join("logs")
    }

    /// Where tests stand that are made for this trial, once the agent is gone.
    pub(crate) fn tests(&self) -> PathBuf {
        self.place.path().join("tests")
    }

    /// The change as a patch.
    ///
    /// # Errors
    /// [`EvalError::Git`] when git cannot read the folder.
    pub async fn patch(&self) -> Result<String, EvalError> {
        self.own(&["add", "--all", "--force", "."]).await?;
        self.own(&["diff", "--cached", "--binary", "--no-ext-diff", "--no-textconv", "base"]).await
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
