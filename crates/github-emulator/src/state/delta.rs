//! A change of the state as data, which `state_file` appends. The whole state is a change of an empty one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Account, CheckRun, CommitStatus, Grant, Issue, State, WorkflowRun, records::Changes};

/// The changes of the state: each changed record whole, and nothing of the unchanged ones.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in super::super) struct Delta<'s> {
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    accounts: Changes<'s, String, Account>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    tokens: Changes<'s, String, Grant>,
    /// By id; `None` if the repository is gone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    repositories: BTreeMap<u64, Option<RepositoryDelta<'s>>>,
}

/// The changes of one repository.
#[derive(Debug, Default, Serialize, Deserialize)]
struct RepositoryDelta<'s> {
    /// Everything but its records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    head: Option<Value>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    issues: Changes<'s, u64, Issue>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    statuses: Changes<'s, u64, CommitStatus>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    checks: Changes<'s, u64, CheckRun>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    runs: Changes<'s, u64, WorkflowRun>,
}

impl Delta<'_> {
    /// Whether nothing changed.
    pub(in super::super) fn is_empty(&self) -> bool {
        self.accounts.is_empty() && self.tokens.is_empty() && self.repositories.is_empty()
    }
}

impl RepositoryDelta<'_> {
    fn is_empty(&self) -> bool {
        let results = self.statuses.is_empty() && self.checks.is_empty() && self.runs.is_empty();
        self.head.is_none() && self.issues.is_empty() && results
    }
}

impl State {
    /// The changes since the last call.
    ///
    /// # Errors
    /// If a repository cannot be serialized.
    pub(in super::super) fn take_changes(&mut self) -> serde_json::Result<Delta<'_>> {
        let (touched, all) = self.repositories.take_touched();
        let gone = touched.iter().filter(|id| !all.contains_key(id)).map(|id| (*id, None));
        let mut repositories: BTreeMap<u64, Option<RepositoryDelta<'_>>> = gone.collect();
        for (id, repo) in all.iter_mut().filter(|(id, _)| touched.contains(id)) {
            // A write to an issue borrows its repository, too: only a comparison tells whether that changed.
            let head = serde_json::to_value(&*repo)?;
            let is_new = repo.stored_head != head;
            if is_new {
                repo.stored_head.clone_from(&head);
            }
            let delta = RepositoryDelta {
                head: is_new.then_some(head),
                issues: repo.issues.take_changes(),
                statuses: repo.statuses.take_changes(),
                checks: repo.checks.take_changes(),
                runs: repo.runs.take_changes(),
            };
            if !delta.is_empty() {
                repositories.insert(*id, Some(delta));
            }
        }
        Ok(Delta { accounts: self.accounts.0.take_changes(), tokens: self.tokens.take_changes(), repositories })
    }

    /// The whole state, as a change of an empty one.
    ///
    /// # Errors
    /// If a repository cannot be serialized.
    pub(in super::super) fn as_changes(&self) -> serde_json::Result<Delta<'_>> {
        let mut repositories = BTreeMap::new();
        for repo in self.repositories.all() {
            let delta = RepositoryDelta {
                head: Some(serde_json::to_value(repo)?),
                issues: repo.issues.as_changes(),
                statuses: repo.statuses.as_changes(),
                checks: repo.checks.as_changes(),
                runs: repo.runs.as_changes(),
            };
            repositories.insert(repo.id, Some(delta));
        }
        Ok(Delta { accounts: self.accounts.0.as_changes(), tokens: self.tokens.as_changes(), repositories })
    }

    /// Applies a stored change.
    ///
    /// # Errors
    /// If a repository's head does not have this version's format.
    pub(in super::super) fn replay(&mut self, delta: Delta<'_>) -> serde_json::Result<()> {
        self.accounts.0.replay(delta.accounts);
        self.tokens.replay(delta.tokens);
        for (id, change) in delta.repositories {
            let Some(change) = change else {
                self.repositories.forget(id);
                continue;
            };
            if let Some(head) = change.head {
                self.repositories.replay_head(head)?;
            }
            if let Some(repo) = self.repositories.replayed(id) {
                repo.issues.replay(change.issues);
                repo.statuses.replay(change.statuses);
                repo.checks.replay(change.checks);
                repo.runs.replay(change.runs);
            }
        }
        Ok(())
    }
}
