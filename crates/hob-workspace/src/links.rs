//! Symbolic links of a commit that lead out of the repository, alone or by way of one another.

use std::collections::{BTreeMap, BTreeSet};

use git2::{ErrorCode, FileMode, Repository, Tree, TreeWalkMode, TreeWalkResult};
use hob_domain::{LinkOut, shown_path};

/// The most path components that one link may lead through; a system follows 40 links, and no real path comes near
/// this.
const LONGEST_WAY: usize = 10_000;

/// Path and target of a link.
type Link = (Vec<u8>, Vec<u8>);

/// The links of `new` that lead out of it, and did not in `old`.
pub(super) fn links_out(repo: &Repository, old: &Tree<'_>, new: &Tree<'_>) -> Result<Vec<LinkOut>, git2::Error> {
    let (before, now) = (leading_out(repo, old)?, leading_out(repo, new)?);
    let shown = |(path, target): &Link| LinkOut { path: shown_path(path), target: shown_path(target) };
    Ok(now.difference(&before).map(shown).collect())
}

fn leading_out(repo: &Repository, tree: &Tree<'_>) -> Result<BTreeSet<Link>, git2::Error> {
    let mut ids = Vec::new();
    tree.walk(TreeWalkMode::PreOrder, |folder, entry| {
        if entry.filemode() == i32::from(FileMode::Link) {
            ids.push(([folder.as_bytes(), entry.name_bytes()].concat(), entry.id()));
        }
        TreeWalkResult::Ok
    })?;
    let mut links = BTreeMap::new();
    for (path, id) in ids {
        match repo.find_blob(id) {
            Ok(blob) => drop(links.insert(path, blob.content().to_vec())),
            // A mirror has what was checked out: a missing one changed in none of the commits. It may lead anywhere.
            Err(error) if error.code() == ErrorCode::NotFound => drop(links.insert(path, b"/".to_vec())),
            Err(error) => return Err(error),
        }
    }
    let out = links.iter().filter(|(path, target)| leaves(&links, path, target));
    Ok(out.map(|(path, target)| (path.clone(), target.clone())).collect())
}

/// Whether a link at `path` to `target` leads above the root, or has an absolute target.
fn leaves(links: &BTreeMap<Vec<u8>, Vec<u8>>, path: &[u8], target: &[u8]) -> bool {
    let mut at: Vec<&[u8]> = path.split(is_slash).collect();
    at.pop();
    if target.starts_with(b"/") {
        return true;
    }
    let mut way: Vec<&[u8]> = target.split(is_slash).rev().collect();
    let mut steps = 0;
    while let Some(name) = way.pop() {
        steps += 1;
        if steps > LONGEST_WAY {
            return true;
        }
        match name {
            b"" | b"." => {}
            b".." => {
                if at.pop().is_none() {
                    return true;
                }
            }
            name => {
                at.push(name);
                if let Some(next) = links.get(&at.join(&b'/')) {
                    if next.starts_with(b"/") {
                        return true;
                    }
                    at.pop();
                    way.extend(next.split(is_slash).rev());
                }
            }
        }
    }
    false
}

fn is_slash(byte: &u8) -> bool {
    *byte == b'/'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_followed_through_others() {
        for (links, out) in [
            (&[("a", "/etc/passwd")][..], &["a"][..]),
            (&[("a/b", "../../x")], &["a/b"]),
            (&[("a/b", "../x"), ("c/d", "e/../../x"), ("e", ".//./x")], &[]),
            // Attack corpus J108: each by itself stays within.
            (&[("a/b/c/x", "../../.."), ("y", "a/b/c/x/../../etc/passwd")], &["y"]),
            (&[("d", "a/b/c"), ("y", "d/../x")], &[]),
            (&[("self", "self"), ("one", "other/x"), ("other", "one/x")], &["one", "other", "self"]),
            (&[("abs", "/"), ("y", "abs/etc")], &["abs", "y"]),
        ] {
            let all: BTreeMap<_, _> =
                links.iter().map(|(path, target)| (path.as_bytes().to_vec(), target.as_bytes().to_vec())).collect();
            let found: Vec<_> = links.iter().map(|(path, _)| *path).collect();
            let mut found: Vec<_> =
                found.into_iter().filter(|path| leaves(&all, path.as_bytes(), &all[path.as_bytes()])).collect();
            found.sort_unstable();
            assert_eq!(found, out, "{links:?}");
        }
    }
}
