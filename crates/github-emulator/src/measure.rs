//! The facts about a pull request that only git knows: the size of its change, whether it merges, and the commit of
//! that merge, which `refs/pull/N/merge` points to.

use git2::{Oid, Repository, Signature, Time};

use super::{
    git::{changes, walk},
    state::{Accounts, IssueState},
    verification::all_verified,
    wire::Measured,
};

/// The author of a test merge.
const NAME: &str = "GitHub";
const EMAIL: &str = "noreply@github.com";

/// Measures the pull request `number` of these tips; only for an open one it checks whether it merges.
pub(super) fn measure(
    git: &Repository,
    number: u64,
    base: Oid,
    head: Oid,
    state: IssueState,
) -> Result<Measured, git2::Error> {
    let files = changes(git, base, head)?;
    let merge = match state {
        IssueState::Open => Some(test_merge(git, number, base, head)?),
        IssueState::Closed => None,
    };
    Ok(Measured {
        additions: files.iter().map(|file| file.additions).sum(),
        deletions: files.iter().map(|file| file.deletions).sum(),
        files: files.len(),
        commits: walk(git, Some(base), head)?.len(),
        mergeable: merge.map(|merge| merge.is_some()),
        behind: head != base && !git.graph_descendant_of(head, base)?,
        verified: false,
        test_merge: merge.flatten(),
    })
}

/// The measurement, with the verification of the commits' signatures by the accounts' keys.
pub(super) fn with_signatures(
    measured: Measured,
    git: &Repository,
    base: Oid,
    head: Oid,
    accounts: &Accounts,
) -> Result<Measured, git2::Error> {
    Ok(Measured { verified: all_verified(git, base, head, accounts)?, ..measured })
}

/// Whether `refs/pull/N/merge` differs from the measurement.
pub(super) fn merge_is_stale(git: &Repository, number: u64, measured: &Measured) -> bool {
    measured.mergeable.is_some() && git.refname_to_id(&name(number)).ok() != measured.test_merge
}

/// Sets `refs/pull/N/merge` to the measured merge, or removes it if there is none. The caller holds the lock of the
/// repository's refs.
pub(super) fn follow_merge(git: &Repository, number: u64, measured: &Measured) -> Result<(), git2::Error> {
    if !merge_is_stale(git, number, measured) {
        return Ok(());
    }
    match measured.test_merge {
        Some(merge) => git.reference(&name(number), merge, true, "").map(|_| ()),
        None => git.find_reference(&name(number))?.delete(),
    }
}

/// The commit of `head` merged into `base`; `None` if they conflict. The same tips give the same commit.
fn test_merge(git: &Repository, number: u64, base: Oid, head: Oid) -> Result<Option<Oid>, git2::Error> {
    let known = git.find_reference(&name(number)).and_then(|reference| reference.peel_to_commit());
    if let Ok(known) = known
        && known.parent_ids().eq([base, head])
    {
        return Ok(Some(known.id()));
    }
    let (ours, theirs) = (git.find_commit(base)?, git.find_commit(head)?);
    let mut index = git.merge_commits(&ours, &theirs, None)?;
    if index.has_conflicts() {
        return Ok(None);
    }
    let tree = git.find_tree(index.write_tree_to(git)?)?;
    let at = ours.committer().when().seconds().max(theirs.committer().when().seconds());
    let who = Signature::new(NAME, EMAIL, &Time::new(at, 0))?;
    git.commit(None, &who, &who, &format!("Merge {head} into {base}"), &tree, &[&ours, &theirs]).map(Some)
}

fn name(number: u64) -> String {
    format!("refs/pull/{number}/merge")
}
