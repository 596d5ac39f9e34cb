//! A few whole files on a branch of Hob's own, without a checkout: they are committed on top of the base, and pushed.
//!
//! # Guarantees
//! - A branch with a person's commit stays as it is.
//! - A branch that has the files already is not moved, so that a second call has no effect.

use std::path::Path;

use git2::{FileMode, Oid, Repository, build::TreeUpdateBuilder};
use hob_domain::{CommitIdentity, Sha, Timestamp};

use crate::{
    BranchName, Foreign, Remote, Workspace, WorkspaceError,
    commit::{foreign, signature},
    error::{disk, library},
    git_dir,
    layout::{IssueFolder, blocking, make, mirror as mirror_folder, repo_folder},
    mirror,
    object_id::oid,
    push::push_from,
    skeleton,
};

/// This file's step in errors.
const DOING: &str = "commit the files";

/// Files to put on a branch.
#[derive(Debug, Clone)]
pub struct NewFiles {
    /// The branch, below the prefix of Hob's own.
    pub branch: BranchName,
    /// The commit that it starts from, as the last fetch brought it.
    pub base: Sha,
    /// Paths and contents.
    pub files: Vec<(String, String)>,
    /// The commit's message.
    pub message: String,
    /// Its author and committer.
    pub identity: CommitIdentity,
    /// Its time.
    pub time: Timestamp,
}

/// The result for the branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Put {
    /// It was made.
    Made,
    /// It was moved to a new commit.
    Moved,
    /// It has these files already.
    There,
    /// It has a commit that is not Hob's, and was left as it is.
    Foreign(Foreign),
}

/// A branch before: its tip, and the commit at which it left the base.
struct Before {
    tip: Oid,
    fork: Oid,
}

/// Puts files on a branch, as the last fetch of the mirror knows it.
///
/// # Errors
/// Those of [`Workspace::push`].
pub async fn put_files(workspace: &Workspace, remote: &Remote, new: NewFiles) -> Result<Put, WorkspaceError> {
    let mirror = mirror_folder(workspace.root(), remote.repo());
    let tip = mirror::tip(&mirror, &new.branch).await?;
    let before = match &tip {
        None => None,
        Some(tip) => match mirror::merge_base(workspace.git(), &mirror, &new.base, tip).await? {
            Some(fork) => Some(Before { tip: oid(tip)?, fork: oid(&fork)? }),
            None => return Err(WorkspaceError::UnrelatedHistory { branch: new.branch, base: new.base }),
        },
    };
    // It borrows the mirror's objects by a relative path, as an issue's does, and so it is beside those.
    let issues = repo_folder(workspace.root(), remote.repo()).join("issues");
    make(&issues)?;
    let folder = tempfile::Builder::new().prefix("files-").tempdir_in(&issues).map_err(disk("make", &issues))?;
    let git = IssueFolder(folder.path().to_owned());
    let (place, branch, was_there) = (git.git(), new.branch.clone(), tip.is_some());
    let committed = blocking(DOING, move || {
        skeleton::own(&git, &new.branch, &new.base)?;
        commit(&git.git(), &new, before)
    });
    let head = match committed.await? {
        Committed::New(head) => head,
        Committed::There => return Ok(Put::There),
        Committed::Foreign(foreign) => return Ok(Put::Foreign(foreign)),
    };
    push_from(workspace, &place, remote, &branch, &head, tip.as_ref()).await?;
    Ok(if was_there { Put::Moved } else { Put::Made })
}

enum Committed {
    New(Sha),
    There,
    Foreign(Foreign),
}

fn commit(git: &Path, new: &NewFiles, before: Option<Before>) -> Result<Committed, WorkspaceError> {
    let failed = library(DOING);
    if let Some(Before { tip, fork }) = &before
        && let Some(foreign) = foreign(git, &new.identity, *tip, *fork, None)?
    {
        return Ok(Committed::Foreign(foreign));
    }
    let repo = git_dir::open(git, DOING)?;
    let base = repo.find_commit(oid(&new.base)?).map_err(&failed)?;
    let blobs = new.files.iter().map(|(path, text)| Ok((path.as_str(), repo.blob(text.as_bytes())?)));
    let blobs: Vec<(&str, Oid)> = blobs.collect::<Result<_, git2::Error>>().map_err(&failed)?;
    if let Some(Before { tip, .. }) = before
        && has(&repo, tip, &blobs).map_err(&failed)?
    {
        return Ok(Committed::There);
    }
    let mut update = TreeUpdateBuilder::new();
    for (path, blob) in &blobs {
        update.upsert(*path, *blob, FileMode::Blob);
    }
    // Only the folders on the way to the files are read: the mirror may lack the contents of all others.
    let tree = base.tree().and_then(|tree| update.create_updated(&repo, &tree));
    let tree = tree.and_then(|id| repo.find_tree(id)).map_err(&failed)?;
    let by = signature(&new.identity, new.time).map_err(&failed)?;
    let id = repo.commit(None, &by, &by, &new.message, &tree, &[&base]).map_err(&failed)?;
    Ok(Committed::New(Sha(id.to_string())))
}

/// Whether a commit has these files, and changes only them, not others of a former call.
fn has(repo: &Repository, tip: Oid, blobs: &[(&str, Oid)]) -> Result<bool, git2::Error> {
    let commit = repo.find_commit(tip)?;
    let (tree, before) = (commit.tree()?, commit.parent(0)?.tree()?);
    let is_there = |(path, blob): &(&str, Oid)| tree.get_path(Path::new(path)).is_ok_and(|entry| entry.id() == *blob);
    let changed = repo.diff_tree_to_tree(Some(&before), Some(&tree), None)?.deltas().len();
    Ok(blobs.iter().all(is_there) && changed == blobs.len())
}
