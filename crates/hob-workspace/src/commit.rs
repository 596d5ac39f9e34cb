//! From the agent's folder to a commit, by the git library: it runs no hooks and no filters.
//!
//! The library compares the folder with Hob's index; each changed path is then checked against the limits before it is
//! read. Links are committed as links: their targets are never read. Pipes and sockets are left out, as git does.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    ffi::OsStr,
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use git2::{AttrCheckFlags, Delta, DiffOptions, FileMode, Index, Oid, Repository, Sort};
use hob_domain::{CommitIdentity, LeftOut, Sha, Timestamp, WhyLeftOut, shown_path};
use serde::{Deserialize, Serialize};

use crate::{
    UnfitWork, WorkspaceError,
    convert::{Converter, is_converted},
    error::{disk, library},
    git_dir,
    made::Made,
    part::is_elsewhere,
    survey::{is_ignored, survey},
};

/// A commit on Hob's branch by someone else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign {
    /// The commit.
    pub sha: Sha,
    /// The author that the commit names.
    pub author: String,
}

/// The signature of a commit made at `time`.
pub(super) fn signature(identity: &CommitIdentity, time: Timestamp) -> Result<git2::Signature<'static>, git2::Error> {
    // A name or address may come from a setting: characters that git's format cannot contain are left out.
    let plain = |text: &str| text.replace(|c: char| c.is_control() || matches!(c, '<' | '>'), "");
    git2::Signature::new(&plain(&identity.name), &plain(&identity.email), &git2::Time::new(time.timestamp(), 0))
}

/// The limits of a commit.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct Limits {
    /// Changed files.
    pub(super) files: usize,
    /// Bytes of one file.
    pub(super) file_bytes: u64,
}

/// The metadata of a commit.
#[derive(Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) message: String,
    pub(super) identity: CommitIdentity,
    pub(super) time: Timestamp,
    pub(super) on: On,
}

/// The parents of a commit.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum On {
    /// The branch's tip.
    Tip,
    /// The parents of the tip, which it replaces.
    Parents,
}

/// One path to stage.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Change {
    /// Before the others: a folder may have become a file.
    Remove(PathBuf),
    Add(PathBuf),
    /// Converted by git.
    Convert(PathBuf),
}

/// Opens Hob's git directory over the agent's folder.
pub(super) fn open(git: &Path, tree: &Path) -> Result<Repository, WorkspaceError> {
    if !fs::symlink_metadata(tree).is_ok_and(|found| found.is_dir()) {
        return Err(UnfitWork::NoFolder.into());
    }
    let doing = "open the issue's git directory";
    let repo = git_dir::open(git, doing)?;
    repo.set_workdir(tree, false).map_err(library(doing))?;
    Ok(repo)
}

/// Finds the changes in the folder and refuses unfit ones; also returns what is left out, except what `wanted` names.
pub(super) fn stage(
    repo: &Repository,
    converter: &Converter<'_>,
    limits: Limits,
    wanted: &str,
) -> Result<(Vec<Change>, Vec<LeftOut>), WorkspaceError> {
    let tree = converter.tree;
    // The library ignores what it may not read.
    if let Some(folder) = survey(tree)?.iter().find(|folder| !is_ignored(repo, folder)) {
        return Err(UnfitWork::Unreadable { path: shown_path(folder.as_os_str().as_bytes()) }.into());
    }
    let failed = library("compare the folder");
    let index = repo.index().map_err(&failed)?;
    let mut options = DiffOptions::new();
    options.include_untracked(true).recurse_untracked_dirs(true).include_typechange(true).skip_binary_check(true);
    let diff = repo.diff_index_to_workdir(None, Some(&mut options)).map_err(&failed)?;
    let (mut changes, mut left_out) = (Vec::new(), Leaving::default());
    let mut touched_perhaps = Vec::new();
    let mut made = Made::new(tree, &index, wanted);
    let elsewhere: HashSet<Vec<u8>> = index.iter().filter(is_elsewhere).map(|entry| entry.path).collect();
    for written in elsewhere.iter().map(|bytes| path(bytes)).filter(|path| tree.join(path).symlink_metadata().is_ok()) {
        left_out.add(written.clone(), written, WhyLeftOut::NotCheckedOut);
    }
    for delta in diff.deltas() {
        let Some(bytes) = delta.new_file().path_bytes().or_else(|| delta.old_file().path_bytes()) else { continue };
        let (old, new) = (delta.old_file().mode(), delta.new_file().mode());
        let place = path(bytes);
        if delta.status() == Delta::Untracked
            && let Some(what) = made.of(&place)
        {
            left_out.add(what, place, WhyLeftOut::Made);
            continue;
        }
        match delta.status() {
            // A submodule's folder is empty here, or gone, or has the agent's files: its commit stays.
            _ if old == FileMode::Commit => {}
            _ if elsewhere.contains(bytes) => {}
            Delta::Deleted => changes.push(Change::Remove(place)),
            Delta::Added | Delta::Modified | Delta::Renamed | Delta::Copied | Delta::Untracked | Delta::Typechange => {
                match fit(tree, bytes, new, limits)? {
                    Fit::Yes => {}
                    Fit::No => continue,
                    Fit::Repository => {
                        // Its path ends with a slash.
                        let folder: PathBuf = place.components().collect();
                        left_out.add(folder.clone(), folder.join(".git"), WhyLeftOut::Repository);
                        continue;
                    }
                }
                match filter(repo, &place) {
                    Some(filter) => left_out.add(place.clone(), place, WhyLeftOut::Filter(filter)),
                    None if is_file(new) && is_converted(repo, &place) => {
                        if old == new {
                            touched_perhaps.push(place.clone());
                        }
                        changes.push(Change::Convert(place));
                    }
                    None => changes.push(Change::Add(place)),
                }
            }
            Delta::Unmodified | Delta::Ignored | Delta::Unreadable | Delta::Conflicted => {}
        }
    }
    // The library compares committed forms; the index may have an untouched file in another form.
    let untouched = converter.untouched(&touched_perhaps)?;
    changes.retain(|change| !matches!(change, Change::Convert(path) if untouched.contains(path)));
    if changes.len() > limits.files {
        return Err(UnfitWork::TooManyFiles { count: changes.len(), limit: limits.files }.into());
    }
    for entry in index.iter().filter(|entry| entry.mode == u32::from(FileMode::Commit)) {
        let folder = path(&entry.path);
        let files = fs::read_dir(tree.join(&folder)).into_iter().flatten().flatten();
        // The folder is made empty.
        for file in files.filter(|file| file.file_name() != *".git") {
            let inside = folder.join(file.file_name());
            left_out.add(inside.clone(), inside, WhyLeftOut::Submodule);
        }
    }
    for file in ignored_beside_tracked(repo, &index, tree) {
        left_out.add(file.clone(), file, WhyLeftOut::Ignored);
    }
    changes.sort_unstable();
    Ok((changes, left_out.told()))
}

/// The paths to leave out, keyed by the path that is reported.
#[derive(Default)]
struct Leaving(BTreeMap<(PathBuf, WhyLeftOut), (u64, bool)>);

impl Leaving {
    /// Counts `file`, which is `what` or in it.
    fn add(&mut self, what: PathBuf, file: PathBuf, why: WhyLeftOut) {
        let is_folder = what != file;
        let (files, _) = self.0.entry((what, why)).or_insert((0, is_folder));
        *files += 1;
    }

    fn told(self) -> Vec<LeftOut> {
        let told = |((path, why), (files, is_folder)): ((PathBuf, WhyLeftOut), (u64, bool))| {
            let shown = shown_path(path.as_os_str().as_bytes());
            LeftOut { path: if is_folder { format!("{shown}/") } else { shown }, why, files }
        };
        self.0.into_iter().map(told).collect()
    }
}

/// The program that git would convert a file with, as the repository's attributes name it. Attributes that the agent
/// has just written do not count.
fn filter(repo: &Repository, path: &Path) -> Option<String> {
    let value = repo.get_attr(path, "filter", AttrCheckFlags::INDEX_ONLY).ok()??;
    // An attribute that is set or unset without a value names no program.
    (!matches!(value, "" | "[internal]__TRUE__" | "[internal]__FALSE__")).then(|| value.to_owned())
}

/// New files in folders that git ignores but of which it tracks files. An ignored folder without tracked files is made
/// by tools.
fn ignored_beside_tracked(repo: &Repository, index: &Index, tree: &Path) -> Vec<PathBuf> {
    let paths: Vec<_> = index.iter().map(|entry| path(&entry.path)).collect();
    let folders: BTreeSet<_> = paths.iter().filter_map(|path| path.parent()).collect();
    let is_ignored = |folder: &&Path| {
        // A pattern for folders only has its slash.
        !folder.as_os_str().is_empty() && repo.is_path_ignored(folder.join("")).unwrap_or(false)
    };
    let mut found = Vec::new();
    for folder in folders.into_iter().filter(is_ignored) {
        let files = fs::read_dir(tree.join(folder)).into_iter().flatten().flatten();
        let files = files.filter(|file| file.file_type().is_ok_and(|kind| kind.is_file()));
        let files = files.map(|file| folder.join(file.file_name()));
        found.extend(files.filter(|file| index.get_path(file, 0).is_none()));
    }
    found
}

/// Whether a path is to be committed.
enum Fit {
    Yes,
    /// It is a pipe or a socket.
    No,
    /// A repository of its own. The library descends into one whose folder has tracked files.
    Repository,
}

/// Whether a path is to be committed; an error if it must not be.
fn fit(tree: &Path, bytes: &[u8], mode: FileMode, limits: Limits) -> Result<Fit, WorkspaceError> {
    let shown = || shown_path(bytes.strip_suffix(b"/").unwrap_or(bytes));
    if bytes.split(|byte| *byte == b'/').any(is_reserved) {
        return Err(UnfitWork::ReservedName { path: shown() }.into());
    }
    let place = tree.join(path(bytes));
    let found = fs::symlink_metadata(&place).map_err(disk("look at", &place))?;
    if matches!(mode, FileMode::Commit | FileMode::Tree) || found.is_dir() {
        return Ok(Fit::Repository);
    }
    let limit = limits.file_bytes;
    if found.len() > limit {
        return Err(UnfitWork::TooLarge { path: shown(), bytes: found.len(), limit }.into());
    }
    Ok(if found.is_file() || found.is_symlink() { Fit::Yes } else { Fit::No })
}

fn is_file(mode: FileMode) -> bool {
    matches!(mode, FileMode::Blob | FileMode::BlobExecutable)
}

/// Whether a file system that folds case, drops characters or makes short names would read this name as `.git`.
fn is_reserved(name: &[u8]) -> bool {
    let text = String::from_utf8_lossy(name);
    let visible: String = text
        .chars()
        .filter(
            |c| !matches!(*c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}'),
        )
        .collect();
    let stem = visible.split([':', '\\']).next().unwrap_or_default().trim_end_matches([' ', '.']).to_ascii_lowercase();
    matches!(stem.as_str(), ".git" | "git~1")
}

fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

/// Puts the changes into Hob's index and commits them; `None` if the tree is the branch's.
pub(super) fn record(
    repo: &Repository,
    converter: &Converter<'_>,
    branch: &str,
    changes: &[Change],
    entry: &Entry,
) -> Result<Option<Sha>, WorkspaceError> {
    let failed = library("write the commit");
    let mut index = repo.index().map_err(&failed)?;
    let mut converted = Vec::new();
    for change in changes {
        match change {
            Change::Remove(path) => index.remove_path(path),
            Change::Add(path) => index.add_path(path),
            Change::Convert(path) => {
                converted.push(path.clone());
                Ok(())
            }
        }
        .map_err(&failed)?;
    }
    index.write().map_err(&failed)?;
    converter.add(&converted)?;
    index.read(true).map_err(&failed)?;
    let tree = index.write_tree().and_then(|id| repo.find_tree(id)).map_err(&failed)?;
    let parent = repo.find_reference(branch).and_then(|tip| tip.peel_to_commit()).map_err(&failed)?;
    if parent.tree_id() == tree.id() {
        return Ok(None);
    }
    let by = signature(&entry.identity, entry.time).map_err(&failed)?;
    let message = entry.message.replace('\0', "");
    let parents: Vec<git2::Commit<'_>> = match entry.on {
        On::Tip => vec![parent],
        On::Parents => parent.parents().collect(),
    };
    let parents: Vec<_> = parents.iter().collect();
    let id = repo.commit(None, &by, &by, &message, &tree, &parents).map_err(&failed)?;
    repo.reference(branch, id, true, "commit").map_err(&failed)?;
    Ok(Some(Sha(id.to_string())))
}

/// Whether a commit is Hob's.
pub(super) fn is_own(commit: &git2::Commit<'_>, own: &CommitIdentity) -> bool {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (author, committer) = (commit.author(), commit.committer());
    own.is_own(&text(committer.name_bytes()), &text(committer.email_bytes()))
        || own.is_by_forge(&text(committer.email_bytes()), &text(author.email_bytes()))
}

/// The first commit between `base`, or `accepted`, and `start` whose committer is not `own`.
pub(super) fn foreign(
    git: &Path,
    own: &CommitIdentity,
    start: Oid,
    base: Oid,
    accepted: Option<Oid>,
) -> Result<Option<Foreign>, WorkspaceError> {
    let failed = library("read the branch's history");
    let repo = git_dir::open(git, "read the branch's history")?;
    let mut walk = repo.revwalk().map_err(&failed)?;
    walk.set_sorting(Sort::TOPOLOGICAL | Sort::REVERSE).and_then(|()| walk.push(start)).map_err(&failed)?;
    walk.hide(base).map_err(&failed)?;
    // The accepted commit may no longer be on the branch: then all of it counts.
    if let Some(accepted) = accepted.filter(|id| repo.find_commit(*id).is_ok()) {
        walk.hide(accepted).map_err(&failed)?;
    }
    for id in walk {
        let commit = id.and_then(|id| repo.find_commit(id)).map_err(&failed)?;
        if !is_own(&commit, own) {
            let author = shown_path(commit.author().name_bytes());
            return Ok(Some(Foreign { sha: Sha(commit.id().to_string()), author }));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Attack corpus D41.
    #[test]
    fn every_spelling_of_gits_own_folder_is_reserved() {
        for name in [".git", ".GIT", ".Git ", ".git.", "git~1", "GIT~1", ".g\u{200c}it", ".git::$INDEX_ALLOCATION"] {
            assert!(is_reserved(name.as_bytes()), "{name:?}");
        }
        for name in [".gitignore", ".github", "git", "git~2", "x.git", ".gitmodules"] {
            assert!(!is_reserved(name.as_bytes()), "{name:?}");
        }
    }
}
