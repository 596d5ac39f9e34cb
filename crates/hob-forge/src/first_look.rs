//! What a process that knows nothing of a repository asks first, in one GraphQL query instead of three reads: a scheduled run with
//! nothing to do asks hardly more.
//!
//! # Caveats
//! It is never answered with 304: a process that stays reads the tip over the REST API from then on. What the query does not
//! tell plainly is left to the REST API, whose answers say what is wrong: [`first_look`] then is `None`.

use hob_domain::Sha;
use serde::Deserialize;
use serde_json::json;

use crate::{BaseBranch, Forge, RepositoryDetails, TokenPermission::ContentsRead};

pub(super) const QUERY: &str = "query($owner: String!, $name: String!, $path: String!) { repository(owner: $owner, name: $name) { \
    nameWithOwner isArchived hasIssuesEnabled isPrivate viewerPermission defaultBranchRef { name target { ... on Commit { oid \
        tree { oid } file(path: $path) { mode object { ... on Blob { text isTruncated } } } } } } } }";

/// The kind of an entry that is a file, and the part of its mode that says so: a link has another.
const FILE: u32 = 0o100_000;
const KIND: u32 = 0o170_000;

/// A repository, its base branch and a file there.
#[derive(Debug, Clone)]
pub struct FirstLook {
    /// The repository's own data.
    pub details: RepositoryDetails,
    /// The branch that work starts from.
    pub base: BaseBranch,
    /// The text of the file. `None` if the commit has none.
    pub file: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RepositoryWire {
    name_with_owner: String,
    is_archived: bool,
    has_issues_enabled: bool,
    is_private: bool,
    /// `None` for an App's token, or a job's.
    viewer_permission: Option<String>,
    /// `None` of a repository without commits.
    default_branch_ref: Option<BranchWire>,
}

#[derive(Deserialize)]
struct BranchWire {
    name: String,
    target: Option<CommitWire>,
}

#[derive(Deserialize)]
struct CommitWire {
    oid: Sha,
    tree: TreeWire,
    file: Option<EntryWire>,
}

#[derive(Deserialize)]
struct TreeWire {
    oid: Sha,
}

#[derive(Deserialize)]
struct EntryWire {
    mode: u32,
    object: Option<BlobWire>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BlobWire {
    text: Option<String>,
    is_truncated: Option<bool>,
}

impl EntryWire {
    /// The whole text. `None` if it is not a file, or its text is not here as it is.
    fn text(self) -> Option<String> {
        let whole = self.object.filter(|blob| self.mode & KIND == FILE && blob.is_truncated == Some(false));
        whole?.text.filter(|text| !text.contains(char::REPLACEMENT_CHARACTER))
    }
}

/// What one query tells of the repository, its base branch and the file at `path` there. `None` if it does not tell them.
pub async fn first_look(forge: &Forge, path: &str) -> Option<FirstLook> {
    let repo = forge.repo();
    let variables = json!({ "owner": repo.owner(), "name": repo.name(), "path": path });
    let purpose = ContentsRead.to("look at the repository for the first time");
    let asked = forge.connection().query(QUERY, variables, purpose).await;
    let asked = asked.map_err(|error| tracing::debug!(%error, "the repository is read over the REST API: {error}"));
    // Of a file that there is not, GitHub says that as an error beside the rest.
    let mut answered = asked.ok().filter(|answered| answered.lacks_at_most("file"))?;
    let wire = RepositoryWire::deserialize(answered.data["repository"].take()).ok()?;
    // A repository that was renamed is an error of the REST API, which says its new name.
    if !wire.name_with_owner.eq_ignore_ascii_case(&repo.to_string()) {
        return None;
    }
    let branch = wire.default_branch_ref?;
    let commit = branch.target?;
    let file = match commit.file {
        Some(entry) => Some(entry.text()?),
        None => None,
    };
    let may_not_push = matches!(wire.viewer_permission.as_deref(), Some("READ" | "TRIAGE"));
    let details = RepositoryDetails {
        default_branch: branch.name.clone(),
        is_read_only: may_not_push && forge.connection().is_of_a_person().await.ok()?,
        archived: wire.is_archived,
        has_issues: wire.has_issues_enabled,
        is_public: !wire.is_private,
    };
    Some(FirstLook { details, base: BaseBranch { name: branch.name, sha: commit.oid, tree: commit.tree.oid }, file })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_text_of_a_file_counts() {
        let text = |mode: u32, text: Option<&str>, is_truncated: Option<bool>| {
            let object = Some(BlobWire { text: text.map(str::to_owned), is_truncated });
            EntryWire { mode, object }.text()
        };
        assert_eq!(text(0o100_644, Some("a"), Some(false)).as_deref(), Some("a"));
        assert_eq!(text(0o100_755, Some("a"), Some(false)).as_deref(), Some("a"));
        for (what, found) in [
            ("a link's target", text(0o120_000, Some("../hob.toml"), Some(false))),
            ("a part", text(0o100_644, Some("a"), Some(true))),
            ("what may be a part", text(0o100_644, Some("a"), None)),
            ("a binary file", text(0o100_644, None, Some(false))),
            ("a text that is not UTF-8", text(0o100_644, Some("a\u{fffd}"), Some(false))),
            ("a folder", EntryWire { mode: 0o040_000, object: None }.text()),
        ] {
            assert_eq!(found, None, "{what}");
        }
    }
}
