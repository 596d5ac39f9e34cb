//! Accounts, found by their login without regard to case.

use serde::{Deserialize, Serialize};

use super::{
    super::users::{AccountKind, Role},
    records::Records,
};
use crate::names::{Login, Timestamp};

/// One account.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in super::super) struct Account {
    pub(in super::super) id: u64,
    pub(in super::super) login: Login,
    pub(in super::super) role: Role,
    pub(in super::super) kind: AccountKind,
    pub(in super::super) created_at: Timestamp,
    /// Its Ed25519 keys that sign commits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in super::super) signing_keys: Vec<Vec<u8>>,
}

/// All accounts.
#[derive(Debug, Default)]
pub(in super::super) struct Accounts(pub(super) Records<String, Account>);

impl Accounts {
    /// The account of this name.
    pub(in super::super) fn get(&self, login: &str) -> Option<&Account> {
        self.0.get(login.to_ascii_lowercase().as_str())
    }

    /// Adds an account, or replaces the one of this name, which keeps its id.
    pub(in super::super) fn put(&mut self, mut account: Account) {
        let key = account.login.as_str().to_ascii_lowercase();
        if let Some(known) = self.0.get(key.as_str()) {
            account.id = known.id;
            account.created_at = known.created_at;
            account.signing_keys.clone_from(&known.signing_keys);
        }
        self.0.insert(key, account);
    }

    /// Lets an account sign commits with one more key; `false` if there is no such account.
    pub(in super::super) fn add_signing_key(&mut self, login: &str, key: Vec<u8>) -> bool {
        let Some(mut account) = self.get(login).cloned() else { return false };
        account.signing_keys.push(key);
        self.0.insert(login.to_ascii_lowercase(), account);
        true
    }

    /// Every account, by name.
    pub(in super::super) fn all(&self) -> impl Iterator<Item = &Account> {
        self.0.values()
    }
}
