//! Files: trees, their entries, and blobs with their text.

use std::path::Path;

use git2::{ErrorCode, ObjectType, Oid};

use super::super::{
    super::{state::Repository, wire::node_id},
    object::{At, Out, Resolved, made},
    problem::Problem,
};

pub(super) const DESCRIPTION: &str = r"
type Blob implements GitObject {
    abbreviatedOid: String!
    byteSize: Int!
    id: ID!
    isBinary: Boolean
    isTruncated: Boolean!
    oid: GitObjectID!
    repository: Repository!
    text: String
}
type Tree implements GitObject { abbreviatedOid: String! id: ID! oid: GitObjectID! repository: Repository! }
type TreeEntry {
    mode: Int!
    name: String!
    object: GitObject
    oid: GitObjectID!
    path: String
    repository: Repository!
    size: Int!
    type: String!
}
";

/// The most bytes of a text; GitHub does not document its own limit.
const TEXT_MAX: usize = 512_000;

/// A tree, without the entries.
pub(super) fn tree<'s>(repo: &'s Repository, oid: Oid) -> Out<'s> {
    let sha = oid.to_string();
    made(
        "Tree",
        [
            ("abbreviatedOid", Out::leaf(&sha[..7])),
            ("id", Out::leaf(node_id("Tree", &sha))),
            ("oid", Out::leaf(sha.as_str())),
            ("repository", Out::Node(node_id("Repository", repo.id))),
        ],
    )
}

/// A blob of this id.
///
/// # Errors
/// Git's error if there is none.
pub(super) fn blob<'s>(at: &At<'s>, repo: &'s Repository, oid: Oid) -> Resolved<'s> {
    let git = at.call.forge.git.open(repo.id)?;
    let found = git.find_blob(oid)?;
    let (content, sha) = (found.content(), oid.to_string());
    let shown = &content[..content.len().min(TEXT_MAX)];
    let text = (!found.is_binary()).then(|| String::from_utf8_lossy(shown).into_owned());
    Ok(made(
        "Blob",
        [
            ("abbreviatedOid", Out::leaf(&sha[..7])),
            ("byteSize", Out::leaf(content.len())),
            ("id", Out::leaf(node_id("Blob", &sha))),
            ("isBinary", Out::leaf(found.is_binary())),
            ("isTruncated", Out::leaf(shown.len() < content.len())),
            ("oid", Out::leaf(sha.as_str())),
            ("repository", Out::Node(node_id("Repository", repo.id))),
            ("text", Out::leaf(text)),
        ],
    ))
}

/// The entry at this path of a tree.
///
/// # Errors
/// GitHub's `NOT_FOUND` if there is none.
pub(super) fn entry<'s>(at: &At<'s>, repo: &'s Repository, tree_id: Oid, path: &str) -> Resolved<'s> {
    let git = at.call.forge.git.open(repo.id)?;
    let found = match git.find_tree(tree_id)?.get_path(Path::new(path)) {
        Ok(found) => found,
        Err(error) if error.code() == ErrorCode::NotFound => {
            return Err(Problem::not_found(format!("Could not resolve file for path '{path}'.")));
        }
        Err(error) => return Err(error.into()),
    };
    let kind = found.kind();
    let (object, size) = match kind {
        Some(ObjectType::Blob) => (blob(at, repo, found.id())?, git.find_blob(found.id())?.size()),
        Some(ObjectType::Tree) => (tree(repo, found.id()), 0),
        // A submodule's commit is in another repository.
        _ => (Out::Null, 0),
    };
    Ok(made(
        "TreeEntry",
        [
            ("mode", Out::leaf(found.filemode())),
            ("name", Out::leaf(String::from_utf8_lossy(found.name_bytes()).into_owned())),
            ("object", object),
            ("oid", Out::leaf(found.id().to_string())),
            ("path", Out::leaf(path)),
            ("repository", Out::Node(node_id("Repository", repo.id))),
            ("size", Out::leaf(size)),
            ("type", Out::leaf(kind.map_or("commit", |kind| kind.str()))),
        ],
    ))
}
