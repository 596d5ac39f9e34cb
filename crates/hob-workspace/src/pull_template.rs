//! The repository's pull request template, read from the base commit's objects: nothing that an agent wrote is looked at.
//!
//! The places are the forge's: `.github`, the root and `docs`, the file `pull_request_template` with `.md`, `.txt` or nothing
//! after it, or the folder of that name with one file a kind. Case does not matter.
//! <https://docs.github.com/communities/using-templates-to-encourage-useful-issues-and-pull-requests/creating-a-pull-request-template-for-your-repository>

use git2::{FileMode, ObjectType, Repository, Tree, TreeEntry};

use crate::{Checkout, WorkspaceError, error::library, git_dir, layout::blocking, object_id::oid};

/// This file's step in errors.
const DOING: &str = "read the pull request template";
/// The name of the file, and of the folder with several.
const NAME: &str = "pull_request_template";
/// The folders in which the forge looks, in this order.
const PLACES: [&str; 3] = [".github", "", "docs"];

/// The pull request template on the base: `wanted` from the folder with several, which may be empty, otherwise the
/// single file, otherwise `default` or the first of the folder. `None` if there is none, or it exceeds `max` bytes or
/// is not text.
///
/// # Errors
/// [`WorkspaceError::Library`] if the base cannot be read.
pub async fn pull_template(checkout: &Checkout, wanted: &str, max: usize) -> Result<Option<String>, WorkspaceError> {
    let (git, base, wanted) = (checkout.git_dir(), oid(checkout.base())?, wanted.to_owned());
    blocking(DOING, move || {
        let repo = git_dir::open(&git, DOING)?;
        let root = repo.find_commit(base).and_then(|commit| commit.tree()).map_err(library(DOING))?;
        let text = find(&repo, &root, &wanted).map_err(library(DOING))?;
        Ok(text.filter(|text| text.len() <= max).and_then(|text| String::from_utf8(text).ok()))
    })
    .await
}

fn find(repo: &Repository, root: &Tree<'_>, wanted: &str) -> Result<Option<Vec<u8>>, git2::Error> {
    let mut places = Vec::new();
    for place in PLACES {
        match place {
            "" => places.push(root.clone()),
            _ => places.extend(folder(repo, root, place)?),
        }
    }
    let mut several = Vec::new();
    for place in &places {
        several.extend(folder(repo, place, NAME)?);
    }
    if !wanted.is_empty() {
        for folder in &several {
            if let Some(text) = file(repo, folder, |name, stem| [name, stem].contains(&&*wanted.to_lowercase()))? {
                return Ok(Some(text));
            }
        }
    }
    for place in &places {
        if let Some(text) = file(repo, place, |_, stem| stem == NAME)? {
            return Ok(Some(text));
        }
    }
    for folder in &several {
        for is_it in [|_: &str, stem: &str| stem == "default", |_: &str, _: &str| true] {
            if let Some(text) = file(repo, folder, is_it)? {
                return Ok(Some(text));
            }
        }
    }
    Ok(None)
}

fn folder<'repo>(repo: &'repo Repository, place: &Tree<'_>, name: &str) -> Result<Option<Tree<'repo>>, git2::Error> {
    let is_it = |entry: &TreeEntry<'_>| {
        entry.kind() == Some(ObjectType::Tree) && entry.name().is_ok_and(|found| found.eq_ignore_ascii_case(name))
    };
    let found = place.iter().find(is_it).map(|entry| entry.id());
    found.map(|id| repo.find_tree(id)).transpose()
}

/// The first plain file for which `is_it` accepts the name and the name without its extension, both in lower case.
fn file(
    repo: &Repository,
    place: &Tree<'_>,
    is_it: impl Fn(&str, &str) -> bool,
) -> Result<Option<Vec<u8>>, git2::Error> {
    let fits = |entry: &TreeEntry<'_>| {
        let is_file = [FileMode::Blob, FileMode::BlobExecutable].map(i32::from).contains(&entry.filemode());
        let name = entry.name().unwrap_or_default().to_lowercase();
        let stem = [".md", ".txt"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
        is_file && is_it(&name, stem)
    };
    let found = place.iter().find(fits).map(|entry| entry.id());
    Ok(found.map(|id| repo.find_blob(id)).transpose()?.map(|blob| blob.content().to_vec()))
}
