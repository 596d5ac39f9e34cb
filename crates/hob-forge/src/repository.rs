//! The repository itself: its branches, its settings file and the permissions of accounts.

use std::collections::BTreeMap;

use hob_domain::{Actor, Permission, RepoName, Sha, folders_of};
use serde::{Deserialize, Serialize};

use crate::{
    Forge, ForgeError,
    TokenPermission::{ContentsRead, ContentsWrite, MetadataRead},
};

/// What Hob reads of a repository.
#[derive(Debug, Clone)]
pub struct RepositoryDetails {
    /// The branch that work starts from and is merged into.
    pub default_branch: String,
    /// Whether the token belongs to a person who may not push. The forge does not report the rights of an App or a job.
    pub is_read_only: bool,
    /// Whether it is archived: read-only for everybody.
    pub archived: bool,
    /// Whether issues are enabled.
    pub has_issues: bool,
    /// Whether everybody can see it.
    pub is_public: bool,
}

impl RepositoryDetails {
    /// Whether work can be published in `repo`, which these details are about.
    ///
    /// # Errors
    /// [`ForgeError::Archived`], [`ForgeError::NoIssues`], or [`ForgeError::Forbidden`] if the token may not push.
    pub fn fit(&self, repo: &RepoName) -> Result<(), ForgeError> {
        if self.archived {
            return Err(ForgeError::Archived(repo.clone()));
        }
        if !self.has_issues {
            return Err(ForgeError::NoIssues { what: "work on them".to_owned() });
        }
        if self.is_read_only {
            let (what, message) = ("push".to_owned(), "the forge says so of the repository".to_owned());
            return Err(ForgeError::Forbidden { what, message, advice: Some(ContentsWrite.advice()) });
        }
        Ok(())
    }
}

/// The base branch's tip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseBranch {
    /// Its name.
    pub name: String,
    /// Its commit.
    pub sha: Sha,
    /// The commit's tree.
    pub tree: Sha,
}

#[derive(Serialize, Deserialize)]
struct ComparisonWire {
    #[serde(default)]
    files: Vec<ChangedFileWire>,
}

#[derive(Serialize, Deserialize)]
struct ChangedFileWire {
    filename: String,
}

/// Why a file cannot be read as text.
#[derive(Debug, thiserror::Error)]
enum NotText {
    #[error("the file is too large")]
    TooLarge,
    #[error("it is not base64: {0}")]
    Base64(#[source] base64::DecodeError),
    #[error("the file is not UTF-8: {0}")]
    Utf8(#[source] std::string::FromUtf8Error),
}

#[derive(Serialize, Deserialize)]
struct RepositoryWire {
    default_branch: String,
    #[serde(default)]
    archived: bool,
    has_issues: Option<bool>,
    #[serde(default)]
    private: bool,
    permissions: Option<PermissionsWire>,
}

#[derive(Serialize, Deserialize)]
struct PermissionsWire {
    #[serde(default)]
    pull: bool,
    #[serde(default)]
    push: bool,
}

#[derive(Serialize, Deserialize)]
struct BranchWire {
    commit: BranchCommitWire,
}

#[derive(Serialize, Deserialize)]
struct BranchCommitWire {
    sha: Sha,
    commit: InnerCommitWire,
}

#[derive(Serialize, Deserialize)]
struct InnerCommitWire {
    tree: ShaWire,
}

#[derive(Serialize, Deserialize)]
struct RefWire {
    #[serde(rename = "ref")]
    name: String,
    object: ShaWire,
}

#[derive(Serialize, Deserialize)]
struct ShaWire {
    sha: Sha,
}

#[derive(Serialize, Deserialize)]
struct PermissionWire {
    permission: String,
    #[serde(default)]
    role_name: String,
}

#[derive(Serialize, Deserialize)]
struct ContentWire {
    content: String,
    encoding: String,
}

#[derive(Serialize, Deserialize)]
struct NameWire {
    name: String,
}

/// GitHub's answer about a path: a list for a folder, an object for anything else.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum PathWire {
    Folder(Vec<NameWire>),
    Other(NameWire),
}

#[derive(Serialize, Deserialize)]
struct TreeWire {
    tree: Vec<TreeEntryWire>,
}

#[derive(Serialize, Deserialize)]
struct TreeEntryWire {
    path: String,
    mode: String,
}

impl TreeEntryWire {
    /// Whether it is a file, as opposed to a folder, link or submodule.
    fn is_file(&self) -> bool {
        self.mode.starts_with("100")
    }
}

/// The repository itself.
#[derive(Debug, Clone, Copy)]
pub struct Repository<'a> {
    pub(super) forge: &'a Forge,
}

impl Repository<'_> {
    /// The repository's own data.
    ///
    /// # Errors
    /// [`ForgeError::NoRepository`] if it does not exist.
    pub async fn details(self) -> Result<RepositoryDetails, ForgeError> {
        match self.forge.get::<RepositoryWire>(&self.forge.path(""), MetadataRead.to("read the repository")).await {
            Ok(wire) => Ok(RepositoryDetails {
                is_read_only: self.is_read_only(wire.permissions).await?,
                default_branch: wire.default_branch,
                archived: wire.archived,
                has_issues: wire.has_issues.unwrap_or(true),
                is_public: !wire.private,
            }),
            Err(error) => Err(self.forge.of_repository(error).await),
        }
    }

    /// Whether the repository's `permissions` say that the token may not push. They are about people: for an App or a
    /// job GitHub answers five times false, regardless of its rights (`docs/design/github.md`, `repo.permissions`).
    async fn is_read_only(self, permissions: Option<PermissionsWire>) -> Result<bool, ForgeError> {
        let says_so = permissions.is_some_and(|permissions| permissions.pull && !permissions.push);
        Ok(says_so && self.forge.connection().is_of_a_person().await?)
    }

    /// The tip of the branch that work starts from.
    ///
    /// # Errors
    /// As for [`RepositoryDetails::fit`] and [`Self::tip`].
    pub async fn base_branch(self) -> Result<BaseBranch, ForgeError> {
        let details = self.details().await?;
        details.fit(&self.forge.repo)?;
        self.tip(details.default_branch).await
    }

    /// The tip of a branch that work starts from.
    ///
    /// # Errors
    /// [`ForgeError::EmptyRepository`] if the branch has no commit yet.
    pub async fn tip(self, name: String) -> Result<BaseBranch, ForgeError> {
        match self
            .forge
            .get::<BranchWire>(
                &self.forge.path(&format!("/branches/{}", encoded(&name))),
                ContentsRead.to("read the base branch"),
            )
            .await
        {
            Ok(wire) => Ok(BaseBranch { name, sha: wire.commit.sha, tree: wire.commit.commit.tree.sha }),
            Err(error) if error.is_not_found() => Err(ForgeError::EmptyRepository(self.forge.repo.clone())),
            Err(error) => Err(error),
        }
    }

    /// Branches whose names begin with `prefix`.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn branches(self, prefix: &str) -> Result<Vec<String>, ForgeError> {
        Ok(self.tips(prefix).await?.into_keys().collect())
    }

    /// The same with their tips: one list, which costs nothing (304) while none of them moves.
    ///
    /// # Errors
    /// As for [`branches`](Self::branches).
    pub async fn tips(self, prefix: &str) -> Result<BTreeMap<String, Sha>, ForgeError> {
        let path = self.forge.path(&format!("/git/matching-refs/heads/{prefix}"));
        let found: Vec<RefWire> =
            self.forge.get_all(&path, ContentsRead.to("list the branches"), "delete old branches").await?;
        let named = |found: RefWire| Some((found.name.strip_prefix("refs/heads/")?.to_owned(), found.object.sha));
        Ok(found.into_iter().filter_map(named).collect())
    }

    /// The branch whose name prevents branches whose names begin with `prefix`. `None` if there is none.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn in_the_way_of(self, prefix: &str) -> Result<Option<&str>, ForgeError> {
        for folder in folders_of(prefix) {
            let name = folder.split('/').map(encoded).collect::<Vec<_>>().join("/");
            let path = self.forge.path(&format!("/git/ref/heads/{name}"));
            match self.forge.get::<RefWire>(&path, ContentsRead.to("look for a branch")).await {
                Ok(_) => return Ok(Some(folder)),
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// The names in the top folder of a commit; GitHub returns at most 1,000.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn top_names(self, at: &Sha) -> Result<Vec<String>, ForgeError> {
        let path = self.forge.path(&format!("/contents/?ref={at}"));
        let found: Vec<NameWire> = self.forge.get(&path, ContentsRead.to("list the repository's top folder")).await?;
        Ok(found.into_iter().map(|found| found.name).collect())
    }

    /// The names in a folder of a commit, at most 1,000; empty if there is no such folder.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn names(self, folder: &str, at: &Sha) -> Result<Vec<String>, ForgeError> {
        let path = self.forge.path(&format!("/contents/{folder}?ref={at}"));
        match self.forge.get(&path, ContentsRead.to(&format!("list `{folder}`"))).await {
            Ok(PathWire::Folder(found)) => Ok(found.into_iter().map(|found| found.name).collect()),
            Ok(PathWire::Other(_)) => Ok(Vec::new()),
            Err(error) if error.is_not_found() => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// The paths of the files of a tree, in all folders. For a very large repository GitHub returns the first 100,000.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn file_paths(self, tree: &Sha) -> Result<Vec<String>, ForgeError> {
        let path = self.forge.path(&format!("/git/trees/{tree}?recursive=1"));
        let found: TreeWire = self.forge.get_once(&path, ContentsRead.to("list the repository's files")).await?;
        Ok(found.tree.into_iter().filter(TreeEntryWire::is_file).map(|entry| entry.path).collect())
    }

    /// The tree of a commit.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn tree_of(self, commit: &Sha) -> Result<Sha, ForgeError> {
        let path = self.forge.path(&format!("/git/commits/{commit}"));
        let found: InnerCommitWire = self.forge.get_once(&path, ContentsRead.to("read the commit")).await?;
        Ok(found.tree.sha)
    }

    /// A file at a commit. `None` if it does not exist.
    ///
    /// # Errors
    /// [`ForgeError::Unreadable`] if it is not text.
    pub async fn file(self, path: &str, at: &Sha) -> Result<Option<String>, ForgeError> {
        use base64::Engine;
        let what = format!("read `{path}`");
        let wire = match self
            .forge
            .get::<ContentWire>(&self.forge.path(&format!("/contents/{path}?ref={at}")), ContentsRead.to(&what))
            .await
        {
            Ok(wire) => wire,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error),
        };
        let unreadable = |error: NotText| ForgeError::Unreadable { what: what.clone(), source: error.into() };
        if wire.encoding != "base64" {
            return Err(unreadable(NotText::TooLarge));
        }
        let joined: String = wire.content.split_whitespace().collect();
        let bytes = base64::engine::general_purpose::STANDARD.decode(joined);
        let bytes = bytes.map_err(|error| unreadable(NotText::Base64(error)))?;
        String::from_utf8(bytes).map(Some).map_err(|error| unreadable(NotText::Utf8(error)))
    }

    /// The paths of the files that a branch has changed since it left `base`; GitHub returns the first 300. Empty if
    /// the branch is gone.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn changed_paths(self, base: &Sha, branch: &str) -> Result<Vec<String>, ForgeError> {
        let branch = branch.split('/').map(encoded).collect::<Vec<_>>().join("/");
        let path = self.forge.path(&format!("/compare/{base}...{branch}"));
        match self.forge.get::<ComparisonWire>(&path, ContentsRead.to("list what a branch changes")).await {
            Ok(found) => Ok(found.files.into_iter().map(|file| file.filename).collect()),
            Err(error) if error.is_not_found() => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// An account's permission here. `None` if the forge does not know the account.
    ///
    /// # Errors
    /// [`ForgeError`] of the read; the account must then not be trusted.
    pub async fn permission(self, actor: &Actor) -> Result<Option<Permission>, ForgeError> {
        let path = self.forge.path(&format!("/collaborators/{}/permission", encoded(actor.login.as_str())));
        let wire = match self.forge.get::<PermissionWire>(&path, MetadataRead.to("read an account's permission")).await
        {
            Ok(wire) => wire,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error),
        };
        // `permission` maps triage to read and maintain to write. `role_name` distinguishes them, but may be an
        // organisation's own role, which then counts as what it maps to.
        let role = |name: &str| serde_json::from_value(serde_json::Value::from(name)).ok();
        Ok(role(&wire.role_name).or_else(|| role(&wire.permission)))
    }
}

/// A name as one segment of a path.
pub(super) fn encoded(name: &str) -> String {
    url::form_urlencoded::byte_serialize(name.as_bytes()).collect::<String>().replace('+', "%20")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_that_cannot_be_worked_on_is_told() {
        let fit = RepositoryDetails {
            default_branch: "main".into(),
            is_read_only: false,
            archived: false,
            has_issues: true,
            is_public: true,
        };
        for (details, says) in [
            (fit.clone(), ""),
            (RepositoryDetails { archived: true, ..fit.clone() }, "is archived"),
            (RepositoryDetails { has_issues: false, ..fit.clone() }, "issues disabled"),
            (RepositoryDetails { is_read_only: true, ..fit }, "`contents: write`"),
        ] {
            let said = details.fit(&"acme/site".parse().unwrap()).map_err(|error| error.to_string()).err();
            let said = said.unwrap_or_default();
            assert!(said.contains(says) && said.is_empty() == says.is_empty(), "{says}: {said}");
        }
    }
}
