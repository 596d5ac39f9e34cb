//! A repository with its labels, issues, collaborators and checks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    super::{
        branch_rules::{BranchRules, RequiredCheck},
        merge_method::MergeMethod,
        rulesets::Ruleset,
        users::Role,
    },
    Account, CheckApp, CheckRun, CheckSuite, Issue, WorkflowRun,
    records::Records,
};
use crate::names::{Login, RepoName, Timestamp};

/// The visibility of a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in super::super) enum Visibility {
    /// Everyone.
    Public,
    /// Accounts with their own role in it.
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
    /// The App whose token set it; `None` if it was a user's.
    #[serde(default)]
    pub(in super::super) app: Option<u64>,
    pub(in super::super) at: Timestamp,
}

/// The allowed merge methods of pull requests.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "the fields of GitHub's repository, by its names")]
pub(in super::super) struct Merging {
    pub(in super::super) allow_merge_commit: bool,
    pub(in super::super) allow_squash_merge: bool,
    pub(in super::super) allow_rebase_merge: bool,
    pub(in super::super) delete_branch_on_merge: bool,
    #[serde(default)]
    pub(in super::super) allow_auto_merge: bool,
}

/// A pull request's merge as soon as its requirements are met.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in super::super) struct AutoMerge {
    pub(in super::super) by: Login,
    pub(in super::super) at: Timestamp,
    pub(in super::super) method: MergeMethod,
    pub(in super::super) title: Option<String>,
    pub(in super::super) body: Option<String>,
}

impl Default for Merging {
    fn default() -> Self {
        let allow = true;
        Self {
            allow_merge_commit: allow,
            allow_squash_merge: allow,
            allow_rebase_merge: allow,
            delete_branch_on_merge: false,
            allow_auto_merge: false,
        }
    }
}

/// A repository. Its records are each stored separately, and are not part of its serialized form.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in super::super) struct Repository {
    pub(in super::super) id: u64,
    pub(in super::super) name: RepoName,
    /// Its former names, oldest first.
    pub(in super::super) former_names: Vec<RepoName>,
    pub(in super::super) archived: bool,
    pub(in super::super) has_issues: bool,
    /// Settings that are kept and shown, and have no other effect here: a wiki or project begins with its first page.
    pub(in super::super) features: BTreeMap<String, bool>,
    pub(in super::super) homepage: Option<String>,
    pub(in super::super) merging: Merging,
    pub(in super::super) visibility: Visibility,
    pub(in super::super) description: Option<String>,
    pub(in super::super) default_branch: String,
    pub(in super::super) created_at: Timestamp,
    pub(in super::super) pushed_at: Timestamp,
    pub(in super::super) collaborators: BTreeMap<String, Role>,
    /// Branches that accounts below `maintain` may not push to.
    pub(in super::super) protected: Vec<String>,
    /// The requirements of branch protection, by branch.
    #[serde(default)]
    pub(in super::super) rules: BTreeMap<String, BranchRules>,
    /// Its rulesets, the oldest first.
    #[serde(default)]
    pub(in super::super) rulesets: Vec<Ruleset>,
    /// The merges that wait for requirements, by pull request.
    #[serde(default)]
    pub(in super::super) auto_merges: BTreeMap<u64, AutoMerge>,
    /// The workflows that run for pull requests, each with the names of its jobs, as a test says.
    #[serde(default)]
    pub(in super::super) pull_workflows: BTreeMap<String, Vec<String>>,
    /// The state of workflows that are not active, by their files' names.
    #[serde(default)]
    pub(in super::super) workflow_states: BTreeMap<String, String>,
    pub(in super::super) labels: Vec<Label>,
    #[serde(skip)]
    pub(in super::super) issues: Records<u64, Issue>,
    #[serde(skip)]
    pub(in super::super) statuses: Records<u64, CommitStatus>,
    #[serde(skip)]
    pub(in super::super) checks: Records<u64, CheckRun>,
    /// Runs of workflows.
    #[serde(skip)]
    pub(in super::super) runs: Records<u64, WorkflowRun>,
    /// The serialized form that was stored last.
    #[serde(skip)]
    pub(super) stored_head: Value,
}

impl Repository {
    /// An empty repository.
    pub(in super::super) fn new(id: u64, name: RepoName, now: Timestamp) -> Self {
        Self {
            id,
            name,
            former_names: Vec::new(),
            archived: false,
            has_issues: true,
            features: BTreeMap::new(),
            homepage: None,
            merging: Merging::default(),
            visibility: Visibility::Public,
            description: None,
            default_branch: "main".to_owned(),
            created_at: now,
            pushed_at: now,
            collaborators: BTreeMap::new(),
            protected: Vec::new(),
            rules: BTreeMap::new(),
            rulesets: Vec::new(),
            auto_merges: BTreeMap::new(),
            pull_workflows: BTreeMap::new(),
            workflow_states: BTreeMap::new(),
            labels: Vec::new(),
            issues: Records::default(),
            statuses: Records::default(),
            checks: Records::default(),
            runs: Records::default(),
            stored_head: Value::Null,
        }
    }

    /// The role of this account, or of an anonymous caller, here.
    pub(in super::super) fn role(&self, account: Option<&Account>) -> Role {
        let floor = match self.visibility {
            Visibility::Public => Role::Read,
            Visibility::Private => Role::None,
        };
        let Some(account) = account else { return floor };
        self.granted(account).max(floor)
    }

    /// The role of this account here, beyond that of everyone.
    pub(in super::super) fn granted(&self, account: &Account) -> Role {
        if account.login.as_str().eq_ignore_ascii_case(self.name.owner()) {
            return Role::Admin;
        }
        let own = self.collaborators.get(&account.login.as_str().to_ascii_lowercase()).copied();
        own.unwrap_or(account.role)
    }

    /// The newest check run of each name in each suite of a commit, newest first.
    pub(in super::super) fn latest_checks(&self, sha: &str) -> Vec<&CheckRun> {
        let mut found: Vec<&CheckRun> = Vec::new();
        for run in self.checks.values().rev().filter(|run| run.sha == sha) {
            if !found.iter().any(|known| known.name == run.name && known.suite == run.suite) {
                found.push(run);
            }
        }
        found
    }

    /// The check suites of a commit, the oldest first.
    pub(in super::super) fn suites(&self, sha: &str) -> Vec<CheckSuite<'_>> {
        let mut found: BTreeMap<u64, CheckSuite<'_>> = BTreeMap::new();
        for run in self.runs.values().filter(|run| run.sha == sha) {
            let app = Some(CheckApp::of_actions());
            found.insert(run.suite, CheckSuite { id: run.suite, app, checks: Vec::new(), run: Some(run) });
        }
        for check in self.latest_checks(sha) {
            let (id, app) = (check.suite, check.app.clone());
            let new = || CheckSuite { id, app, checks: Vec::new(), run: None };
            found.entry(id).or_insert_with(new).checks.push(check);
        }
        found.into_values().collect()
    }

    /// The newest status of each context of a commit, newest first.
    pub(in super::super) fn latest_statuses(&self, sha: &str) -> Vec<&CommitStatus> {
        let mut found: Vec<&CommitStatus> = Vec::new();
        for status in self.statuses.values().rev().filter(|status| status.sha == sha) {
            if !found.iter().any(|known| known.context == status.context) {
                found.push(status);
            }
        }
        found
    }

    /// The newest status of a required context, by the App that must set it.
    pub(in super::super) fn latest_status(&self, sha: &str, required: &RequiredCheck) -> Option<&CommitStatus> {
        let by = |status: &CommitStatus| required.app_id.is_none_or(|id| status.app == Some(id));
        let of_context = |status: &CommitStatus| status.context == required.context && by(status);
        self.statuses.values().rev().find(|status| status.sha == sha && of_context(status))
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
        self.issues.last_key().map_or(1, |last| last + 1)
    }

    /// Whether a branch is protected, with any requirements.
    pub(in super::super) fn is_protected(&self, branch: &str) -> bool {
        self.rules.contains_key(branch) || self.protected.iter().any(|known| known == branch)
    }

    /// The requirements of a branch.
    pub(in super::super) fn rules_of(&self, branch: &str) -> impl Iterator<Item = &BranchRules> {
        let by_rulesets = self.rulesets_of(branch).map(|ruleset| &ruleset.rules.merging);
        self.rules.get(branch).into_iter().chain(by_rulesets)
    }

    /// The rulesets that bind a branch, which need not exist.
    pub(in super::super) fn rulesets_of(&self, branch: &str) -> impl Iterator<Item = &Ruleset> {
        self.rulesets.iter().filter(move |ruleset| ruleset.binds(branch, &self.default_branch))
    }

    /// Whether this ref is a branch that only some may push to.
    pub(in super::super) fn protects(&self, reference: &str) -> bool {
        reference.strip_prefix("refs/heads/").is_some_and(|branch| self.protected.iter().any(|p| p == branch))
    }
}
