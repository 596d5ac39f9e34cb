//! Commits by their names.

use git2::{Oid, Repository};

/// The commit of this name, a branch, a tag or an id; `None` if there is none.
pub(in super::super) fn commit_named(git: &Repository, name: &str) -> Option<Oid> {
    let candidates = [format!("refs/heads/{name}"), format!("refs/tags/{name}"), name.to_owned()];
    // A caller's id is looked up as an object; git's own expressions (`@{…}`, `^`) are not for callers.
    let plain = |name: &str| !name.contains(['^', '~', '@', ':', '{']);
    let found = candidates.iter().filter(|name| plain(name)).find_map(|name| git.revparse_single(name).ok());
    found?.peel_to_commit().ok().map(|commit| commit.id())
}
