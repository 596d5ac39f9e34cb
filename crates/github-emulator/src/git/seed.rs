//! Initial contents of repositories: files, or another repository's history.

use std::path::Path;

use git2::{Oid, Signature, Time};

/// The name and time of commits the forge itself makes, the same on every run.
const EMAIL: &str = "forge@users.noreply.github.com";
const EPOCH: i64 = 1_767_225_600;

/// The forge's own identity, with a fixed time, so that the same files give the same commit.
pub(in super::super) fn identity() -> Result<Signature<'static>, git2::Error> {
    Signature::new("Hob's forge", EMAIL, &Time::new(EPOCH, 0))
}

/// Commits `files` (path, content, executable) as the first commit of `branch`.
pub(in super::super) fn plant(
    repo: &git2::Repository,
    branch: &str,
    files: &[(&str, &[u8], bool)],
) -> Result<Oid, git2::Error> {
    let mut update = git2::build::TreeUpdateBuilder::new();
    for (path, content, executable) in files {
        let blob = repo.blob(content)?;
        update.upsert(*path, blob, if *executable { git2::FileMode::BlobExecutable } else { git2::FileMode::Blob });
    }
    let empty = repo.find_tree(repo.treebuilder(None)?.write()?)?;
    let tree = repo.find_tree(update.create_updated(repo, &empty)?)?;
    let who = identity()?;
    let commit = repo.commit(None, &who, &who, "Begin\n", &tree, &[])?;
    repo.reference(&format!("refs/heads/{branch}"), commit, false, "")?;
    Ok(commit)
}

/// Commits `files` on top of `base` as the tip of a new `branch`.
pub(in super::super) fn grow(
    repo: &git2::Repository,
    branch: &str,
    base: Option<Oid>,
    files: &[(&str, &[u8], bool)],
) -> Result<Oid, git2::Error> {
    let parent = base.map(|base| repo.find_commit(base)).transpose()?;
    let tree = match &parent {
        Some(parent) => parent.tree()?,
        None => repo.find_tree(repo.treebuilder(None)?.write()?)?,
    };
    let mut update = git2::build::TreeUpdateBuilder::new();
    for (path, content, executable) in files {
        let mode = if *executable { git2::FileMode::BlobExecutable } else { git2::FileMode::Blob };
        update.upsert(*path, repo.blob(content)?, mode);
    }
    let tree = repo.find_tree(update.create_updated(repo, &tree)?)?;
    let (who, parents) = (identity()?, parent.iter().collect::<Vec<_>>());
    let commit = repo.commit(None, &who, &who, &format!("Begin {branch}\n"), &tree, &parents)?;
    repo.reference(&format!("refs/heads/{branch}"), commit, false, "")?;
    Ok(commit)
}

/// Copies the commits of the local repository's `HEAD` into `branch`; the local repository is only read.
pub(in super::super) fn copy_head(repo: &git2::Repository, from: &Path, branch: &str) -> Result<Oid, git2::Error> {
    let source = git2::Repository::open(from)?;
    let head = source.head()?.peel_to_commit()?.id();
    let mut walk = source.revwalk()?;
    walk.push(head)?;
    let mut builder = source.packbuilder()?;
    builder.insert_walk(&mut walk)?;
    let odb = repo.odb()?;
    let mut writer = odb.packwriter()?;
    let mut failed = None;
    builder.foreach(|chunk| {
        failed = std::io::Write::write_all(&mut writer, chunk).err();
        failed.is_none()
    })?;
    if let Some(error) = failed {
        return Err(git2::Error::from_str(&format!("copy objects: {error}")));
    }
    writer.commit()?;
    repo.reference(&format!("refs/heads/{branch}"), head, false, "")?;
    Ok(head)
}
