//! How the state looks over the wire: GitHub's own field names, every field its OpenAPI description requires.

mod account;
mod check;
mod event;
mod git;
mod issue;
mod pull;
mod repository;

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use super::state::{Accounts, Repository};
use crate::domain::{Login, Timestamp};

/// What is seen: one repository, its accounts, and the address it is seen at.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'s> {
    pub(super) server: &'s str,
    pub(super) accounts: &'s Accounts,
    pub(super) repo: &'s Repository,
}

pub(super) use account::{private_account, public_account, simple_account};
pub(super) use git::{person, wrapped_base64};
pub(super) use issue::CONTENTS;
pub(super) use pull::Measured;

impl View<'_> {
    /// The address of an endpoint below this repository; `""` for the repository itself.
    pub(super) fn api(&self, below: &str) -> String {
        format!("{}/api/v3/repos/{}{below}", self.server, self.repo.name)
    }

    /// The address of a page below this repository; `""` for the repository itself.
    pub(super) fn html(&self, below: &str) -> String {
        format!("{}/{}{below}", self.server, self.repo.name)
    }

    /// An account, as GitHub's `simple-user`.
    pub(super) fn user(&self, login: &Login) -> Value {
        simple_account(self.server, self.accounts, login.as_str())
    }

    /// How an account stands to this repository.
    pub(super) fn association(&self, login: &Login) -> &'static str {
        if login.as_str().eq_ignore_ascii_case(self.repo.name.owner()) {
            return "OWNER";
        }
        let role = self.repo.role(self.accounts.get(login.as_str()));
        if role >= super::options::Role::Triage { "COLLABORATOR" } else { "NONE" }
    }
}

/// An opaque id for GraphQL, as GitHub gives one beside each id.
pub(super) fn node_id(kind: &str, id: impl std::fmt::Display) -> String {
    BASE64_STANDARD.encode(format!("{kind}:{id}"))
}

/// A time as GitHub's API writes it.
pub(super) fn time(at: Timestamp) -> Value {
    json!(at.format("%Y-%m-%dT%H:%M:%SZ").to_string())
}
