//! What a person should see of a change before reading it, as far as the trees tell: packages, undone commits, generated files,
//! blank space, folders that lose most of their files.
//!
//! # Guarantees
//! Which files are generated is decided by the base's `.gitattributes`: a change cannot call its own files so.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::Path,
};

use git2::{Delta, DiffDelta, ObjectType, Oid, Repository, Tree, TreeWalkMode, TreeWalkResult};
use hob_domain::{ChangeKind, CommitIdentity, Emptied, FileChange, Notable, Sha, shown_path};
use hob_proof::{GeneratedRules, PackageFile, dependencies, is_lock, names_packages, says_generated};

use crate::{Checkout, WorkspaceError, error::library, git_dir, layout::blocking, object_id::oid, undone::undone};

/// Bytes of a file that names packages; large lock files have several MiB.
const PACKAGES_MAX: usize = 32 << 20;
/// Bytes of a file that is compared without its blank space, and of a file of attributes.
const FILE_MAX: usize = 1 << 20;
/// Changed files that are looked into.
const FILES_MAX: usize = 5_000;
/// The fewest files of a folder that can lose most of them.
const FOLDER_MIN: usize = 5;
/// Folders that are named.
const FOLDERS_MAX: usize = 5;

/// What a person should see of the change from the base to `head`, whose `files` these are.
///
/// # Errors
/// [`WorkspaceError::Library`] when a commit is not there.
pub async fn notable(
    checkout: &Checkout,
    head: &Sha,
    files: Vec<FileChange>,
    own: &CommitIdentity,
) -> Result<Notable, WorkspaceError> {
    let (git, base, head, own) = (checkout.git_dir(), oid(checkout.base())?, oid(head)?, own.clone());
    blocking("look through the change", move || {
        let doing = "look through the change";
        let repo = git_dir::open(&git, doing)?;
        found(&repo, [base, head], &files, &own).map_err(library(doing))
    })
    .await
}

fn found(
    repo: &Repository,
    [base, head]: [Oid; 2],
    files: &[FileChange],
    own: &CommitIdentity,
) -> Result<Notable, git2::Error> {
    let (from, to) = (repo.find_commit(base)?.tree()?, repo.find_commit(head)?.tree()?);
    let diff = repo.diff_tree_to_tree(Some(&from), Some(&to), None)?;
    let rules = generated_rules(repo, &from, diff.deltas().filter_map(|delta| path_of(&delta)));
    let (mut packages, mut too_large) = (Vec::new(), Vec::new());
    let (mut generated, mut blank) = (Vec::new(), Vec::new());
    for delta in diff.deltas().take(FILES_MAX) {
        let Some(path) = path_of(&delta) else { continue };
        let sides = [delta.old_file().id(), delta.new_file().id()];
        if names_packages(&path) {
            let shown = shown_path(path.as_bytes());
            match sides.map(|id| side(repo, id)) {
                [Some(before), Some(after)] => packages.push(PackageFile { path: shown, before, after }),
                [None, _] | [_, None] => too_large.push(shown),
            }
        }
        if !is_lock(&path) && is_generated(repo, &rules, &path, sides) {
            generated.push(shown_path(path.as_bytes()));
        }
        if delta.status() == Delta::Modified && is_blank(repo, sides) {
            blank.push(shown_path(path.as_bytes()));
        }
    }
    let mut dependencies = dependencies(&packages);
    dependencies.unread = dependencies.unread.first.into_iter().chain(too_large).collect();
    Ok(Notable {
        dependencies,
        undone: undone(repo, own, base, head)?,
        generated: generated.into_iter().collect(),
        blank: blank.into_iter().collect(),
        emptied: emptied(&from, files)?,
        sweeping: None,
        files: files.len(),
    })
}

fn path_of(delta: &DiffDelta<'_>) -> Option<String> {
    let path = delta.new_file().path().or_else(|| delta.old_file().path())?;
    Some(path.to_string_lossy().into_owned())
}

fn text(repo: &Repository, id: Oid, limit: usize) -> Option<String> {
    let blob = repo.find_blob(id).ok()?;
    (blob.size() <= limit).then(|| String::from_utf8_lossy(blob.content()).into_owned())
}

/// One side of a file that names packages: its text, or that it is not there. `None` if it is too large.
fn side(repo: &Repository, id: Oid) -> Option<Option<String>> {
    if id.is_zero() { Some(None) } else { text(repo, id, PACKAGES_MAX).map(Some) }
}

/// The rules of the tree's files of attributes in the folders above these paths.
fn generated_rules(repo: &Repository, tree: &Tree<'_>, paths: impl Iterator<Item = String>) -> GeneratedRules {
    let mut folders = BTreeSet::from([String::new()]);
    for path in paths {
        let mut rest = path.as_str();
        while let Some((folder, _)) = rest.rsplit_once('/') {
            folders.insert(folder.to_owned());
            rest = folder;
        }
    }
    let mut rules = GeneratedRules::default();
    // An outer folder is before those in it.
    for folder in folders {
        let entry = tree.get_path(&Path::new(&folder).join(".gitattributes"));
        if let Some(text) = entry.ok().and_then(|entry| text(repo, entry.id(), FILE_MAX)) {
            rules.add(&folder, &text);
        }
    }
    rules
}

fn is_generated(repo: &Repository, rules: &GeneratedRules, path: &str, [old, new]: [Oid; 2]) -> bool {
    rules.of(path).unwrap_or_else(|| {
        let is_text = |id: Oid| text(repo, id, FILE_MAX).is_some_and(|text| says_generated(&text));
        is_text(old) || is_text(new)
    })
}

/// Whether two files are the same but for blank space.
fn is_blank(repo: &Repository, [old, new]: [Oid; 2]) -> bool {
    let content = |id: Oid| repo.find_blob(id).ok().filter(|blob| !blob.is_binary() && blob.size() <= FILE_MAX);
    let Some((old, new)) = content(old).zip(content(new)) else { return false };
    let said = |byte: &&u8| !byte.is_ascii_whitespace();
    old.id() != new.id() && old.content().iter().filter(said).eq(new.content().iter().filter(said))
}

/// The outermost folders that lose most of their files.
fn emptied(before: &Tree<'_>, files: &[FileChange]) -> Result<Vec<Emptied>, git2::Error> {
    let mut lost: BTreeMap<String, usize> = BTreeMap::new();
    for file in files.iter().filter(|file| file.kind == ChangeKind::Deleted) {
        for folder in folders(&file.path) {
            *lost.entry(folder.to_owned()).or_default() += 1;
        }
    }
    if lost.is_empty() {
        return Ok(Vec::new());
    }
    let mut had: HashMap<String, usize> = HashMap::new();
    before.walk(TreeWalkMode::PreOrder, |folder, entry| {
        if entry.kind() != Some(ObjectType::Tree) {
            for folder in folders(&format!("{}x", shown_path(folder.as_bytes()))) {
                *had.entry(folder.to_owned()).or_default() += 1;
            }
        }
        TreeWalkResult::Ok
    })?;
    let mut found: Vec<Emptied> = Vec::new();
    for (folder, lost) in lost {
        let had = had.get(&folder).copied().unwrap_or_default();
        let is_in = |outer: &Emptied| outer.folder.is_empty() || folder.starts_with(&format!("{}/", outer.folder));
        if had >= FOLDER_MIN && lost * 2 > had && !found.iter().any(is_in) {
            found.push(Emptied { folder, lost, had });
        }
    }
    found.truncate(FOLDERS_MAX);
    Ok(found)
}

/// The folders that a file is in, the outermost first, which is the whole repository.
fn folders(path: &str) -> impl Iterator<Item = &str> {
    std::iter::once("").chain(path.match_indices('/').map(|(at, _)| &path[..at]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{crossed::tests::repository, diff};

    fn of(base: &[(&str, &str)], head: &[(&str, &str)]) -> Notable {
        let (dir, repo, base, head) = repository(base, head);
        let diff = diff::read(dir.path(), base, head, 1 << 20, &hob_text::Redaction::default()).unwrap();
        let own = CommitIdentity { name: "a".to_owned(), email: "a@x".to_owned() };
        found(&repo, [base, head], &diff.files, &own).unwrap()
    }

    #[test]
    fn packages_and_generated_files_are_found_and_a_lock_file_is_told_once() {
        let lock = |version: &str| format!("a.org/b {version} h1:x\n");
        let base = [
            (".gitattributes", "*.pb.go linguist-generated\n/go.sum linguist-generated\n"),
            ("a.pb.go", "1"),
            ("go.sum", &lock("v1.0.0")),
            ("hand.go", "1"),
        ];
        let head = [
            (".gitattributes", "hand.go linguist-generated\n"),
            ("a.pb.go", "2"),
            ("go.sum", &lock("v1.1.0")),
            ("hand.go", "2"),
            ("made.go", "// Code generated by x. DO NOT EDIT.\n"),
        ];
        let found = of(&base, &head);
        assert_eq!(found.generated.first, ["a.pb.go", "made.go"]);
        let package = &found.dependencies.first[0];
        assert_eq!((package.from.as_deref(), package.to.as_deref()), (Some("v1.0.0"), Some("v1.1.0")));
        assert!(found.undone.is_empty() && found.blank.is_empty() && found.emptied.is_empty());
    }

    #[test]
    fn blank_space_and_line_ends_are_told_from_text() {
        let base = [("a", "one\ntwo\n"), ("b", "one\n"), ("c", "x"), ("d", "one two")];
        let head = [("a", "one\r\ntwo\r\n"), ("b", "\tone\n\n"), ("c", "y"), ("d", "one two")];
        let found = of(&base, &head);
        assert_eq!((found.blank.first, found.files), (vec!["a".to_owned(), "b".to_owned()], 3));
    }

    #[test]
    fn the_outermost_folder_that_loses_most_of_its_files_is_named() {
        let names: Vec<String> =
            (0..6).map(|n| format!("src/sub/f{n}")).chain((0..20).map(|n| format!("g{n}"))).collect();
        let all: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), name.as_str())).collect();
        let found = of(&all, &all[4..]);
        assert_eq!(found.emptied, [Emptied { folder: "src".to_owned(), lost: 4, had: 6 }]);
        assert_eq!(of(&all, &all[3..]).emptied, []);
        assert_eq!(of(&all, &all[20..]).emptied, [Emptied { folder: String::new(), lost: 20, had: 26 }]);
    }
}
