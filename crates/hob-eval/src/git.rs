//! git on this machine's own files, for the evaluation: without configuration, hooks or network.

use std::{fs, path::Path, time::Duration};

use hob_process::{Environment, Exit, Finished, Program};
use tokio_util::sync::CancellationToken;

use crate::EvalError;

/// Bytes of a patch that are kept.
const PATCH_MAX: usize = 32 << 20;
/// How long a command may take.
const TIME: Duration = Duration::from_secs(600);

/// How git is run.
#[derive(Debug, Clone)]
pub(crate) struct Git {
    environment: Environment,
}

impl Git {
    /// With the variables of this process that any child gets.
    pub(crate) fn new(environment: &Environment) -> Self {
        Self { environment: hardened(environment) }
    }

    /// Writes the tree of a commit to `folder`, without a change of the repository; `index` is a file that is there for a moment.
    pub(crate) async fn check_out(
        &self,
        repository: &Path,
        commit: &str,
        folder: &Path,
        index: &Path,
    ) -> Result<(), EvalError> {
        let (name, git_dir) = (index.to_string_lossy(), git_dir(repository));
        let from = [("GIT_INDEX_FILE", &*name), ("GIT_DIR", git_dir.as_str())];
        if self.run(&["cat-file", "-e", &format!("{commit}^{{tree}}")], folder, &from).await.is_err() {
            return Err(EvalError::Unfit(format!("its `base_commit` {commit} is not in `{}`", repository.display())));
        }
        self.run(&["read-tree", commit], folder, &from).await?;
        let prefix = format!("--prefix={}/", folder.display());
        self.run(&["checkout-index", "--all", "--force", &prefix], folder, &from).await?;
        fs::remove_file(index).map_err(EvalError::at("remove", index))
    }

    /// Runs git; what it wrote to standard output.
    pub(crate) async fn run(
        &self,
        command: &[&str],
        folder: &Path,
        variables: &[(&str, &str)],
    ) -> Result<String, EvalError> {
        Ok(self.succeeded(command, folder, variables).await?.stdout.text())
    }

    /// The same for output that is kept as it is; `None` if it is larger than [`PATCH_MAX`].
    pub(crate) async fn bytes(
        &self,
        command: &[&str],
        folder: &Path,
        variables: &[(&str, &str)],
    ) -> Result<Option<Vec<u8>>, EvalError> {
        Ok(self.succeeded(command, folder, variables).await?.stdout.whole())
    }

    /// Adds the files of `folder` to the index, with `options`. What git cannot take is left out: a file that nobody may read, a
    /// repository without a commit.
    pub(crate) async fn add(
        &self,
        options: &[&str],
        folder: &Path,
        variables: &[(&str, &str)],
    ) -> Result<(), EvalError> {
        let command = [&["add", "--all", "--ignore-errors"], options, &["--", "."]].concat();
        let ended = self.ended(&command, folder, variables).await?;
        match ended.exit {
            Exit::Code(0 | 1) => Ok(()),
            Exit::Code(_) | Exit::Signal(_) | Exit::Deadline | Exit::Cancelled => Err(failed(&command, &ended)),
        }
    }

    async fn succeeded(
        &self,
        command: &[&str],
        folder: &Path,
        variables: &[(&str, &str)],
    ) -> Result<Finished, EvalError> {
        let ended = self.ended(command, folder, variables).await?;
        match ended.exit {
            Exit::Code(0) => Ok(ended),
            Exit::Code(_) | Exit::Signal(_) | Exit::Deadline | Exit::Cancelled => Err(failed(command, &ended)),
        }
    }

    async fn ended(&self, command: &[&str], folder: &Path, variables: &[(&str, &str)]) -> Result<Finished, EvalError> {
        let mut program = Program::of_hob("git", &self.environment).args(command).dir(folder);
        for (name, value) in variables {
            program = program.env(name, value);
        }
        Ok(program.deadline(TIME).output_cap(PATCH_MAX).run(&CancellationToken::new()).await?)
    }
}

fn failed(command: &[&str], ended: &Finished) -> EvalError {
    let said = ended.stderr.text().split_whitespace().collect::<Vec<_>>().join(" ");
    let command = command.first().copied().unwrap_or_default().to_owned();
    EvalError::Git { command, said: format!("{}: {said}", ended.exit) }
}

/// Where a repository's git directory is.
fn git_dir(repository: &Path) -> String {
    let inner = repository.join(".git");
    let path = if inner.exists() { inner } else { repository.to_owned() };
    path.to_string_lossy().into_owned()
}

/// No configuration of anybody, no hook, no program of a repository's.
fn hardened(environment: &Environment) -> Environment {
    let mut environment = environment.clone();
    let settings = [
        ("core.hooksPath", "/dev/null"),
        ("core.fsmonitor", "false"),
        ("core.excludesFile", "/dev/null"),
        ("core.attributesFile", "/dev/null"),
        ("core.autocrlf", "false"),
        ("gc.auto", "0"),
        ("user.name", "base"),
        ("user.email", "base@localhost"),
        ("init.defaultBranch", "main"),
        ("advice.addEmbeddedRepo", "false"),
        ("safe.directory", "*"),
    ];
    let count = settings.len().to_string();
    let numbered = settings.iter().enumerate().flat_map(|(at, (name, value))| {
        [(format!("GIT_CONFIG_KEY_{at}"), *name), (format!("GIT_CONFIG_VALUE_{at}"), *value)]
    });
    for (name, value) in numbered.chain(
        [
            ("GIT_CONFIG_COUNT", count.as_str()),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_ATTR_NOSYSTEM", "1"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("LC_ALL", "C"),
        ]
        .map(|(name, value)| (name.to_owned(), value)),
    ) {
        environment.insert(name.into(), value.into());
    }
    environment
}
