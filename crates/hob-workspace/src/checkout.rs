//! The checkout of one issue: the agent's folder, the proof's folder, and the git directory of Hob's behind both.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use hob_domain::{CommitIdentity, Diff, Sha, Timestamp};

use crate::{
    BranchName, Foreign, WorkspaceError, commit, diff,
    error::library,
    git::{Before, Git, Tree},
    in_use::Use,
    layout::{IssueFolder, blocking, is_empty, make, remove, remove_git_folders, write},
    object_id::{checked, oid},
    skeleton,
};

/// One issue's branch, checked out.
#[derive(Debug, Clone)]
pub struct Checkout {
    git: Git,
    folder: IssueFolder,
    tree: PathBuf,
    branch: BranchName,
    sources: Sources,
    kept: bool,
    _in_use: Arc<Use>,
}

/// What is done with the files that an earlier run left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leftover {
    /// They are removed: the folder is the branch, and nothing else.
    Remove,
    /// They stay, ignored files included, where the branch has not moved elsewhere since.
    Keep,
}

/// The commits a checkout comes from.
#[derive(Debug, Clone)]
pub(super) struct Sources {
    pub(super) base: Sha,
    pub(super) start: Sha,
    pub(super) pushed: Option<Sha>,
}

/// Makes the checkout; one that cannot be made clean is made anew, once.
pub(super) async fn prepare(
    git: Git,
    (folder, in_use): (IssueFolder, Use),
    (branch, sources): (BranchName, Sources),
    leftover: Leftover,
) -> Result<Checkout, WorkspaceError> {
    let tree = folder.tree();
    let mut checkout = Checkout { git, folder, tree, branch, sources, kept: false, _in_use: Arc::new(in_use) };
    if leftover == Leftover::Keep && checkout.keep().await.unwrap_or(false) {
        checkout.kept = true;
        return Ok(checkout);
    }
    if checkout.folder.index().exists() && checkout.lay().await.is_ok() {
        return Ok(checkout);
    }
    let folder = checkout.folder.clone();
    blocking("remove the damaged checkout", move || remove(&folder.0)).await?;
    checkout.lay().await?;
    Ok(checkout)
}

impl Checkout {
    /// The folder the agent edits.
    pub fn folder(&self) -> &Path {
        &self.tree
    }

    /// Folders of git objects that `git` in the agent's folder reads: a sandbox shows them read-only.
    pub fn borrowed_folders(&self) -> [PathBuf; 2] {
        [self.folder.git().join("objects"), self.folder.mirror_objects()]
    }

    /// Whether the folder holds what an earlier run left, which may be more than the branch has.
    pub fn is_kept(&self) -> bool {
        self.kept
    }

    /// The branch.
    pub fn branch(&self) -> &BranchName {
        &self.branch
    }

    /// The commit the branch goes out from: the base given, or the last one in common where the branch is older.
    pub fn base(&self) -> &Sha {
        &self.sources.base
    }

    /// The commit the checkout started from: the base, or the tip of earlier work.
    pub fn start(&self) -> &Sha {
        &self.sources.start
    }

    /// Where the branch stood on the server at the last fetch: what a first push expects. None: it was not there.
    pub fn pushed(&self) -> Option<&Sha> {
        self.sources.pushed.as_ref()
    }

    /// Commits everything in the agent's folder that is not ignored; none when nothing changed.
    ///
    /// # Errors
    /// [`WorkspaceError::Unfit`] names what cannot be committed.
    pub async fn commit(
        &self,
        message: &str,
        identity: &CommitIdentity,
        time: Timestamp,
    ) -> Result<Option<Sha>, WorkspaceError> {
        let (checkout, message, identity) = (self.clone(), message.to_owned(), identity.clone());
        blocking("commit", move || {
            let repo = commit::open(&checkout.folder.git(), checkout.folder())?;
            let paths = commit::stage(&repo, &checkout.tree, checkout.git.settings())?;
            commit::record(&repo, &checkout.branch, &paths, &commit::Entry { message, identity, time })
        })
        .await
    }

    /// The branch's tip in Hob's git directory: the last commit made here, or where the checkout started.
    ///
    /// # Errors
    /// [`WorkspaceError::Library`] when the branch cannot be read.
    pub async fn tip(&self) -> Result<Sha, WorkspaceError> {
        let (git, name) = (self.folder.git(), self.branch.full());
        blocking("read the branch's tip", move || {
            let repo = git2::Repository::open_bare(&git).map_err(library("open the issue's git directory"))?;
            let id = repo.refname_to_id(&name).map_err(library("read the branch's tip"))?;
            Ok(Sha(id.to_string()))
        })
        .await
    }

    /// Takes the branch in Hob's git directory back to `to`: what was committed since is in no later commit's history,
    /// and still in the agent's folder.
    ///
    /// # Errors
    /// [`WorkspaceError::Library`] when the branch cannot be moved.
    pub async fn unwind(&self, to: &Sha) -> Result<(), WorkspaceError> {
        let (git, name, to) = (self.folder.git(), self.branch.full(), oid(to)?);
        blocking("move the branch", move || {
            let failed = library("move the branch");
            let repo = git2::Repository::open_bare(&git).map_err(&failed)?;
            repo.reference(&name, to, true, "unwound").map(drop).map_err(&failed)
        })
        .await
    }

    /// The first commit of the earlier work that was not committed under the address `own`, from the base on, or from
    /// `accepted` where that is part of it. None: all of it is Hob's.
    ///
    /// # Errors
    /// [`WorkspaceError::Library`] when the history cannot be read.
    pub async fn foreign_commit(
        &self,
        own: &CommitIdentity,
        accepted: Option<&Sha>,
    ) -> Result<Option<Foreign>, WorkspaceError> {
        let (git, own) = (self.folder.git(), own.clone());
        let (start, base) = (oid(&self.sources.start)?, oid(&self.sources.base)?);
        let accepted = accepted.map(oid).transpose()?;
        blocking("read the branch's history", move || commit::foreign(&git, &own, start, (base, accepted))).await
    }

    /// Reads what changed between two commits of the issue.
    ///
    /// # Errors
    /// [`WorkspaceError::Library`] when a commit is not there.
    pub async fn diff(&self, base: &Sha, head: &Sha) -> Result<Diff, WorkspaceError> {
        let (git, base, head) = (self.folder.git(), oid(base)?, oid(head)?);
        let cap = self.git.settings().max_patch_kib << 10;
        blocking("read the diff", move || diff::read(&git, base, head, cap)).await
    }

    /// Checks a commit out into the clean folder where the checks run; the folder, with a throwaway `.git` of its own.
    ///
    /// # Errors
    /// What git and the disk say.
    pub async fn proof(&self, sha: &Sha) -> Result<PathBuf, WorkspaceError> {
        checked(sha)?;
        let (proof, index) = (self.folder.proof(), self.folder.proof_index());
        let fresh = !proof.exists();
        if fresh || self.fill(&proof, &index, sha).await.is_err() {
            let (gone, stale) = (proof.clone(), index.clone());
            blocking("remove the damaged checkout", move || remove(&gone).and_then(|()| remove(&stale))).await?;
            self.fill(&proof, &index, sha).await?;
        }
        Ok(proof)
    }

    /// Remembers where the branch stands on the server now.
    pub(super) async fn note_pushed(&self, sha: Option<&Sha>) -> Result<(), WorkspaceError> {
        let (place, sha) = (self.folder.pushed(), sha.map_or_else(String::new, ToString::to_string));
        blocking("remember the push", move || write(&place, sha)).await
    }

    /// Hob's git directory of the issue: for pushing from.
    pub(super) fn git_dir(&self) -> PathBuf {
        self.folder.git()
    }

    /// Takes the folder as it is, where it goes out from the commit that the branch stands on; false: it does not.
    async fn keep(&self) -> Result<bool, WorkspaceError> {
        let (folder, branch, start) = (self.folder.clone(), self.branch.clone(), self.sources.start.clone());
        let pushed = self.sources.pushed.clone();
        blocking("look at the folder that was left", move || {
            if !folder.index().exists() || !folder.tree().is_dir() || folder.tree().is_symlink() {
                return Ok(false);
            }
            let repo = git2::Repository::open_bare(folder.git()).map_err(library("open the issue's git directory"))?;
            let Ok(tip) = repo.refname_to_id(&branch.full()) else { return Ok(false) };
            let start_id = oid(&start)?;
            // Whoever moved the branch meanwhile, or threw it away, is right.
            let now = pushed.as_ref().map_or("", Sha::as_str);
            let left = fs::read_to_string(folder.pushed()).unwrap_or_default();
            if now != left && now != tip.to_string() {
                return Ok(false);
            }
            // A commit that was made and never pushed is in the folder, too.
            let is_onwards = tip == start_id
                || repo.graph_descendant_of(tip, start_id).map_err(library("compare the branch with what was left"))?;
            if !is_onwards {
                return Ok(false);
            }
            drop(repo);
            skeleton::own(&folder, &branch, &start)?;
            let tree = folder.tree();
            remove_git_folders(&tree)?;
            skeleton::snapshot(&folder, &tree, &folder.index(), &branch, &start)?;
            Ok(true)
        })
        .await
    }

    async fn lay(&self) -> Result<(), WorkspaceError> {
        let (folder, branch, start) = (self.folder.clone(), self.branch.clone(), self.sources.start.clone());
        blocking("make the checkout", move || skeleton::own(&folder, &branch, &start)).await?;
        self.note_pushed(self.sources.pushed.as_ref()).await?;
        self.fill(&self.tree, &self.folder.index(), &self.sources.start).await
    }

    async fn fill(&self, tree: &Path, index: &Path, sha: &Sha) -> Result<(), WorkspaceError> {
        let (folder, place) = (self.folder.clone(), tree.to_owned());
        let before = blocking("make the checkout", move || {
            // What was `.git` may be a link now, and the folder, too.
            remove(&place.join(".git"))?;
            if place.is_symlink() {
                remove(&place)?;
            }
            make(&place)?;
            is_empty(&place).map(|empty| if empty { Before::Nothing } else { Before::Anything })
        })
        .await?;
        let git_dir = folder.git();
        self.git.materialise(&Tree { git_dir: &git_dir, index, folder: tree, before }, sha).await?;
        let (place, index) = (tree.to_owned(), index.to_owned());
        let (branch, sha) = (self.branch.clone(), sha.clone());
        blocking("make the agent's git directory", move || {
            remove_git_folders(&place)?;
            skeleton::snapshot(&folder, &place, &index, &branch, &sha)
        })
        .await
    }
}
