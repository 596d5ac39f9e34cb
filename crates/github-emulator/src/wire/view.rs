//! One repository as an answer shows it: its addresses, its accounts, and how an account relates to it.

use serde_json::Value;

use super::{
    super::{
        state::{Accounts, Repository},
        users::Role,
    },
    simple_account,
};
use crate::names::Login;

/// A repository, the accounts of the server, and the server's address.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct View<'s> {
    pub(in super::super) server: &'s str,
    pub(in super::super) accounts: &'s Accounts,
    pub(in super::super) repo: &'s Repository,
}

impl View<'_> {
    /// The address of an endpoint below this repository; `""` for the repository itself.
    pub(in super::super) fn api(&self, below: &str) -> String {
        format!("{}/api/v3/repos/{}{below}", self.server, self.repo.name)
    }

    /// The address of a page below this repository; `""` for the repository itself.
    pub(in super::super) fn html(&self, below: &str) -> String {
        format!("{}/{}{below}", self.server, self.repo.name)
    }

    /// An account, as GitHub's `simple-user`.
    pub(in super::super) fn user(&self, login: &Login) -> Value {
        simple_account(self.server, self.accounts, login.as_str())
    }

    /// The association of an account with this repository.
    pub(in super::super) fn association(&self, login: &Login) -> &'static str {
        if login.as_str().eq_ignore_ascii_case(self.repo.name.owner()) {
            return "OWNER";
        }
        let role = self.repo.role(self.accounts.get(login.as_str()));
        if role >= Role::Triage { "COLLABORATOR" } else { "NONE" }
    }
}
