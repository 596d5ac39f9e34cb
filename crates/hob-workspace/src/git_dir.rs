//! The contents of Hob's git directories before each use.
//!
//! Files that an agent's left-over process could reach are not trusted: settings name programs and servers, `info`
//! hides changes, alternates and graphs replace objects and histories. Only Hob writes these, so they are compared with
//! what Hob wrote and rewritten if they differ. Objects are verified by their names, and refs by the code that uses
//! them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use git2::Repository;

use crate::{
    WorkspaceError,
    error::{disk, library},
    layout::{make, remove},
};

/// A git directory of Hob's.
#[derive(Debug, Clone, Copy)]
pub(super) enum GitDir<'a> {
    /// That of an issue, `ROOT/OWNER/NAME/issues/N/git`, which borrows the mirror's objects.
    Issue(&'a Path),
    /// A mirror, or the ledgers.
    Mirror(&'a Path),
    /// A folder that is not a git directory: the command asks the server alone.
    None(&'a Path),
}

/// Settings for an issue. The git library reads the user's own files besides, which these outweigh.
const ISSUE_CONFIG: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tsymlinks = true\n\t\
    autocrlf = false\n\tignorecase = false\n\tprecomposeunicode = false\n\tprotectNTFS = true\n\tprotectHFS = true\n\t\
    excludesFile = /dev/null\n\tattributesFile = /dev/null\n\tlogallrefupdates = false\n[gc]\n\tauto = 0\n";
/// Relative, so that the state folder may be moved.
const ISSUE_ALTERNATES: &str = "../../../../mirror.git/objects\n";
/// Settings of a bare repository that may leave objects out. No file has the server's address, which each command
/// supplies, so a server may move.
const MIRROR_CONFIG: &str = "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tpartialClone = origin\n\
    [remote \"origin\"]\n\tpromisor = true\n\tpartialclonefilter = blob:none\n";
/// Files that Hob never makes, and git obeys.
const NEVER_MADE: [&str; 10] = [
    "config.worktree",
    "commondir",
    "gitdir",
    "hooks",
    "modules",
    "worktrees",
    "info",
    "objects/info/http-alternates",
    "objects/info/commit-graph",
    "objects/info/commit-graphs",
];

impl<'a> GitDir<'a> {
    pub(super) fn path(self) -> &'a Path {
        match self {
            Self::Issue(path) | Self::Mirror(path) | Self::None(path) => path,
        }
    }

    /// The path that git is told to open. If there is no directory, it is a path that nothing can create.
    pub(super) fn opened(self) -> &'a Path {
        match self {
            Self::Issue(path) | Self::Mirror(path) => path,
            Self::None(_) => Path::new("/dev/null"),
        }
    }

    /// Rewrites Hob's files that have changed.
    pub(super) fn renew(self) -> Result<(), WorkspaceError> {
        let (git, config, alternates) = match self {
            Self::Issue(git) => (git, ISSUE_CONFIG, Some(ISSUE_ALTERNATES)),
            Self::Mirror(git) => (git, MIRROR_CONFIG, None),
            Self::None(_) => return Ok(()),
        };
        for name in NEVER_MADE {
            remove(&git.join(name))?;
        }
        hold(&git.join("config"), config)?;
        let place = git.join("objects/info/alternates");
        match alternates {
            Some(alternates) => hold(&place, alternates),
            None => remove(&place),
        }
    }
}

/// Opens Hob's git directory of an issue.
pub(super) fn open(git: &Path, doing: &'static str) -> Result<Repository, WorkspaceError> {
    GitDir::Issue(git).renew()?;
    // A tree names files that only the server has, where a part of a repository is checked out.
    git2::opts::strict_object_creation(false);
    Repository::open_bare(git).map_err(library(doing))
}

/// Writes the text to the file. Others may read it meanwhile: they see either whole file.
fn hold(path: &Path, text: &str) -> Result<(), WorkspaceError> {
    let is_file = fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.len() == text.len() as u64);
    if is_file && fs::read(path).is_ok_and(|held| held == text.as_bytes()) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        make(folder)?;
    }
    let mut new = tempfile::Builder::new();
    let new = new.prefix(".new-").tempfile_in(path.parent().unwrap_or(path)).map_err(disk("write", path))?;
    fs::write(new.path(), text).map_err(disk("write", path))?;
    // A folder in its place would prevent the rename.
    if fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()) {
        remove(path)?;
    }
    new.persist(path).map(drop).map_err(|error| disk("write", PathBuf::from(path))(error.error))
}
