//! The commits on Hob's branch that are not Hob's.

use std::path::Path;

use git2::{Commit, DiffOptions, Oid, Patch, Repository, Sort};
use hob_domain::{CommitIdentity, FileChange, PersonsCommit, Sha, shown_path};

use crate::{WorkspaceError, commit::is_own, diff, error::library, git_dir};

/// Commits that are read, the newest ones, and files of each.
const COMMITS_MAX: usize = 20;
const FILES_MAX: usize = 20;

/// The commits of `start` that neither `base` nor `since` contains and whose committer is not `own`, oldest first.
pub(super) fn persons_commits(
    git: &Path,
    own: &CommitIdentity,
    start: Oid,
    [base, since]: [Option<Oid>; 2],
) -> Result<Vec<PersonsCommit>, WorkspaceError> {
    let failed = library("read the branch's history");
    let repo = git_dir::open(git, "read the branch's history")?;
    let mut walk = repo.revwalk().map_err(&failed)?;
    walk.set_sorting(Sort::TOPOLOGICAL).and_then(|()| walk.push(start)).map_err(&failed)?;
    // A person may have replaced the branch, so that the work of before is not there.
    for known in [base, since].into_iter().flatten().filter(|id| repo.find_commit(*id).is_ok()) {
        walk.hide(known).map_err(&failed)?;
    }
    let mut found = Vec::new();
    for id in walk {
        let commit = id.and_then(|id| repo.find_commit(id)).map_err(&failed)?;
        if found.len() == COMMITS_MAX {
            break;
        }
        if !is_own(&commit, own) {
            found.push(told(&repo, &commit));
        }
    }
    found.reverse();
    Ok(found)
}

fn told(repo: &Repository, commit: &Commit<'_>) -> PersonsCommit {
    // What a merge brings is not that person's work, and what cannot be read is left out.
    let mut files = if commit.parent_count() == 1 { files(repo, commit).unwrap_or_default() } else { Vec::new() };
    let more_files = files.len().saturating_sub(FILES_MAX);
    files.truncate(FILES_MAX);
    let subject = commit.summary_bytes().unwrap_or_default();
    PersonsCommit {
        sha: Sha(commit.id().to_string()),
        author: shown_path(commit.author().name_bytes()),
        subject: String::from_utf8_lossy(subject).into_owned(),
        files,
        more_files,
    }
}

fn files(repo: &Repository, commit: &Commit<'_>) -> Result<Vec<FileChange>, git2::Error> {
    let (before, after) = (commit.parent(0)?.tree()?, commit.tree()?);
    let mut options = DiffOptions::new();
    options.include_typechange(true);
    let changes = repo.diff_tree_to_tree(Some(&before), Some(&after), Some(&mut options))?;
    let mut files = Vec::new();
    for (number, delta) in changes.deltas().enumerate() {
        let mut file = diff::change(repo, &delta);
        // The counts of the listed ones, which cost a comparison each.
        if number < FILES_MAX
            && let Ok(Some(patch)) = Patch::from_diff(&changes, number)
            && let Ok((_context, additions, deletions)) = patch.line_stats()
        {
            (file.additions, file.deletions) = (additions as u64, deletions as u64);
        }
        files.push(file);
    }
    Ok(files)
}
