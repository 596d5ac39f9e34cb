//! The change of a run's folder since it began, as git sees it, and the state that the folder is in.

use std::{
    collections::hash_map::DefaultHasher,
    hash::{Hash, Hasher},
    os::unix::fs::MetadataExt,
    time::Duration,
};

use hob_process::Finished;
use hob_text::count;

use crate::{
    folder::{Folder, walk},
    native::{plain::plain, tools::Toolbox},
    report::clip,
};

/// Bytes of the diff that the model is shown.
const SHOWN_MAX: usize = 24 * 1024;
/// Bytes of git's output that are compared; of more, the beginning and the end.
const READ_MAX: usize = 2 << 20;
/// New files that are named.
const FILES_MAX: usize = 30;
/// Files whose size and time are compared in a folder without git.
const ENTRIES_MAX: usize = 20_000;
/// The time for git to answer.
const GIT_TIME: Duration = Duration::from_secs(20);
/// Behind the diff, before the names of new files.
const BETWEEN: char = '\u{1e}';
/// The changed and the new files since the commit `$1`, in one start.
const SCRIPT: &str = "g() { git --no-optional-locks -c core.quotePath=false \"$@\"; }; \
                      g diff --no-ext-diff --no-textconv --no-color \"$1\" -- || exit; \
                      printf '\\036'; g ls-files --others --exclude-standard";
/// Endings of files that only people read.
const PROSE: [&str; 3] = [".md", ".rst", ".adoc"];

/// A state of the folder: two are the same if no file that git knows, or would add, differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tree {
    /// Of the files in the commit.
    pub(super) known: u64,
    new: u64,
}

/// What differs from the start of the run.
#[derive(Debug)]
pub(super) struct Change {
    diff: String,
    new: Vec<String>,
    pub(super) tree: Tree,
    is_of_git: bool,
}

/// The commit that the folder is at; `None` without git.
pub(super) async fn commit(toolbox: &Toolbox) -> Option<String> {
    let program = toolbox.confined.program("git").args(["--no-optional-locks", "rev-parse", "--verify", "HEAD"]);
    let program = program.dir(toolbox.folder.path()).output_cap(200).deadline(GIT_TIME);
    let Finished { exit, stdout, .. } = program.run(&toolbox.cancel).await.ok()?;
    exit.is_success().then(|| stdout.text().trim().to_owned())
}

impl Change {
    /// The change since the commit `base`; without git, only the state is known.
    pub(super) async fn since(base: Option<&str>, toolbox: &Toolbox) -> Self {
        let of_git = match base {
            Some(base) => Self::of_git(base, toolbox).await,
            None => None,
        };
        match of_git {
            Some(change) => change,
            None => {
                let folder = toolbox.folder.clone();
                // A panic there would leave nothing known, which is a state of its own.
                let known = tokio::task::spawn_blocking(move || entries(&folder)).await.unwrap_or_default();
                Self { diff: String::new(), new: Vec::new(), tree: Tree { known, new: 0 }, is_of_git: false }
            }
        }
    }

    async fn of_git(base: &str, toolbox: &Toolbox) -> Option<Self> {
        let program = toolbox.confined.program("sh").args(["-c", SCRIPT, "sh", base]).dir(toolbox.folder.path());
        let Finished { exit, stdout, .. } =
            program.output_cap(READ_MAX).deadline(GIT_TIME).run(&toolbox.cancel).await.ok()?;
        let said = stdout.text();
        let (diff, new) = said.rsplit_once(BETWEEN).filter(|_| exit.is_success())?;
        let new: Vec<String> = new.lines().map(str::to_owned).collect();
        let mut hasher = DefaultHasher::new();
        (diff, stdout.dropped()).hash(&mut hasher);
        let known = hasher.finish();
        let mut hasher = DefaultHasher::new();
        new.iter().for_each(|name| entry(&toolbox.folder, name, &mut hasher));
        Some(Self { diff: plain(diff), new, tree: Tree { known, new: hasher.finish() }, is_of_git: true })
    }

    /// Whether git sees none.
    pub(super) fn is_empty(&self) -> bool {
        !self.has_known() && self.new.is_empty()
    }

    /// Whether a file of the commit differs.
    pub(super) fn has_known(&self) -> bool {
        !self.diff.trim().is_empty()
    }

    /// The diff, and the names of new files.
    pub(super) fn shown(&self) -> String {
        let mut text = clip(self.diff.trim_end(), SHOWN_MAX);
        if !self.new.is_empty() {
            let names: Vec<&str> = self.new.iter().take(FILES_MAX).map(String::as_str).collect();
            text.push_str(&format!("\n{}: {}", count(self.new.len(), "new file"), names.join(", ")));
        }
        text.trim_start().to_owned()
    }

    /// Whether the output of a command shows all of it. The model knows the files that it wrote itself.
    pub(super) fn is_in(&self, output: &str, written: &[String]) -> bool {
        let is_known = |name: &String| written.contains(name) || output.contains(name.as_str());
        let is_shown = || without_hashes(output).contains(without_hashes(&self.diff).trim());
        self.is_of_git && !self.is_empty() && self.new.iter().all(is_known) && is_shown()
    }

    /// Whether it touches nothing that could be run.
    pub(super) fn is_prose(&self) -> bool {
        let of_diff = self.diff.lines().filter_map(|line| line.strip_prefix("diff --git "));
        let mut names = of_diff.chain(self.new.iter().map(String::as_str)).peekable();
        names.peek().is_some() && names.all(is_prose)
    }
}

/// Whether only people read a file of this name.
pub(super) fn is_prose(name: &str) -> bool {
    PROSE.iter().any(|ending| name.ends_with(ending))
}

/// Without the lines of a diff that shorten hashes as the repository's settings say.
fn without_hashes(diff: &str) -> String {
    diff.lines().filter(|line| !line.starts_with("index ")).map(str::trim_end).collect::<Vec<_>>().join("\n")
}

fn entry(folder: &Folder, name: &str, hasher: &mut DefaultHasher) {
    let file =
        folder.inside(name).and_then(|path| folder.open_file(&path, u64::MAX)).map_err(|error| error.to_string());
    let stamp = file.map(|file| {
        let found = file.metadata().ok();
        found.map(|found| (found.len(), found.mtime(), found.mtime_nsec(), found.mode()))
    });
    (name, stamp).hash(hasher);
}

/// The names, sizes and times of the files that the folder has.
fn entries(folder: &Folder) -> u64 {
    let mut hasher = DefaultHasher::new();
    let Ok(start) = folder.inside(".") else { return 0 };
    let Ok(found) = walk(folder, &start, None) else { return 0 };
    found.take(ENTRIES_MAX).for_each(|found| entry(folder, &found.path, &mut hasher));
    hasher.finish()
}
