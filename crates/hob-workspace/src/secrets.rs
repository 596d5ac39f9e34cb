//! Secrets that commits bring in: in the content of files of any kind, in their names, and in messages. Hob knows most
//! by their form, and its own by their values.
//!
//! A file that has [`ALLOW`] on the base branch is its owner's way out: it may get secrets by their form, such as those of tests.
//! Who works cannot open that way, and it does not lead out for Hob's own.
//!
//! Every commit is checked, because a push brings all of them; earlier content of a file is not this work's doing.

use std::{collections::BTreeSet, path::Path};

use git2::{Commit, Delta, DiffOptions, ErrorCode, Oid, Repository, Sort};
use hob_domain::{SecretFound, Sha, shown_path};
use hob_text::{Redaction, SecretKind, secrets_in, without_tokens};

/// What a file contains that may have secrets by their form.
const ALLOW: &[u8] = b"hob:allow";

/// The secrets in the commits from `base` to `head`.
pub(super) fn secrets(
    repo: &Repository,
    base: Oid,
    head: Oid,
    own: &Redaction,
) -> Result<Vec<SecretFound>, git2::Error> {
    let mut walk = repo.revwalk()?;
    walk.set_sorting(Sort::TOPOLOGICAL)?;
    walk.push(head)?;
    walk.hide(base)?;
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for id in walk {
        let commit = repo.find_commit(id?)?;
        let sha = (commit.id() != head).then(|| Sha(commit.id().to_string()));
        for (path, kind) in brought_in(repo, base, &commit, own)? {
            if seen.insert((path.clone(), kind)) {
                found.push(SecretFound { path, kind, commit: sha.clone() });
            }
        }
    }
    Ok(found)
}

/// One file of a commit: its path, and its content before and after.
type Change = (Vec<u8>, Oid, Oid);

/// The content that a commit has and none of its parents has.
fn brought_in(
    repo: &Repository,
    base: Oid,
    commit: &Commit<'_>,
    own: &Redaction,
) -> Result<Vec<(String, SecretKind)>, git2::Error> {
    let mut changes: Option<Vec<Change>> = None;
    for parent in commit.parents() {
        let against = changed(repo, Some(&parent), commit)?;
        // A merge did not bring in what it takes unchanged from one of its parents.
        changes = Some(match changes {
            None => against,
            Some(mut known) => {
                let new: BTreeSet<_> = against.iter().map(|(path, _, after)| (path, after)).collect();
                known.retain(|(path, _, after)| new.contains(&(path, after)));
                known
            }
        });
    }
    let changes = match changes {
        Some(changes) => changes,
        None => changed(repo, None, commit)?,
    };
    let mut found = Vec::new();
    if !own.found_in(commit.raw_header_bytes()).is_empty() || !own.found_in(commit.message_raw_bytes()).is_empty() {
        found.push(("the commit's message".to_owned(), SecretKind::Own));
    }
    for (path, before, after) in changes {
        let content = |id: Oid| if id.is_zero() { Ok(BTreeSet::new()) } else { held_by(repo, id, own) };
        let now = content(after)?;
        let new = if now.is_empty() { now } else { now.difference(&content(before)?).cloned().collect() };
        let named = all_in(&path, own);
        let shown = without_tokens(&own.text(&shown_path(&path)));
        let mut kinds: BTreeSet<_> = new.into_iter().chain(named).map(|(kind, _)| kind).collect();
        if !kinds.is_empty() && is_allowed(repo, base, &path)? {
            kinds.retain(|kind| *kind == SecretKind::Own);
        }
        found.extend(kinds.into_iter().map(|kind| (shown.clone(), kind)));
    }
    Ok(found)
}

/// Whether the file's owner allows secrets in it: whether it says so on the base.
fn is_allowed(repo: &Repository, base: Oid, path: &[u8]) -> Result<bool, git2::Error> {
    let Ok(path) = str::from_utf8(path) else { return Ok(false) };
    let tree = repo.find_commit(base)?.tree()?;
    let Ok(entry) = tree.get_path(Path::new(path)) else { return Ok(false) };
    let Ok(blob) = repo.find_blob(entry.id()) else { return Ok(false) };
    Ok(blob.content().windows(ALLOW.len()).any(|part| part == ALLOW))
}

fn changed(repo: &Repository, from: Option<&Commit<'_>>, to: &Commit<'_>) -> Result<Vec<Change>, git2::Error> {
    let (old, new) = (from.map(Commit::tree).transpose()?, to.tree()?);
    let mut options = DiffOptions::new();
    options.include_typechange(true).skip_binary_check(true);
    let mut diff = repo.diff_tree_to_tree(old.as_ref(), Some(&new), Some(&mut options))?;
    match diff.find_similar(None) {
        // As in `held_by`: then a file that moved counts as a new one.
        Err(error) if error.code() == ErrorCode::NotFound => {}
        compared => compared?,
    }
    let here = diff.deltas().filter(|delta| delta.status() != Delta::Deleted);
    let change = |delta: git2::DiffDelta<'_>| {
        let path = delta.new_file().path_bytes().unwrap_or_default().to_vec();
        (path, delta.old_file().id(), delta.new_file().id())
    };
    Ok(here.map(change).collect())
}

/// Ignores missing objects: the commit of a submodule, and files of commits that were on the server before.
fn held_by(repo: &Repository, id: Oid, own: &Redaction) -> Result<BTreeSet<(SecretKind, Vec<u8>)>, git2::Error> {
    match repo.find_blob(id) {
        Ok(blob) => Ok(all_in(blob.content(), own)),
        Err(error) if error.code() == ErrorCode::NotFound => Ok(BTreeSet::new()),
        Err(error) => Err(error),
    }
}

/// Secrets of well-known forms, and Hob's own, which are distinguished by numbers.
fn all_in(content: &[u8], own: &Redaction) -> BTreeSet<(SecretKind, Vec<u8>)> {
    let numbered = |number: usize| (SecretKind::Own, number.to_be_bytes().to_vec());
    secrets_in(content).into_iter().chain(own.found_in(content).into_iter().map(numbered)).collect()
}
