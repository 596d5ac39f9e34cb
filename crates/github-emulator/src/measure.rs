//! What only git can tell about a pull request: how much it changes, and whether it merges.

use git2::{Oid, Repository};

use super::{
    git::{changes, walk},
    state::IssueState,
    wire::Measured,
};

/// Measures a pull request of these tips; whether it merges is asked of an open one only.
pub(super) fn measure(git: &Repository, (base, head): (Oid, Oid), state: IssueState) -> Result<Measured, git2::Error> {
    let files = changes(git, base, head)?;
    let mergeable = match state {
        IssueState::Open => Some(merges(git, base, head)?),
        IssueState::Closed => None,
    };
    Ok(Measured {
        additions: files.iter().map(|file| file.additions).sum(),
        deletions: files.iter().map(|file| file.deletions).sum(),
        files: files.len(),
        commits: walk(git, Some(base), head)?.len(),
        mergeable,
    })
}

/// Whether `head` merges into `base` without a conflict.
fn merges(git: &Repository, base: Oid, head: Oid) -> Result<bool, git2::Error> {
    Ok(!git.merge_commits(&git.find_commit(base)?, &git.find_commit(head)?, None)?.has_conflicts())
}
