//! Differences between commits: changed files with their patches, the commits between, merge bases.

use git2::{Commit, Delta, DiffOptions, Email, EmailCreateOptions, Oid, Patch, Repository};

/// GitHub's limits: files of a comparison, and commits of one. <https://docs.github.com/rest/commits/commits#compare-two-commits>
const FILES_MAX: usize = 300;
const COMMITS_MAX: usize = 250;
/// The longest patch text of one file; GitHub leaves a longer one out.
const PATCH_MAX: usize = 1 << 20;

/// One changed file.
#[derive(Debug, Clone)]
pub(in super::super) struct FileChange {
    pub(in super::super) path: String,
    pub(in super::super) old_path: Option<String>,
    pub(in super::super) status: &'static str,
    pub(in super::super) blob: Oid,
    pub(in super::super) additions: usize,
    pub(in super::super) deletions: usize,
    /// The hunks, without a file header; `None` for a binary or very large file.
    pub(in super::super) patch: Option<String>,
}

/// The newest commit both have.
pub(in super::super) fn merge_base(repo: &Repository, one: Oid, two: Oid) -> Result<Option<Oid>, git2::Error> {
    match repo.merge_base(one, two) {
        Ok(base) => Ok(Some(base)),
        Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The files that `head` changed since it left `base`.
pub(in super::super) fn changes(repo: &Repository, base: Oid, head: Oid) -> Result<Vec<FileChange>, git2::Error> {
    changes_between(repo, merge_base(repo, base, head)?, head)
}

/// The files that differ between two commits; all of `new` if `old` is `None`.
pub(in super::super) fn changes_between(
    repo: &Repository,
    old: Option<Oid>,
    new: Oid,
) -> Result<Vec<FileChange>, git2::Error> {
    let old = old.map(|old| repo.find_commit(old)?.tree()).transpose()?;
    let new = repo.find_commit(new)?.tree()?;
    let mut diff = repo.diff_tree_to_tree(old.as_ref(), Some(&new), Some(&mut DiffOptions::new()))?;
    diff.find_similar(None)?;
    (0..diff.deltas().len().min(FILES_MAX)).map(|index| file_change(&diff, index)).collect()
}

fn file_change(diff: &git2::Diff<'_>, index: usize) -> Result<FileChange, git2::Error> {
    let delta = diff.get_delta(index).ok_or_else(|| git2::Error::from_str("a delta is gone"))?;
    let name = |file: git2::DiffFile<'_>| String::from_utf8_lossy(file.path_bytes().unwrap_or_default()).into_owned();
    let (path, old_path) = (name(delta.new_file()), name(delta.old_file()));
    let status = match delta.status() {
        Delta::Added | Delta::Untracked => "added",
        Delta::Deleted => "removed",
        Delta::Renamed => "renamed",
        Delta::Copied => "copied",
        Delta::Typechange => "changed",
        Delta::Modified | Delta::Unmodified | Delta::Ignored | Delta::Unreadable | Delta::Conflicted => "modified",
    };
    let blob = if delta.status() == Delta::Deleted { delta.old_file().id() } else { delta.new_file().id() };
    let mut change = FileChange {
        old_path: Some(old_path).filter(|old| *old != path),
        path,
        status,
        blob,
        additions: 0,
        deletions: 0,
        patch: None,
    };
    if let Some(mut patch) = Patch::from_diff(diff, index)? {
        (_, change.additions, change.deletions) = patch.line_stats()?;
        if patch.size(true, true, false) <= PATCH_MAX {
            let buffer = patch.to_buf()?;
            let text = String::from_utf8_lossy(&buffer).into_owned();
            change.patch = text.find("\n@@").map(|at| text[at + 1..].trim_end_matches('\n').to_owned());
        }
    }
    Ok(change)
}

/// The changes of `head` since it left `base` as one patch text, as `git diff` shows them.
pub(in super::super) fn patch_text(repo: &Repository, base: Oid, head: Oid) -> Result<Vec<u8>, git2::Error> {
    patch_between(repo, merge_base(repo, base, head)?, head)
}

/// The commits of `head` that `base` does not have, each as an email, as `git format-patch` writes them.
pub(in super::super) fn emails(repo: &Repository, base: Oid, head: Oid) -> Result<Vec<u8>, git2::Error> {
    let mut text = Vec::new();
    for id in walk(repo, Some(base), head)? {
        text.extend(email_of(&repo.find_commit(id)?)?);
    }
    Ok(text)
}

/// A commit as an email.
pub(in super::super) fn email_of(commit: &Commit<'_>) -> Result<Vec<u8>, git2::Error> {
    Ok(Email::from_commit(commit, &mut EmailCreateOptions::new())?.as_slice().to_vec())
}

/// The difference of two commits as one patch text; all of `head` if `old` is `None`.
pub(in super::super) fn patch_between(repo: &Repository, old: Option<Oid>, head: Oid) -> Result<Vec<u8>, git2::Error> {
    let old = old.map(|old| repo.find_commit(old)?.tree()).transpose()?;
    let new = repo.find_commit(head)?.tree()?;
    let mut diff = repo.diff_tree_to_tree(old.as_ref(), Some(&new), None)?;
    diff.find_similar(None)?;
    let mut text = Vec::new();
    diff.print(git2::DiffFormat::Patch, |_, _, line| {
        if matches!(line.origin(), '+' | '-' | ' ') {
            text.push(line.origin() as u8);
        }
        text.extend_from_slice(line.content());
        true
    })?;
    Ok(text)
}

/// The commits of `head` that `base` does not have, oldest first.
pub(in super::super) fn walk(repo: &Repository, base: Option<Oid>, head: Oid) -> Result<Vec<Oid>, git2::Error> {
    let mut walk = repo.revwalk()?;
    walk.set_sorting(git2::Sort::TOPOLOGICAL | git2::Sort::REVERSE)?;
    walk.push(head)?;
    if let Some(base) = base {
        walk.hide(base)?;
    }
    walk.take(COMMITS_MAX).collect()
}
