//! A task: what the agent is told and begins with, and what decides whether it is solved.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
    time::Duration,
};

use serde::Serialize;

/// Bytes of a text of a task that are read.
const TEXT_MAX: u64 = 1 << 20;

/// A task of either format.
#[derive(Debug, Clone)]
pub struct Task {
    /// Its name: a file name, which no other task of the run has.
    pub name: String,
    /// What is wanted, for the agent.
    pub instruction: String,
    /// The folder's path for the tests, and for an agent in a box.
    pub workdir: PathBuf,
    /// The time that the agent has by the task; none: it names none.
    pub time: Option<Duration>,
    /// Replies that solve it, for a model that plays them; none: the task has none.
    pub recording: Option<PathBuf>,
    /// What the agent's folder begins with.
    pub(crate) files: Files,
    /// What decides.
    pub(crate) tests: Tests,
    /// Variables that its container would have.
    pub(crate) environment: BTreeMap<String, String>,
}

/// What a folder begins with.
#[derive(Debug, Clone)]
pub(crate) enum Files {
    /// Copies, in order: from a file or folder, to a path below the agent's folder.
    Copied(Vec<(PathBuf, PathBuf)>),
    /// The tree of a commit.
    Commit { repository: PathBuf, commit: String },
}

/// The tests of a task. They write a number to `/logs/verifier/reward.txt`, or numbers to `reward.json` beside it.
#[derive(Debug, Clone)]
pub(crate) struct Tests {
    /// Where they are.
    pub(crate) kind: TestsKind,
    /// How long they may take.
    pub(crate) time: Duration,
    /// Variables that they get.
    pub(crate) environment: BTreeMap<String, String>,
}

#[derive(Debug, Clone)]
pub(crate) enum TestsKind {
    /// A folder with `test.sh`.
    Folder(PathBuf),
    /// A patch of test files and a command.
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

/// A text of a task that cannot be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoText {
    #[error("its `{name}` cannot be read: {source}")]
    Unreadable { name: String, source: io::Error },
    #[error("`{}` is not a file", .0.display())]
    NotAFile(PathBuf),
    #[error("`{}` has more than {TEXT_MAX} bytes", .0.display())]
    TooLong(PathBuf),
}

/// A text of a task, which no link may be: it would bring a file of this machine to a model.
pub(crate) fn text(path: &Path) -> Result<String, NoText> {
    let why = |source: io::Error| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        NoText::Unreadable { name, source }
    };
    let kind = path.symlink_metadata().map_err(why)?;
    if !kind.is_file() {
        return Err(NoText::NotAFile(path.to_owned()));
    }
    let mut text = String::new();
    fs::File::open(path).map_err(why)?.take(TEXT_MAX + 1).read_to_string(&mut text).map_err(why)?;
    if text.len() as u64 > TEXT_MAX {
        return Err(NoText::TooLong(path.to_owned()));
    }
    Ok(text)
}

/// Whether a name can be a file's, on any system, and nothing else.
pub(crate) fn is_plain(name: &str) -> bool {
    let is_known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+');
    !name.is_empty() && name.len() <= 200 && !name.starts_with('.') && name.chars().all(is_known)
}

/// A word of the shell.
pub(crate) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}
