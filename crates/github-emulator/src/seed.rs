//! The initial contents of a forge, as TOML: accounts, repositories with their files, labels, issues and pull requests.
//! `sow` makes them.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use secrecy::SecretString;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::{
    branch_rules::BranchRules,
    job::Job,
    users::{AccountKind, Role, TokenKind, User},
};
use crate::names::{Login, RepoName};

/// Why a seed could not be sown.
#[derive(Debug, thiserror::Error)]
pub enum SeedError {
    /// The file is not a seed.
    #[error("parse the seed")]
    Toml(#[from] toml::de::Error),
    /// There is one of this name.
    #[error("repository {0} exists")]
    Exists(RepoName),
    /// There is none of this name.
    #[error("no repository {0}")]
    Absent(RepoName),
    /// An endpoint refused a part of it.
    #[error("{what} of {repository}: {refusal}")]
    Refused {
        /// The part that failed.
        what: String,
        /// Its repository.
        repository: RepoName,
        /// The endpoint's message.
        refusal: String,
    },
    /// The changes could not be stored.
    #[error("store what changed")]
    Keep(#[from] std::io::Error),
    /// Git could not do it.
    #[error("make the repository's git data: {}", .0.message())]
    Git(git2::Error),
}

impl From<git2::Error> for SeedError {
    fn from(error: git2::Error) -> Self {
        Self::Git(error)
    }
}

/// The initial contents of a forge.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seed {
    #[serde(default)]
    accounts: Vec<SeedAccount>,
    #[serde(default)]
    pub(super) repositories: Vec<SeedRepository>,
    /// The folder that relative paths start from.
    #[serde(skip)]
    pub(super) folder: PathBuf,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct SeedAccount {
    login: Login,
    #[serde(deserialize_with = "secret")]
    token: SecretString,
    #[serde(default = "write")]
    role: Role,
    #[serde(default)]
    bot: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SeedRepository {
    pub(super) name: RepoName,
    #[serde(default = "main")]
    pub(super) default_branch: String,
    /// The local repository whose `HEAD` is copied.
    pub(super) from: Option<PathBuf>,
    #[serde(default)]
    pub(super) files: BTreeMap<String, String>,
    /// The files of a commit on top of the default branch, by branch.
    #[serde(default)]
    pub(super) branches: BTreeMap<String, BTreeMap<String, String>>,
    #[serde(default)]
    pub(super) protected: Vec<String>,
    /// The requirements of branch protection.
    #[serde(default)]
    pub(super) protection: BTreeMap<String, BranchRules>,
    /// The requirements of rulesets, by branch.
    #[serde(default)]
    pub(super) rulesets: BTreeMap<String, BranchRules>,
    #[serde(default)]
    pub(super) collaborators: BTreeMap<String, String>,
    /// The fields of `PATCH /repos/{owner}/{repo}`.
    #[serde(default)]
    pub(super) settings: Map<String, Value>,
    /// The fields of `POST /repos/{owner}/{repo}/labels`.
    #[serde(default)]
    pub(super) labels: Vec<Map<String, Value>>,
    #[serde(default)]
    pub(super) issues: Vec<SeedIssue>,
    #[serde(default)]
    pub(super) pulls: Vec<SeedIssue>,
    /// Jobs of GitHub Actions.
    #[serde(default)]
    pub(super) jobs: Vec<Job>,
}

/// An issue or a pull request: the fields of the endpoint that opens it, and its later changes.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct SeedIssue {
    pub(super) author: Option<Login>,
    pub(super) state: Option<String>,
    pub(super) labels: Option<Vec<String>>,
    pub(super) assignees: Option<Vec<String>>,
    #[serde(default)]
    pub(super) comments: Vec<SeedComment>,
    #[serde(flatten)]
    pub(super) fields: Map<String, Value>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SeedComment {
    pub(super) author: Option<Login>,
    pub(super) body: String,
}

fn secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SecretString, D::Error> {
    String::deserialize(deserializer).map(SecretString::from)
}

fn write() -> Role {
    Role::Write
}

fn main() -> String {
    "main".to_owned()
}

impl Seed {
    /// Parses a seed; relative paths in it start from `folder`.
    ///
    /// # Errors
    /// [`SeedError::Toml`] if it is not one.
    pub fn parse(text: &str, folder: &Path) -> Result<Self, SeedError> {
        Ok(Self { folder: folder.to_owned(), ..toml::from_str(text)? })
    }

    /// Its accounts.
    pub(super) fn users(&self) -> impl Iterator<Item = User> {
        self.accounts.iter().map(|account| User {
            login: account.login.clone(),
            token: account.token.clone(),
            role: account.role,
            kind: if account.bot { AccountKind::Bot } else { AccountKind::User },
            token_kind: TokenKind::Classic,
        })
    }
}
