//! The whole state, and its repositories, which are found by their current and former names.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Accounts, Grant, Repository, records::Records};
use crate::names::RepoName;

/// The whole state.
#[derive(Debug, Default)]
pub(in super::super) struct State {
    pub(in super::super) accounts: Accounts,
    /// Tokens of installations, by the digest of the token.
    pub(in super::super) tokens: Records<String, Grant>,
    pub(in super::super) repositories: Repositories,
}

/// All repositories. Names are compared without regard to case.
#[derive(Debug, Default)]
pub(in super::super) struct Repositories {
    all: BTreeMap<u64, Repository>,
    /// The ids by name, former names included: derived from the repositories.
    names: BTreeMap<String, u64>,
    touched: BTreeSet<u64>,
}

impl Repositories {
    /// The repository of this name.
    pub(in super::super) fn get(&self, owner: &str, name: &str) -> Option<&Repository> {
        let repo = self.now_or_before(owner, name)?;
        repo.name.is(owner, name).then_some(repo)
    }

    /// The repository of this name, to change it.
    pub(in super::super) fn get_mut(&mut self, owner: &str, name: &str) -> Option<&mut Repository> {
        let id = self.get(owner, name)?.id;
        self.touched.insert(id);
        self.all.get_mut(&id)
    }

    /// The repository that has this name, or had it and no other took it since.
    pub(in super::super) fn now_or_before(&self, owner: &str, name: &str) -> Option<&Repository> {
        self.all.get(self.names.get(&format!("{owner}/{name}").to_ascii_lowercase())?)
    }

    /// The repository of this id.
    pub(in super::super) fn by_id(&self, id: u64) -> Option<&Repository> {
        self.all.get(&id)
    }

    /// The repository of this id, to change it.
    pub(in super::super) fn by_id_mut(&mut self, id: u64) -> Option<&mut Repository> {
        self.touched.insert(id);
        self.all.get_mut(&id)
    }

    /// Every repository, by name.
    pub(in super::super) fn all(&self) -> impl Iterator<Item = &Repository> {
        let named = self.names.iter().filter_map(|(name, id)| Some((name, self.all.get(id)?)));
        named.filter(|(name, repo)| repo.name.to_string().eq_ignore_ascii_case(name)).map(|(_, repo)| repo)
    }

    /// The ids of all repositories.
    pub(in super::super) fn ids(&self) -> impl Iterator<Item = u64> {
        self.all.keys().copied()
    }

    /// Adds a repository.
    pub(in super::super) fn put(&mut self, repo: Repository) {
        self.touched.insert(repo.id);
        self.all.insert(repo.id, repo);
        self.index();
    }

    /// Gives a repository another name; it is still found by the old one.
    pub(in super::super) fn rename(&mut self, id: u64, name: RepoName) {
        if let Some(repo) = self.by_id_mut(id) {
            let former = std::mem::replace(&mut repo.name, name);
            repo.former_names.push(former);
        }
        self.index();
    }

    /// Removes a repository.
    pub(in super::super) fn remove(&mut self, id: u64) {
        self.touched.insert(id);
        self.forget(id);
    }

    /// The repositories touched since the last call, and all repositories.
    pub(super) fn take_touched(&mut self) -> (BTreeSet<u64>, &mut BTreeMap<u64, Repository>) {
        (std::mem::take(&mut self.touched), &mut self.all)
    }

    /// Applies a stored head: a new repository, or the new head of a known one.
    pub(super) fn replay_head(&mut self, stored_head: Value) -> serde_json::Result<()> {
        let mut head: Repository = serde_json::from_value(stored_head.clone())?;
        head.stored_head = stored_head;
        if let Some(known) = self.all.remove(&head.id) {
            (head.issues, head.statuses) = (known.issues, known.statuses);
            (head.checks, head.runs) = (known.checks, known.runs);
        }
        self.all.insert(head.id, head);
        self.index();
        Ok(())
    }

    /// The repository of this id, to apply its stored changes.
    pub(super) fn replayed(&mut self, id: u64) -> Option<&mut Repository> {
        self.all.get_mut(&id)
    }

    /// Removes a repository, without counting as a change.
    pub(super) fn forget(&mut self, id: u64) {
        self.all.remove(&id);
        self.index();
    }

    fn index(&mut self) {
        let key = |name: &RepoName| name.to_string().to_ascii_lowercase();
        let former = self.all.values().flat_map(|repo| repo.former_names.iter().map(|name| (key(name), repo.id)));
        let current = self.all.values().map(|repo| (key(&repo.name), repo.id));
        // A name that another repository has now is not a former one any more.
        self.names = former.chain(current).collect();
    }
}
