//! A repository with its labels, issues, collaborators and checks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{super::users::Role, Account, Accounts, Issue};
use crate::names::{Login, RepoName, Timestamp};

/// Everything that is kept.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in super::super) struct State {
    pub(in super::super) accounts: Accounts,
    pub(in super::super) repositories: Repositories,
}

/// All repositories, found without regard to case.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in super::super) struct Repositories(BTreeMap<String, Repository>);

impl Repositories {
    /// The repository of this name.
    pub(in super::super) fn get(&self, owner: &str, name: &str) -> Option<&Repository> {
        self.0.get(&format!("{owner}/{name}").to_ascii_lowercase())
    }

    /// The repository of this name, to change it.
    pub(in super::super) fn get_mut(&mut self, owner: &str, name: &str) -> Option<&mut Repository> {
        self.0.get_mut(&format!("{owner}/{name}").to_ascii_lowercase())
    }

    /// Every repository, by name.
    pub(in super::super) fn all(&self) -> impl Iterator<Item = &Repository> {
        self.0.values()
    }

    /// Every repository, to change it.
    pub(in super::super) fn all_mut(&mut self) -> impl Iterator<Item = &mut Repository> {
        self.0.values_mut()
    }

    /// Adds a repository.
    pub(in super::super) fn put(&mut self, repo: Repository) {
        self.0.insert(repo.name.to_string().to_ascii_lowercase(), repo);
    }
}

/// Who can see a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in super::super) enum Visibility {
    /// Everyone.
    Public,
    /// Accounts with a role of their own in it.
    Private,
}

/// A label.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in super::super) struct Label {
    pub(in super::super) id: u64,
    pub(in super::super) name: String,
    pub(in super::super) color: String,
    pub(in super::super) description: Option<String>,
}

/// A commit status.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in super::super) struct CommitStatus {
    pub(in super::super) id: u64,
    pub(in super::super) sha: String,
    pub(in super::super) state: String,
    pub(in super::super) context: String,
    pub(in super::super) description: Option<String>,
    pub(in super::super) target_url: Option<String>,
    pub(in super::super) creator: Login,
    pub(in super::super) at: Timestamp,
}

/// A check run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in super::super) struct CheckRun {
    pub(in super::super) id: u64,
    pub(in super::super) sha: String,
    pub(in super::super) name: String,
    pub(in super::super) status: String,
    pub(in super::super) conclusion: Option<String>,
    pub(in super::super) details_url: Option<String>,
    pub(in super::super) external_id: Option<String>,
    pub(in super::super) started_at: Option<String>,
    pub(in super::super) completed_at: Option<String>,
    pub(in super::super) title: Option<String>,
    pub(in super::super) summary: Option<String>,
    pub(in super::super) text: Option<String>,
}

/// A repository.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in super::super) struct Repository {
    pub(in super::super) id: u64,
    pub(in super::super) name: RepoName,
    pub(in super::super) visibility: Visibility,
    pub(in super::super) description: Option<String>,
    pub(in super::super) default_branch: String,
    pub(in super::super) created_at: Timestamp,
    pub(in super::super) pushed_at: Timestamp,
    pub(in super::super) collaborators: BTreeMap<String, Role>,
    /// Branches that nobody below `maintain` may push to.
    pub(in super::super) protected: Vec<String>,
    pub(in super::super) labels: Vec<Label>,
    pub(in super::super) issues: BTreeMap<u64, Issue>,
    pub(in super::super) statuses: Vec<CommitStatus>,
    pub(in super::super) checks: Vec<CheckRun>,
}

impl Repository {
    /// An empty repository.
    pub(in super::super) fn new(id: u64, name: RepoName, now: Timestamp) -> Self {
        Self {
            id,
            name,
            visibility: Visibility::Public,
            description: None,
            default_branch: "main".to_owned(),
            created_at: now,
            pushed_at: now,
            collaborators: BTreeMap::new(),
            protected: Vec::new(),
            labels: Vec::new(),
            issues: BTreeMap::new(),
            statuses: Vec::new(),
            checks: Vec::new(),
        }
    }

    /// What this account, or nobody, may do here.
    pub(in super::super) fn role(&self, account: Option<&Account>) -> Role {
        let floor = match self.visibility {
            Visibility::Public => Role::Read,
            Visibility::Private => Role::None,
        };
        let Some(account) = account else { return floor };
        if account.login.as_str().eq_ignore_ascii_case(self.name.owner()) {
            return Role::Admin;
        }
        let own = self.collaborators.get(&account.login.as_str().to_ascii_lowercase()).copied();
        own.unwrap_or(account.role).max(floor)
    }

    /// The label of this name, without regard to case.
    pub(in super::super) fn label(&self, name: &str) -> Option<&Label> {
        let name = name.to_lowercase();
        self.labels.iter().find(|label| label.name.to_lowercase() == name)
    }

    /// The label of this id.
    pub(in super::super) fn label_by_id(&self, id: u64) -> Option<&Label> {
        self.labels.iter().find(|label| label.id == id)
    }

    /// The number of the next issue or pull request.
    pub(in super::super) fn next_number(&self) -> u64 {
        self.issues.last_key_value().map_or(1, |(last, _)| last + 1)
    }

    /// Whether this ref is a protected branch.
    pub(in super::super) fn protects(&self, reference: &str) -> bool {
        reference.strip_prefix("refs/heads/").is_some_and(|branch| self.protected.iter().any(|p| p == branch))
    }
}
