//! Renames an account, everywhere: GitHub shows all of an account's actions under its current name.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{State, repository::Repository};
use crate::names::Login;

/// An account's name, and the one that takes its place.
struct Name<'n> {
    from: &'n Login,
    to: &'n Login,
}

impl Name<'_> {
    /// The same value, with the new name in place of each text that is the old one.
    fn renamed<T: Serialize + DeserializeOwned>(&self, value: &T) -> serde_json::Result<T> {
        let mut value = serde_json::to_value(value)?;
        self.replace(&mut value);
        serde_json::from_value(value)
    }

    fn replace(&self, value: &mut Value) {
        match value {
            Value::String(text) if text.eq_ignore_ascii_case(self.from.as_str()) => self.to.as_str().clone_into(text),
            Value::Array(all) => all.iter_mut().for_each(|one| self.replace(one)),
            Value::Object(members) => members.values_mut().for_each(|one| self.replace(one)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

impl State {
    /// Renames an account; it keeps its id, its role and its actions. `false` if there is no such account.
    pub(in super::super) fn rename_account(&mut self, from: &Login, to: &Login) -> serde_json::Result<bool> {
        let Some(mut account) = self.accounts.get(from.as_str()).cloned() else { return Ok(false) };
        account.login = to.clone();
        self.accounts.0.retain(|known| !known.login.is(from));
        self.accounts.0.insert(to.as_str().to_ascii_lowercase(), account);
        let name = Name { from, to };
        for id in self.repositories.ids().collect::<Vec<_>>() {
            let Some(repo) = self.repositories.by_id_mut(id) else { continue };
            rename_in(repo, &name)?;
        }
        Ok(true)
    }
}

fn rename_in(repo: &mut Repository, name: &Name<'_>) -> serde_json::Result<()> {
    let role = repo.collaborators.remove(&name.from.as_str().to_ascii_lowercase());
    repo.collaborators.extend(role.map(|role| (name.to.as_str().to_ascii_lowercase(), role)));
    repo.issues.try_edit(|issue| name.renamed(issue))?;
    repo.statuses.try_edit(|status| name.renamed(status))?;
    repo.checks.try_edit(|check| name.renamed(check))?;
    repo.runs.try_edit(|run| name.renamed(run))
}
