//! The checkout of one issue: the agent's folder, the proof's folder, and the git directory of Hob's behind both.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use hob_domain::{CommitIdentity, Conflict, Diff, LeftOut, PersonsCommit, Sha, Timestamp};
use hob_sandbox::Sandbox;
use hob_text::{KnownSecrets, without_tokens};

use crate::{
    BranchName, Foreign, WorkspaceError,
    commit::{self, Entry, On},
    committer, diff,
    error::library,
    fill::{Ahead, Clean, Filling},
    git::Git,
    git_dir::{self, GitDir},
    in_use::{Turn, Use},
    layout::{IssueFolder, Kind, blocking, remove, remove_aside, remove_git_folders, renew, unlock, write},
    object_id::{checked, oid},
    part::{Part, Patterns},
    persons_commits::persons_commits,
    skeleton,
    update::Unresolved,
};

/// One issue's branch, checked out.
#[derive(Debug, Clone)]
pub struct Checkout {
    git: Git,
    secrets: KnownSecrets,
    folder: IssueFolder,
    tree: PathBuf,
    branch: BranchName,
    sources: Sources,
    part: Part,
    kept: bool,
    unresolved: Option<Arc<Unresolved>>,
    /// A description of the wanted work: files that it names are committed even if a tool made them.
    wanted: String,
    left_out: Arc<Mutex<Vec<LeftOut>>>,
    in_use: Arc<Use>,
    ahead: Ahead,
}

/// The treatment of files that an earlier run left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leftover {
    /// They are removed: the folder is the branch, and nothing else.
    Remove,
    /// They stay, ignored files included, if the branch has not moved elsewhere since. Commits that were never pushed
    /// are then present only as files in the folder.
    Keep,
    /// Like `Keep`, but this commit stays the branch's tip if it is that.
    KeepCommit(Sha),
    /// They are removed, and the folder is this commit, which is ahead of the branch.
    StartAt(Sha),
}

/// The commits a checkout comes from.
#[derive(Debug, Clone)]
pub(super) struct Sources {
    pub(super) base: Sha,
    pub(super) start: Sha,
    pub(super) pushed: Option<Sha>,
}

impl Checkout {
    /// A checkout that is not laid out yet.
    pub(super) fn new(
        git: Git,
        secrets: KnownSecrets,
        folder: IssueFolder,
        in_use: Use,
        branch: BranchName,
        sources: Sources,
    ) -> Self {
        let tree = folder.tree();
        let (unresolved, wanted, left_out) = (None, String::new(), Arc::default());
        let (kept, in_use) = (false, Arc::new(in_use));
        let (part, ahead) = Default::default();
        Self { git, secrets, folder, tree, branch, sources, part, kept, unresolved, wanted, left_out, in_use, ahead }
    }

    /// The same of a part of the repository; with `checks_base` the folder of the checks is filled beside the agent's.
    pub(super) fn within(self, part: Part, checks_base: bool) -> Self {
        Self { part, ahead: Ahead { checks_base, ..self.ahead }, ..self }
    }

    pub(super) fn part(&self) -> &Part {
        &self.part
    }

    /// Git's patterns for the files that are checked out in work on `base` that has these commits; `None` for all.
    pub(super) async fn patterns(&self, base: &Sha, work: &[&Sha]) -> Result<Option<Patterns>, WorkspaceError> {
        self.git.patterns(GitDir::Issue(&self.folder.git()), &self.part, base, work).await
    }

    /// Lays it out; if it cannot be cleaned, it is made from scratch, once.
    pub(super) async fn laid_out(mut self, leftover: Leftover) -> Result<Self, WorkspaceError> {
        let (folder, old) = (self.folder.clone(), self.tree.clone());
        blocking("renew the folder", move || remove_aside(&folder).and_then(|()| renew(&old))).await?;
        let stays = if let Leftover::KeepCommit(commit) = &leftover { Some(commit.clone()) } else { None };
        if matches!(leftover, Leftover::Keep | Leftover::KeepCommit(_)) && self.keep(stays).await.unwrap_or(false) {
            self.kept = true;
            return Ok(self);
        }
        if !self.folder.index().exists() || self.lay().await.is_err() {
            let folder = self.folder.clone();
            blocking("remove the damaged checkout", move || remove(&folder.0)).await?;
            self.lay().await?;
        }
        self.note_pushed(self.sources.pushed.as_ref()).await?;
        Ok(self)
    }

    /// The folder the agent edits.
    pub fn folder(&self) -> &Path {
        &self.tree
    }

    /// Folders of git objects that `git` in the agent's folder reads: a sandbox shows them read-only.
    pub fn borrowed_folders(&self) -> [PathBuf; 2] {
        [self.folder.git().join("objects"), self.folder.mirror_objects()]
    }

    /// Whether the folder contains work of an earlier run, which may be more than the branch has.
    pub fn is_kept(&self) -> bool {
        self.kept
    }

    /// The branch.
    pub fn branch(&self) -> &BranchName {
        &self.branch
    }

    /// The commit that the branch starts from: the given base, or the last common commit if the branch is older.
    pub fn base(&self) -> &Sha {
        &self.sources.base
    }

    /// The commit the checkout started from: the base, or the tip of earlier work.
    pub fn start(&self) -> &Sha {
        &self.sources.start
    }

    /// The branch's tip on the server at the last fetch, which a first push expects; `None` if it was not there.
    pub fn pushed(&self) -> Option<&Sha> {
        self.sources.pushed.as_ref()
    }

    /// The conflicts that an update of the branch left for the agent to resolve.
    pub fn conflicts(&self) -> &[Conflict] {
        self.unresolved.as_ref().map_or(&[], |unresolved| &unresolved.conflicts)
    }

    /// The conflicts whose markers are in the branch's last commit, which must not be published.
    ///
    /// # Errors
    /// [`WorkspaceError::Library`] if the commit cannot be read.
    pub async fn conflicts_left(&self) -> Result<Vec<Conflict>, WorkspaceError> {
        let Some(unresolved) = self.unresolved.clone() else { return Ok(Vec::new()) };
        let (git, tip) = (self.folder.git(), oid(&self.tip().await?)?);
        blocking("look for conflicts that are left", move || unresolved.left(&git, tip)).await
    }

    /// Commits everything in the agent's folder that is not ignored, by a child in `sandbox`; `None` if nothing
    /// changed. Known secrets, and others of known forms, are left out of the message. The commit of an update that left conflicts is replaced, so
    /// that they are in no commit's history.
    ///
    /// # Errors
    /// [`WorkspaceError::Unfit`] names what cannot be committed.
    pub async fn commit(
        &self,
        sandbox: &Sandbox,
        message: &str,
        identity: &CommitIdentity,
        time: Timestamp,
    ) -> Result<Option<Sha>, WorkspaceError> {
        let message = without_tokens(&self.secrets.redaction().text(message));
        let identity = identity.clone();
        let on = if self.unresolved.is_some() { On::Parents } else { On::Tip };
        let entry = Entry { message, identity, time, on };
        let repo = self.folder.repo().to_owned();
        // The agent may have locked folders that belong to Hob.
        blocking("unlock the checkout", move || unlock(&repo)).await?;
        let (branch, wanted) = (self.branch.full(), self.wanted.clone());
        let (made, left_out) = committer::commit(&self.git, &self.folder, sandbox, branch, wanted, entry).await?;
        self.note_left_out(left_out);
        Ok(made)
    }

    /// Notes what is in the agent's folder and in no commit.
    pub(super) fn note_left_out(&self, left_out: Vec<LeftOut>) {
        *self.left_out.lock().unwrap_or_else(PoisonError::into_inner) = left_out;
    }

    /// Sets the description of the work: files that it names are committed even if a tool made them.
    #[must_use]
    pub fn wanting(self, words: String) -> Self {
        Self { wanted: words, ..self }
    }

    /// The paths that the last commit left out.
    pub fn left_out(&self) -> Vec<LeftOut> {
        self.left_out.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The branch's tip in Hob's git directory: the last commit made here, or the checkout's start.
    ///
    /// # Errors
    /// [`WorkspaceError::Library`] if the branch cannot be read.
    pub async fn tip(&self) -> Result<Sha, WorkspaceError> {
        let (git, name) = (self.folder.git(), self.branch.full());
        blocking("read the branch's tip", move || {
            let repo = git_dir::open(&git, "open the issue's git directory")?;
            let id = repo.refname_to_id(&name).map_err(library("read the branch's tip"))?;
            Ok(Sha(id.to_string()))
        })
        .await
    }

    /// The message of one of the issue's commits.
    ///
    /// # Errors
    /// [`WorkspaceError::Library`] if the commit does not exist.
    pub async fn message(&self, commit: &Sha) -> Result<String, WorkspaceError> {
        let (git, commit) = (self.folder.git(), oid(commit)?);
        blocking("read the commit", move || {
            let repo = git_dir::open(&git, "read the commit")?;
            let found = repo.find_commit(commit).map_err(library("read the commit"))?;
            Ok(String::from_utf8_lossy(found.message_bytes()).into_owned())
        })
        .await
    }

    /// Checks that `head` descends from the base, as everything committed here does.
    ///
    /// # Errors
    /// [`WorkspaceError::UnrelatedHistory`] if it does not.
    pub(super) async fn goes_out_from_base(&self, head: &Sha) -> Result<(), WorkspaceError> {
        let (git, branch, base) = (self.folder.git(), self.branch.clone(), self.sources.base.clone());
        let head = oid(head)?;
        blocking("compare the work with its base", move || {
            let doing = "compare the work with its base";
            let (repo, from) = (git_dir::open(&git, doing)?, oid(&base)?);
            match head == from || repo.graph_descendant_of(head, from).map_err(library(doing))? {
                true => Ok(()),
                false => Err(WorkspaceError::UnrelatedHistory { branch, base }),
            }
        })
        .await
    }

    /// Moves the branch in Hob's git directory back to `to`: commits since then are in no later commit's history, and
    /// their files stay in the agent's folder.
    ///
    /// # Errors
    /// [`WorkspaceError::Library`] when the branch cannot be moved.
    pub async fn unwind(&self, to: &Sha) -> Result<(), WorkspaceError> {
        let (git, name, to) = (self.folder.git(), self.branch.full(), oid(to)?);
        blocking("move the branch", move || {
            let failed = library("move the branch");
            let repo = git_dir::open(&git, "move the branch")?;
            repo.reference(&name, to, true, "unwound").map(drop).map_err(&failed)
        })
        .await
    }

    /// Moves the branch in Hob's git directory to `commit`, restores the agent's folder to it, and removes everything else there.
    ///
    /// # Errors
    /// Errors of git and the disk.
    pub async fn restore(&self, commit: &Sha) -> Result<(), WorkspaceError> {
        self.moved_branch(commit).await?;
        self.fill(Kind::Agent, commit).await
    }

    async fn moved_branch(&self, commit: &Sha) -> Result<(), WorkspaceError> {
        let (folder, branch, at) = (self.folder.clone(), self.branch.clone(), commit.clone());
        blocking("make the checkout", move || skeleton::own(&folder, &branch, &at)).await
    }

    /// The first commit of the earlier work, from the base on, or from `accepted` if that is part of it, whose
    /// committer is not the address `own`. `None` if all of it is Hob's.
    ///
    /// # Errors
    /// [`WorkspaceError::Library`] if the history cannot be read.
    pub async fn foreign_commit(
        &self,
        own: &CommitIdentity,
        accepted: Option<&Sha>,
    ) -> Result<Option<Foreign>, WorkspaceError> {
        let (git, own) = (self.folder.git(), own.clone());
        let (start, base) = (oid(&self.sources.start)?, oid(&self.sources.base)?);
        let accepted = accepted.map(oid).transpose()?;
        blocking("read the branch's history", move || commit::foreign(&git, &own, start, base, accepted)).await
    }

    /// The commits of the earlier work that are not Hob's, oldest first: those after `since`, if that is part of it.
    ///
    /// # Errors
    /// [`WorkspaceError::Library`] if the history cannot be read.
    pub async fn persons_commits(
        &self,
        own: &CommitIdentity,
        base_tip: &Sha,
        since: Option<&Sha>,
    ) -> Result<Vec<PersonsCommit>, WorkspaceError> {
        let (git, own, start) = (self.folder.git(), own.clone(), oid(&self.sources.start)?);
        let known = [Some(oid(base_tip)?), since.map(oid).transpose()?];
        blocking("read the branch's history", move || persons_commits(&git, &own, start, known)).await
    }

    /// The tree of a commit of the issue.
    ///
    /// # Errors
    /// [`WorkspaceError::Library`] when the commit is not there.
    pub async fn tree(&self, commit: &Sha) -> Result<Sha, WorkspaceError> {
        let (git, commit) = (self.folder.git(), oid(commit)?);
        blocking("read the commit", move || {
            let repo = git_dir::open(&git, "read the commit")?;
            let found = repo.find_commit(commit).map_err(library("read the commit"))?;
            Ok(Sha(found.tree_id().to_string()))
        })
        .await
    }

    /// Reads the changes between two commits of the issue.
    ///
    /// # Errors
    /// [`WorkspaceError::Library`] when a commit is not there.
    pub async fn diff(&self, base: &Sha, head: &Sha) -> Result<Diff, WorkspaceError> {
        let (git, base, head) = (self.folder.git(), oid(base)?, oid(head)?);
        let own = self.secrets.redaction();
        let cap = self.git.settings().max_patch_kib << 10;
        blocking("read the diff", move || diff::read(&git, base, head, cap, &own)).await
    }

    /// Checks a commit out into the clean folder of the checks, and returns that folder, with its own throwaway `.git`.
    ///
    /// # Errors
    /// Errors of git and the disk.
    pub async fn proof(&self, sha: &Sha) -> Result<PathBuf, WorkspaceError> {
        checked(sha)?;
        let patterns = self.patterns(&self.sources.base, &[sha]).await?;
        let clean = self.ahead.cleaned().take();
        let is_filled = match clean {
            Some(Clean { turn, rules }) => {
                self.filling(Kind::Proof, &turn, patterns.clone()).fill_clean(sha, rules).await.is_ok()
            }
            None => false,
        };
        if !is_filled {
            let turn = self.turn(Kind::Proof).await;
            self.filling(Kind::Proof, &turn, patterns).fill_after_children(sha).await?;
        }
        Ok(self.folder.place(Kind::Proof))
    }

    /// Fills the folder of the checks before they need it, beside other work, so that only what differs is left to write then.
    /// If it is dropped, or fails, [`proof`](Self::proof) fills it, and reports it.
    pub async fn fill_ahead(&self, sha: &Sha) {
        // Git reads the patterns of a part from the issue's git directory, where each other command removes them.
        if self.part.is_whole()
            && let Err(error) = self.proof(sha).await
        {
            tracing::debug!(%error, "the folder of the checks could not be filled ahead: {error}");
        }
    }

    /// Cleans it beside other work, once the last child before the checks has ended; else [`proof`](Self::proof) does.
    pub async fn clean_ahead(&self) {
        if self.part.is_whole() && self.folder.place(Kind::Proof).exists() {
            let turn = self.turn(Kind::Proof).await;
            let rules = self.filling(Kind::Proof, &turn, None).clean_of_children().await;
            *self.ahead.cleaned() = rules.ok().map(|rules| Clean { turn, rules });
        }
    }

    /// Records the branch's current tip on the server.
    pub(super) async fn note_pushed(&self, sha: Option<&Sha>) -> Result<(), WorkspaceError> {
        let (place, sha) = (self.folder.pushed(), sha.map_or_else(String::new, ToString::to_string));
        blocking("remember the push", move || write(&place, sha)).await
    }

    /// The issue's folders.
    pub(super) fn issue_folder(&self) -> &IssueFolder {
        &self.folder
    }

    /// Hob's git directory of the issue: for pushing from.
    pub(super) fn git_dir(&self) -> PathBuf {
        self.folder.git()
    }

    /// Takes the folder as it is if it descends from the branch's tip, and returns whether it does. The commit `stays`
    /// stays the branch's tip.
    async fn keep(&mut self, stays: Option<Sha>) -> Result<bool, WorkspaceError> {
        let (folder, branch, start) = (self.folder.clone(), self.branch.clone(), self.sources.start.clone());
        let pushed = self.sources.pushed.clone();
        let start = blocking("look at the folder that was left", move || {
            if !folder.index().exists() || !folder.tree().is_dir() || folder.tree().is_symlink() {
                return Ok(None);
            }
            let repo = git_dir::open(&folder.git(), "open the issue's git directory")?;
            let Ok(tip) = repo.refname_to_id(&branch.full()) else { return Ok(None) };
            // Commits that were never pushed start from the base of their time.
            let start = match &pushed {
                Some(_) => start,
                None => match repo.merge_base(tip, oid(&start)?) {
                    Ok(fork) => Sha(fork.to_string()),
                    Err(_unrelated) => return Ok(None),
                },
            };
            let start_id = oid(&start)?;
            // If someone moved or deleted the branch meanwhile, their version counts.
            let now = pushed.as_ref().map_or("", Sha::as_str);
            let left = fs::read_to_string(folder.pushed()).unwrap_or_default();
            if now != left && now != tip.to_string() {
                return Ok(None);
            }
            // A commit that was made and never pushed is in the folder, too.
            let is_onwards = tip == start_id
                || repo.graph_descendant_of(tip, start_id).map_err(library("compare the branch with what was left"))?;
            if !is_onwards {
                return Ok(None);
            }
            drop(repo);
            let fork = start;
            let start = stays.filter(|stays| stays.as_str() == tip.to_string()).unwrap_or_else(|| fork.clone());
            skeleton::own(&folder, &branch, &start)?;
            Ok(Some((fork, start)))
        })
        .await?;
        let Some((fork, start)) = start else { return Ok(false) };
        if self.sources.pushed.is_none() {
            self.sources.base = fork;
        }
        let patterns = self.patterns(&self.sources.base, &[&start]).await?;
        let (folder, branch, at) = (self.folder.clone(), self.branch.clone(), start.clone());
        blocking("make the agent's git directory", move || {
            remove_git_folders(&folder.tree())?;
            skeleton::snapshot(&folder, Kind::Agent, &branch, &at, patterns.as_ref())
        })
        .await?;
        self.sources.start = start;
        Ok(true)
    }

    /// Changes the sources: `start` is the branch now, on top of `base`.
    pub(super) async fn move_to(
        &mut self,
        base: Sha,
        start: Sha,
        unresolved: Option<Unresolved>,
    ) -> Result<(), WorkspaceError> {
        self.sources = Sources { base, start, pushed: self.sources.pushed.take() };
        if unresolved.is_some() {
            // A folder with conflict markers must not be kept by a later run, which would take them for work.
            let place = self.folder.pushed();
            blocking("remember the conflicts", move || write(&place, "conflicts")).await?;
        }
        self.unresolved = unresolved.map(Arc::new);
        if self.lay().await.is_ok() {
            return Ok(());
        }
        let turn = self.turn(Kind::Agent).await;
        self.filling(Kind::Agent, &turn, None).discard().await?;
        self.lay().await
    }

    async fn lay(&self) -> Result<(), WorkspaceError> {
        if !self.ahead.checks_base {
            return self.restore(&self.sources.start).await;
        }
        // Both need the git directory.
        self.moved_branch(&self.sources.start).await?;
        tokio::join!(self.fill(Kind::Agent, &self.sources.start), self.fill_ahead(&self.sources.base)).0
    }

    /// Makes a tree the commit, or the part of it that is checked out.
    async fn fill(&self, kind: Kind, sha: &Sha) -> Result<(), WorkspaceError> {
        let patterns = self.patterns(&self.sources.base, &[sha]).await?;
        let turn = self.turn(kind).await;
        self.filling(kind, &turn, patterns).fill(sha).await
    }

    /// The right to write a tree.
    async fn turn(&self, kind: Kind) -> Arc<Turn> {
        self.ahead.turns.take(&self.in_use, kind).await
    }

    fn filling<'a>(&'a self, kind: Kind, turn: &'a Arc<Turn>, patterns: Option<Patterns>) -> Filling<'a> {
        Filling { git: &self.git, folder: &self.folder, turn, branch: &self.branch, kind, patterns }
    }
}
