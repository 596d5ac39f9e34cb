//! Brings an issue's branch up to date with its base: a rebase if all of its commits are Hob's own, a merge if some are
//! a person's, and if neither works by itself, a commit with both sides in the files, for the agent to resolve.

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use git2::{
    Commit, FileMode, Index, IndexConflict, IndexEntry, MergeFileInput, MergeFileOptions, MergeOptions, Oid,
    Repository, Sort,
};
use hob_domain::{CommitIdentity, Conflict, ConflictKind, Sha, SignOff, Timestamp, shown_path, signed_off};

use crate::{
    WorkspaceError,
    commit::{is_own, signature},
    error::library,
    git_dir,
    layout::blocking,
    object_id::oid,
};

/// The size in bytes from which a file in conflict counts as binary: it is too large to read markers in.
const LARGEST_TEXT: usize = 8 << 20;

/// The way in which a branch came to start from its base's current tip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchUpdate {
    /// It did already.
    UpToDate,
    /// This many commits of Hob's were put on top of the base.
    Rebased(usize),
    /// The base was merged into it.
    Merged,
    /// This many of its files are in conflict.
    Conflicted(usize),
}

/// The conflicts that an update left in the files, and the lines that only their markers are.
#[derive(Debug)]
pub(super) struct Unresolved {
    pub(super) conflicts: Vec<Conflict>,
    /// The files, as git names them.
    paths: Vec<Vec<u8>>,
    markers: [String; 2],
}

/// The identity and time of an update.
#[derive(Debug, Clone)]
pub struct Updater {
    /// The identity whose commits may be rebased, and which makes a merge.
    pub identity: CommitIdentity,
    /// The time of a commit that is made.
    pub time: Timestamp,
    /// Whether the base is merged, and no commit changes.
    pub keeps_history: bool,
    /// Whether commits that are made are signed off.
    pub sign_off: SignOff,
}

impl Updater {
    /// The message of a commit by this committer.
    fn signed_off(&self, message: String, by: &git2::Signature<'_>) -> String {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let by = CommitIdentity { name: text(by.name_bytes()), email: text(by.email_bytes()) };
        match self.sign_off {
            SignOff::Yes => signed_off(&message, &by),
            SignOff::No => message,
        }
    }
}

/// The branch and its base, by name.
pub(super) struct Names {
    pub(super) branch: String,
    pub(super) base: String,
}

/// The commits that an update is made of.
struct Sides<'repo> {
    fork: Commit<'repo>,
    base: Commit<'repo>,
    tip: Commit<'repo>,
}

/// The result of an update: the branch's new tip, and the conflicts to resolve.
pub(super) struct Updated {
    pub(super) tip: Sha,
    pub(super) update: BranchUpdate,
    pub(super) unresolved: Option<Unresolved>,
}

/// The commits after `fork` up to `start` whose files an update needs: those that are rebased one by one.
pub(super) async fn to_replay(
    git: PathBuf,
    fork: &Sha,
    start: &Sha,
    own: &CommitIdentity,
) -> Result<Vec<Sha>, WorkspaceError> {
    let (fork, start, own) = (oid(fork)?, oid(start)?, own.clone());
    blocking("read the branch's history", move || {
        let failed = library("read the branch's history");
        let repo = git_dir::open(&git, "read the branch's history")?;
        let commits = own_commits(&repo, fork, start, &own).map_err(&failed)?;
        Ok(commits.into_iter().flatten().map(|commit| Sha(commit.id().to_string())).collect())
    })
    .await
}

/// Makes the commits up to `tip` start from `base` instead of `fork`, in the git directory alone.
pub(super) async fn update(
    git: PathBuf,
    [fork, base, tip]: [&Sha; 3],
    names: Names,
    updater: Updater,
    finds_moves: bool,
) -> Result<Updated, WorkspaceError> {
    let (fork, base, tip) = (oid(fork)?, oid(base)?, oid(tip)?);
    blocking("update the branch", move || {
        let failed = library("update the branch");
        let repo = git_dir::open(&git, "update the branch")?;
        let find = |id| repo.find_commit(id).map_err(&failed);
        let sides = Sides { fork: find(fork)?, base: find(base)?, tip: find(tip)? };
        let mut options = MergeOptions::new();
        options.find_renames(finds_moves);
        combine(&repo, &sides, &names, &updater, &options).map_err(&failed)
    })
    .await
}

fn combine(
    repo: &Repository,
    sides: &Sides<'_>,
    names: &Names,
    updater: &Updater,
    options: &MergeOptions,
) -> Result<Updated, git2::Error> {
    let own = own_commits(repo, sides.fork.id(), sides.tip.id(), &updater.identity)?;
    let own = own.filter(|_| !updater.keeps_history);
    if let Some(own) = &own
        && let Some(tip) = replay(repo, &sides.base, own, updater, options)?
    {
        return Ok(Updated { tip: Sha(tip.to_string()), update: BranchUpdate::Rebased(own.len()), unresolved: None });
    }
    let mut index = repo.merge_trees(&sides.fork.tree()?, &sides.base.tree()?, &sides.tip.tree()?, Some(options))?;
    let unresolved = resolve(repo, &mut index, names)?;
    let tree = repo.find_tree(index.write_tree_to(repo)?)?;
    let by = signature(&updater.identity, updater.time)?;
    let (message, parents) = if own.is_some() {
        (String::from_utf8_lossy(sides.tip.message_bytes()).into_owned(), vec![&sides.base])
    } else {
        (format!("Merge branch '{}' into {}\n", names.base, names.branch), vec![&sides.tip, &sides.base])
    };
    let message = updater.signed_off(message, &by);
    let tip = repo.commit(None, &by, &by, &message, &tree, &parents)?;
    let update = match (unresolved.conflicts.len(), &own) {
        (0, None) => BranchUpdate::Merged,
        (0, Some(own)) => BranchUpdate::Rebased(own.len()),
        (count, _) => BranchUpdate::Conflicted(count),
    };
    Ok(Updated {
        tip: Sha(tip.to_string()),
        update,
        unresolved: (!unresolved.conflicts.is_empty()).then_some(unresolved),
    })
}

/// The commits after `fork` up to `tip`, oldest first, if each is Hob's own and none is a merge.
fn own_commits<'repo>(
    repo: &'repo Repository,
    fork: Oid,
    tip: Oid,
    own: &CommitIdentity,
) -> Result<Option<Vec<Commit<'repo>>>, git2::Error> {
    let mut walk = repo.revwalk()?;
    walk.set_sorting(Sort::TOPOLOGICAL | Sort::REVERSE)?;
    walk.push(tip)?;
    walk.hide(fork)?;
    let commits: Vec<Commit<'_>> = walk.map(|id| repo.find_commit(id?)).collect::<Result<_, _>>()?;
    let all_own = commits.iter().all(|commit| is_own(commit, own) && commit.parent_count() == 1);
    Ok(all_own.then_some(commits))
}

/// Replays the commits on top of `base` one by one, changing only their parents; `None` if one has a conflict.
fn replay(
    repo: &Repository,
    base: &Commit<'_>,
    commits: &[Commit<'_>],
    updater: &Updater,
    options: &MergeOptions,
) -> Result<Option<Oid>, git2::Error> {
    let mut tip = base.clone();
    for commit in commits {
        let mut index = repo.cherrypick_commit(commit, &tip, 0, Some(options))?;
        if index.has_conflicts() {
            return Ok(None);
        }
        let tree = repo.find_tree(index.write_tree_to(repo)?)?;
        // The base may already have the change.
        if tree.id() != tip.tree_id() {
            let message = String::from_utf8_lossy(commit.message_bytes()).into_owned();
            let message = updater.signed_off(message, &commit.committer());
            let id = repo.commit(None, &commit.author(), &commit.committer(), &message, &tree, &[&tip])?;
            tip = repo.find_commit(id)?;
        }
    }
    Ok(Some(tip.id()))
}

/// Makes an index with conflicts writable: each file gets the content for its kind of conflict.
fn resolve(repo: &Repository, index: &mut Index, names: &Names) -> Result<Unresolved, git2::Error> {
    let found: Vec<IndexConflict> = index.conflicts()?.collect::<Result<_, _>>()?;
    let markers = [format!("<<<<<<< {}", names.base), format!(">>>>>>> {}", names.branch)];
    let mut unresolved = Unresolved { conflicts: Vec::new(), paths: Vec::new(), markers };
    for IndexConflict { ancestor, our, their } in found {
        let Some(path) = [&our, &their, &ancestor].into_iter().flatten().next().map(|entry| entry.path.clone()) else {
            continue;
        };
        let (entry, kind) = match (our, their) {
            (Some(our), Some(their)) => both(repo, ancestor, our, their, names)?,
            (Some(our), None) => (our, ConflictKind::GoneFromBranch),
            (None, Some(their)) => (their, ConflictKind::GoneFromBase),
            (None, None) => {
                // Both moved it, each to another place.
                index.conflict_remove(as_path(&path))?;
                continue;
            }
        };
        index.conflict_remove(as_path(&path))?;
        // Cleared stage flags, which would mark it as one side of a conflict.
        index.add(&IndexEntry { flags: 0, flags_extended: 0, ..entry })?;
        unresolved.conflicts.push(Conflict { path: shown_path(&path), kind });
        unresolved.paths.push(path);
    }
    Ok(unresolved)
}

/// A file that both sides have: with both versions of the conflicting lines, if it is text.
fn both(
    repo: &Repository,
    ancestor: Option<IndexEntry>,
    base: IndexEntry,
    branch: IndexEntry,
    names: &Names,
) -> Result<(IndexEntry, ConflictKind), git2::Error> {
    let is_file = |entry: &IndexEntry| [FileMode::Blob, FileMode::BlobExecutable].map(u32::from).contains(&entry.mode);
    if !is_file(&base) || !is_file(&branch) {
        return Ok((branch, ConflictKind::Binary));
    }
    let old = ancestor.filter(is_file).map(|entry| repo.find_blob(entry.id)).transpose()?;
    let (ours, theirs) = (repo.find_blob(base.id)?, repo.find_blob(branch.id)?);
    let contents = [old.as_ref().map_or(&[][..], git2::Blob::content), ours.content(), theirs.content()];
    if contents.iter().any(|content| content.len() > LARGEST_TEXT || content.contains(&0)) {
        return Ok((branch, ConflictKind::Binary));
    }
    let [old, ours, theirs] = contents.map(|content| {
        let mut input = MergeFileInput::new();
        input.content(content);
        input
    });
    let mut options = MergeFileOptions::new();
    options.our_label(names.base.as_str()).their_label(names.branch.as_str());
    let merged = git2::merge_file(&old, &ours, &theirs, Some(&mut options))?;
    let id = repo.blob(merged.content())?;
    Ok((IndexEntry { id, ..branch }, ConflictKind::Lines))
}

impl Unresolved {
    /// The files that still have a marker at the commit.
    pub(super) fn left(&self, git: &Path, tip: Oid) -> Result<Vec<Conflict>, WorkspaceError> {
        let failed = library("look for conflicts that are left");
        let repo = git_dir::open(git, "look for conflicts that are left")?;
        let tree = repo.find_commit(tip).and_then(|commit| commit.tree()).map_err(&failed)?;
        let mut left = Vec::new();
        for (path, conflict) in self.paths.iter().zip(&self.conflicts) {
            let Ok(entry) = tree.get_path(as_path(path)) else { continue };
            let file = entry.to_object(&repo).map_err(&failed)?;
            let content = file.as_blob().map_or(&[][..], git2::Blob::content);
            let is_marker = |line: &[u8]| self.markers.iter().any(|marker| line.trim_ascii_end() == marker.as_bytes());
            if content.split(|byte| *byte == b'\n').any(is_marker) {
                left.push(conflict.clone());
            }
        }
        Ok(left)
    }
}

fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}
