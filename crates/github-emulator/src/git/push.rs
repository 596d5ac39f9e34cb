//! The commits that a push added to a branch, and whether it was forced.

use git2::{Oid, Repository, Sort};

use super::{FileChange, changes_between};

/// The most commits in the event of a push. <https://docs.github.com/webhooks/webhook-events-and-payloads#push>
const COMMITS_MAX: usize = 2_048;

/// One ref that moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct RefMove {
    pub(in super::super) reference: String,
    pub(in super::super) old: Option<Oid>,
    pub(in super::super) new: Option<Oid>,
}

/// An added commit and the files it changed.
pub(in super::super) type AddedCommit = (Oid, Vec<FileChange>);

/// Whether the move lost commits that the ref had.
pub(in super::super) fn is_forced(repo: &Repository, change: &RefMove) -> bool {
    match (change.old, change.new) {
        (Some(old), Some(new)) => old != new && !repo.graph_descendant_of(new, old).unwrap_or(false),
        (Some(_) | None, None) | (None, Some(_)) => false,
    }
}

/// The commits that the ref has now and neither it nor another branch had, oldest first; of a tag none.
pub(in super::super) fn added_commits(repo: &Repository, change: &RefMove) -> Result<Vec<AddedCommit>, git2::Error> {
    let Some(new) = change.new.filter(|_| change.reference.starts_with("refs/heads/")) else { return Ok(Vec::new()) };
    let mut walk = repo.revwalk()?;
    walk.set_sorting(Sort::TOPOLOGICAL | Sort::REVERSE)?;
    walk.push(new)?;
    if let Some(old) = change.old {
        walk.hide(old)?;
    }
    for reference in repo.references_glob("refs/heads/*")? {
        let reference = reference?;
        if let (Ok(name), Some(tip)) = (reference.name(), reference.target())
            && name != change.reference
        {
            walk.hide(tip)?;
        }
    }
    let show = |id: Oid| {
        let commit = repo.find_commit(id)?;
        Ok((id, changes_between(repo, commit.parent_ids().next(), id)?))
    };
    walk.take(COMMITS_MAX).map(|id| show(id?)).collect()
}
