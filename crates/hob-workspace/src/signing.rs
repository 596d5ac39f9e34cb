//! Signatures of the commits that are about to be pushed: commits on the server never change.
//!
//! A child without secrets makes a commit, which is signed here, by a key that stays in this process or by the forge.

use std::collections::HashMap;

use git2::{Commit, Oid, Repository, Sort};
use hob_domain::Sha;

use crate::{
    Checkout, Remote, SigningKey, Workspace, WorkspaceError, error::library, forwarder::RefUpdate, git_dir,
    layout::blocking, object_id::oid, push::push_ref,
};

/// This file's step in errors.
const DOING: &str = "sign the commits";
/// The header of a commit that has its signature.
const HEADER: &str = "gpgsig";

/// A commit without a signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsignedCommit {
    /// The new commit.
    pub sha: Sha,
    /// Its tree.
    pub tree: Sha,
    /// Its parents.
    pub parents: Vec<Sha>,
    /// Its message.
    pub message: String,
}

impl Checkout {
    /// Signs the new commits up to `head`, on top of the base and of `pushed`, and moves the branch there; returns its
    /// tip.
    ///
    /// # Errors
    /// [`WorkspaceError::Library`] when a commit cannot be read or written.
    pub async fn sign(&self, head: &Sha, pushed: Option<&Sha>, key: SigningKey) -> Result<Sha, WorkspaceError> {
        let (git, branch) = (self.git_dir(), self.branch().full());
        let (head, known) = (oid(head)?, self.known(pushed)?);
        blocking(DOING, move || {
            let repo = git_dir::open(&git, DOING)?;
            let tip = sign_all(&repo, head, &known, &key).map_err(library(DOING))?;
            if tip != head {
                repo.reference(&branch, tip, true, "signed").map_err(library(DOING))?;
            }
            Ok(Sha(tip.to_string()))
        })
        .await
    }

    /// The commits up to `head`, on top of the base and of `pushed`, from the first one without a signature on; oldest
    /// first.
    ///
    /// # Errors
    /// [`WorkspaceError::Library`] when a commit cannot be read.
    pub async fn unsigned(&self, head: &Sha, pushed: Option<&Sha>) -> Result<Vec<UnsignedCommit>, WorkspaceError> {
        let (git, head, known) = (self.git_dir(), oid(head)?, self.known(pushed)?);
        blocking(DOING, move || {
            let repo = git_dir::open(&git, DOING)?;
            let commits = new_commits(&repo, head, &known).map_err(library(DOING))?;
            let sha = |id: Oid| Sha(id.to_string());
            let plain = |commit: Commit<'_>| UnsignedCommit {
                sha: sha(commit.id()),
                tree: sha(commit.tree_id()),
                parents: commit.parent_ids().map(sha).collect(),
                message: String::from_utf8_lossy(commit.message_bytes()).into_owned(),
            };
            Ok(commits.into_iter().skip_while(is_signed).map(plain).collect())
        })
        .await
    }

    /// Writes a commit that the forge signed, from the signed text and the signature; returns its id.
    ///
    /// # Errors
    /// [`WorkspaceError::Library`] when it cannot be written.
    pub async fn adopt(&self, signed: String, signature: String) -> Result<Sha, WorkspaceError> {
        let git = self.git_dir();
        blocking(DOING, move || {
            let repo = git_dir::open(&git, DOING)?;
            let id = repo.commit_signed(&signed, signature.trim_end(), Some(HEADER)).map_err(library(DOING))?;
            Ok(Sha(id.to_string()))
        })
        .await
    }

    fn known(&self, pushed: Option<&Sha>) -> Result<Vec<Oid>, WorkspaceError> {
        [Some(self.base()), pushed].into_iter().flatten().map(oid).collect()
    }
}

/// Uploads the objects of `head` to the server under the ref `name`, which must not be a branch and must not exist.
///
/// # Errors
/// Those of [`Workspace::push`].
pub async fn stage(
    workspace: &Workspace,
    checkout: &Checkout,
    remote: &Remote,
    head: &Sha,
    name: String,
) -> Result<(), WorkspaceError> {
    let update = RefUpdate { name, old: None, new: head.clone() };
    push_ref(workspace, &checkout.git_dir(), remote, checkout.branch(), update).await
}

fn is_signed(commit: &Commit<'_>) -> bool {
    commit.header_field_bytes(HEADER).is_ok()
}

fn new_commits<'r>(repo: &'r Repository, head: Oid, known: &[Oid]) -> Result<Vec<Commit<'r>>, git2::Error> {
    let mut walk = repo.revwalk()?;
    walk.set_sorting(Sort::TOPOLOGICAL | Sort::REVERSE)?;
    walk.push(head)?;
    known.iter().try_for_each(|id| walk.hide(*id))?;
    walk.map(|id| repo.find_commit(id?)).collect()
}

fn sign_all(repo: &Repository, head: Oid, known: &[Oid], key: &SigningKey) -> Result<Oid, git2::Error> {
    let mut moved: HashMap<Oid, Oid> = HashMap::new();
    for commit in new_commits(repo, head, known)? {
        let parents: Vec<Oid> = commit.parent_ids().map(|id| moved.get(&id).copied().unwrap_or(id)).collect();
        if is_signed(&commit) && commit.parent_ids().eq(parents.iter().copied()) {
            continue;
        }
        let parents = parents.into_iter().map(|id| repo.find_commit(id)).collect::<Result<Vec<_>, _>>()?;
        let parents: Vec<&Commit<'_>> = parents.iter().collect();
        let message = String::from_utf8_lossy(commit.message_raw_bytes()).into_owned();
        let (author, committer, tree) = (commit.author(), commit.committer(), commit.tree()?);
        let plain = repo.commit_create_buffer(&author, &committer, &message, &tree, &parents)?;
        let plain = String::from_utf8_lossy(&plain).into_owned();
        moved.insert(commit.id(), repo.commit_signed(&plain, &key.sign_commit(&plain), Some(HEADER))?);
    }
    Ok(moved.get(&head).copied().unwrap_or(head))
}
