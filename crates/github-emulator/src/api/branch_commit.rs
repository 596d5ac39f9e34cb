//! A commit of several files on top of a branch, made and signed by the forge. Only GraphQL has it, as `createCommitOnBranch`.
//!
//! # Caveats
//! GitHub's limit of one such commit is not known: a hundred files and a file of 1 MiB are below it. Here only a file has one.

use std::path::Path;

use git2::{FileMode, Oid, Repository, Tree, build::TreeUpdateBuilder};

use super::{
    super::{
        branch_guard::Tip, call::Call, git::RefMove, permission::Needed, refusal::Refusal, users::Role,
        verification::commit_for_app,
    },
    objects::{BLOB_MAX, plain_path, signature},
    refs::{find, follow, guard_move},
};

/// What is to be committed.
#[derive(Debug)]
pub(in super::super) struct BranchCommit {
    /// The branch's short name.
    pub(in super::super) branch: String,
    /// Where the branch has to be.
    pub(in super::super) expected: Oid,
    pub(in super::super) message: String,
    /// Paths with their new contents.
    pub(in super::super) additions: Vec<Addition>,
    /// Paths that go.
    pub(in super::super) deletions: Vec<String>,
}

/// A file's new contents.
#[derive(Debug)]
pub(in super::super) struct Addition {
    pub(in super::super) path: String,
    pub(in super::super) contents: Vec<u8>,
}

/// Why nothing was committed.
#[derive(Debug)]
pub(in super::super) enum Uncommitted {
    /// The branch is elsewhere.
    Stale,
    Refused(Refusal),
}

impl<E: Into<Refusal>> From<E> for Uncommitted {
    fn from(error: E) -> Self {
        Self::Refused(error.into())
    }
}

/// Makes the commit, and moves its branch there.
///
/// # Errors
/// [`Uncommitted`]; the branch has not moved.
pub(in super::super) fn commit_on_branch(call: &Call, wanted: &BranchCommit) -> Result<Oid, Uncommitted> {
    if let Some(needed) = Needed::for_call("PUT", "/repos/{owner}/{repo}/contents/{*path}") {
        call.permitted(needed)?;
    }
    let git = call.write_git(Role::Write)?;
    let BranchCommit { branch, expected, message, .. } = wanted;
    let reference = format!("refs/heads/{branch}");
    let missing = || Refusal::new(http::StatusCode::NOT_FOUND, format!("Branch {branch} not found"));
    let old = find(&git, &reference)?.ok_or_else(missing)?;
    if old != *expected {
        return Err(Uncommitted::Stale);
    }
    let parent = git.find_commit(old)?;
    let tree = git.find_tree(changed(&git, &parent.tree()?, old, wanted)?)?;
    let author = signature(call, None)?;
    let commit = commit_for_app(&git, &author, message, &tree, &[&parent])?;
    guard_move(call, &git, &reference, Some(old), Tip::Is(commit))?;
    git.reference(&reference, commit, true, "")?;
    follow(call, &git, RefMove { reference, old: Some(old), new: Some(commit) })?;
    Ok(commit)
}

/// The tree with the changes. A file that is executable stays so.
fn changed(git: &Repository, tree: &Tree<'_>, at: Oid, wanted: &BranchCommit) -> Result<Oid, Refusal> {
    let mut update = TreeUpdateBuilder::new();
    for path in &wanted.deletions {
        if !plain_path(path) || tree.get_path(Path::new(path)).is_err() {
            let message = format!("A path was requested for deletion which does not exist as of commit oid `{at}`");
            return Err(Refusal::unprocessable(message));
        }
        update.remove(path.as_str());
    }
    for Addition { path, contents } in &wanted.additions {
        if !plain_path(path) {
            return Err(Refusal::unprocessable("path is malformed"));
        }
        if contents.len() > BLOB_MAX {
            return Err(Refusal::custom("Content", "content", "content is too large (maximum is 100 MB)"));
        }
        let executable = tree.get_path(Path::new(path)).is_ok_and(|entry| entry.filemode() == 0o100_755);
        let mode = if executable { FileMode::BlobExecutable } else { FileMode::Blob };
        update.upsert(path.as_str(), git.blob(contents)?, mode);
    }
    Ok(update.create_updated(git, tree)?)
}
