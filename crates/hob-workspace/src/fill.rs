//! Fills an issue's tree with a commit: its own tree, a free one, or a new one.

use std::{
    fs,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hob_domain::Sha;

use crate::{
    BranchName, WorkspaceError,
    error::disk,
    git::Git,
    in_use::{Turn, Turns},
    intact::{Holds, Rules, remove_all_but_intact, rules},
    layout::{IssueFolder, Kind, blocking, make, remove, renew, unlock},
    part::Patterns,
    pool, skeleton,
};

/// A tree that is clean before it is filled. Nobody else may write to it meanwhile.
#[derive(Debug)]
pub(super) struct Clean {
    pub(super) turn: Arc<Turn>,
    pub(super) rules: Option<Rules>,
}

/// What is done to the folder of the checks before they need it.
#[derive(Debug, Clone, Default)]
pub(super) struct Ahead {
    pub(super) turns: Turns,
    pub(super) clean: Arc<Mutex<Option<Clean>>>,
    /// Whether the base is checked, so that the folder is filled beside the agent's.
    pub(super) checks_base: bool,
}

impl Ahead {
    pub(super) fn cleaned(&self) -> MutexGuard<'_, Option<Clean>> {
        self.clean.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A tree of an issue, to be filled.
pub(super) struct Filling<'a> {
    pub(super) git: &'a Git,
    pub(super) folder: &'a IssueFolder,
    pub(super) turn: &'a Arc<Turn>,
    pub(super) branch: &'a BranchName,
    pub(super) kind: Kind,
    /// Which files are checked out; `None`: all.
    pub(super) patterns: Option<Patterns>,
}

impl Filling<'_> {
    /// Makes the tree contain exactly the commit, and a throwaway `.git`. If the issue has none of this kind, it takes a
    /// free one. One that cannot be cleaned goes, and a new one is made.
    pub(super) async fn fill(&self, sha: &Sha) -> Result<(), WorkspaceError> {
        let kind = self.kind;
        let taken = self.on_disk("take a free tree", move |folder| {
            let place = folder.place(kind);
            // The folder may have become a link.
            if place.is_symlink() {
                remove(&place)?;
            }
            if place.exists() || !pool::take(folder, kind)? {
                return Ok(false);
            }
            // A process that an earlier child left has rights to the folder that it had.
            renew(&place).map(|()| true)
        });
        match taken.await {
            Ok(false) => return self.refill(sha).await,
            Ok(true) => match self.refill(sha).await {
                Ok(()) => return Ok(()),
                Err(error) => tracing::debug!(%error, "a free tree could not be used: {error}"),
            },
            Err(error) => tracing::debug!(%error, "a free tree could not be taken: {error}"),
        }
        self.discard().await?;
        self.refill(sha).await
    }

    /// Moves the tree to the trash, with its record.
    pub(super) async fn discard(&self) -> Result<(), WorkspaceError> {
        let kind = self.kind;
        self.on_disk("remove the damaged checkout", move |folder| {
            pool::discard(&folder.place(kind), folder).and_then(|()| remove(&folder.record(kind)))
        })
        .await
    }

    async fn refill(&self, sha: &Sha) -> Result<(), WorkspaceError> {
        let earlier = self.cleaned().await?;
        self.fill_clean(sha, earlier).await
    }

    /// The same of a tree that is clean, under these rules.
    pub(super) async fn fill_clean(&self, sha: &Sha, earlier: Option<Rules>) -> Result<(), WorkspaceError> {
        self.write(sha).await?;
        let (kind, holds) = (self.kind, self.holds());
        let now = self.on_disk("read the index", move |folder| Ok(rules(&folder.record(kind))));
        // Git does not write a file again whose content is the same and whose form is to be another.
        if let Some(earlier) = earlier
            && now.await? != Some(earlier)
        {
            let emptied = self.on_disk("clean the checkout", move |folder| {
                remove(&folder.record(kind))?;
                remove_all_but_intact(&folder.place(kind), &folder.record(kind), holds).map(drop)
            });
            emptied.await?;
            self.write(sha).await?;
        }
        let (branch, sha, patterns) = (self.branch.clone(), sha.clone(), self.patterns.clone());
        self.on_disk("make the agent's git directory", move |folder| {
            if kind == Kind::Agent {
                copy_index(folder)?;
            }
            skeleton::snapshot(folder, kind, &branch, &sha, patterns.as_ref())
        })
        .await
    }

    /// Removes what is not as git wrote it, and takes the rights away that processes of earlier children have to the folder.
    pub(super) async fn clean_of_children(&self) -> Result<Option<Rules>, WorkspaceError> {
        self.renewed().await?;
        self.cleaned().await
    }

    /// Fills a tree that children wrote to; one that cannot be filled is made anew.
    pub(super) async fn fill_after_children(&self, sha: &Sha) -> Result<(), WorkspaceError> {
        self.renewed().await?;
        if self.fill(sha).await.is_err() {
            self.discard().await?;
            self.fill(sha).await?;
        }
        Ok(())
    }

    /// The folder as one to which no process of an earlier child has rights.
    async fn renewed(&self) -> Result<(), WorkspaceError> {
        let kind = self.kind;
        self.on_disk("renew the folder", move |folder| unlock(folder.repo()).and_then(|()| renew(&folder.place(kind))))
            .await
    }

    async fn cleaned(&self) -> Result<Option<Rules>, WorkspaceError> {
        let (kind, holds) = (self.kind, self.holds());
        self.on_disk("clean the checkout", move |folder| {
            let (place, record) = (folder.place(kind), folder.record(kind));
            make(&place)?;
            // A git command that was killed left its lock behind.
            remove(&record.with_extension("index.lock"))?;
            remove_all_but_intact(&place, &record, holds)
        })
        .await
    }

    fn holds(&self) -> Holds {
        if self.patterns.is_some() { Holds::Part } else { Holds::All }
    }

    async fn write(&self, sha: &Sha) -> Result<(), WorkspaceError> {
        let (git_dir, tree, index) = (self.folder.git(), self.folder.place(self.kind), self.folder.record(self.kind));
        self.git.check_out(&git_dir, &index, &tree, sha, self.patterns.as_ref()).await
    }

    /// Runs work on the disk. The issue's folders count as in use until it has ended, and the tree as its own, even if nobody waits for
    /// it.
    pub(super) async fn on_disk<T: Send + 'static>(
        &self,
        doing: &'static str,
        work: impl FnOnce(&IssueFolder) -> Result<T, WorkspaceError> + Send + 'static,
    ) -> Result<T, WorkspaceError> {
        let (folder, turn) = (self.folder.clone(), Arc::clone(self.turn));
        blocking(doing, move || {
            let done = work(&folder);
            drop(turn);
            done
        })
        .await
    }
}

/// Makes Hob's index of the agent's folder what git wrote, with its time: a file that is as young is compared by its
/// content.
fn copy_index(folder: &IssueFolder) -> Result<(), WorkspaceError> {
    let (from, to) = (folder.record(Kind::Agent), folder.index());
    fs::copy(&from, &to).map_err(disk("copy", &from))?;
    let time = fs::metadata(&from).and_then(|found| found.modified()).map_err(disk("look at", &from))?;
    let copied = fs::File::options().write(true).open(&to).map_err(disk("open", &to))?;
    copied.set_modified(time).map_err(disk("write", &to))
}
