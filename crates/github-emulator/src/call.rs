//! One API request as a handler sees it: who asks, for what, with which rights; and the answer it gives back.

use std::{
    collections::BTreeMap,
    sync::{Arc, MutexGuard},
};

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use serde_json::Value;

use super::{
    fields::Fields,
    forge::Forge,
    git::Access,
    refusal::Refusal,
    state::{Issue, Repository, State},
    users::{AccountKind, Role},
    wire::View,
};
use crate::names::{Login, Timestamp};

/// What a handler answers.
pub(super) type Answer = Result<Reply, Refusal>;

/// One request.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) forge: Arc<Forge>,
    pub(super) caller: Option<Login>,
    /// The App that signed the request with its own key, if one did.
    pub(super) app: Option<u64>,
    pub(super) path: BTreeMap<String, String>,
    pub(super) query: BTreeMap<String, String>,
    /// Path below the server's address, for `Link`.
    pub(super) location: String,
    pub(super) accept: String,
    pub(super) body: Bytes,
    pub(super) now: Timestamp,
}

impl Call {
    /// A part of the path.
    pub(super) fn part(&self, name: &str) -> &str {
        self.path.get(name).map_or("", String::as_str)
    }

    /// The same request with another part in its path.
    pub(super) fn with_part(&self, name: &str, value: impl Into<String>) -> Self {
        let mut other = self.clone();
        other.path.insert(name.to_owned(), value.into());
        other
    }

    /// A number in the path; 404 where it is none.
    pub(super) fn number(&self, name: &str) -> Result<u64, Refusal> {
        self.part(name).parse().map_err(|_| Refusal::not_found())
    }

    /// A parameter of the query, where it is not empty.
    pub(super) fn query(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The body's fields.
    pub(super) fn fields(&self, resource: &'static str) -> Result<Fields, Refusal> {
        Fields::parse(resource, &self.body)
    }

    /// Who asks; 401 where nobody signed in.
    pub(super) fn actor(&self) -> Result<&Login, Refusal> {
        self.caller.as_ref().ok_or_else(Refusal::anonymous)
    }

    /// The forge's state.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.forge.state()
    }

    /// What the caller may do in `repo`.
    pub(super) fn role(&self, state: &State, repo: &Repository) -> Role {
        repo.role(self.caller.as_ref().and_then(|login| state.accounts.get(login.as_str())))
    }

    /// The repository in the path, where the caller may do what `need` says.
    ///
    /// # Errors
    /// 404 where it is hidden, 401 for a write without an account, 403 where the role does not reach.
    pub(super) fn repository<'s>(&self, state: &'s State, need: Role) -> Result<&'s Repository, Refusal> {
        let repo = state.repositories.get(self.part("owner"), self.part("repo")).ok_or_else(Refusal::not_found)?;
        let role = self.role(state, repo);
        if role < Role::Read {
            return Err(Refusal::not_found());
        }
        if role >= need {
            return Ok(repo);
        }
        let account = state.accounts.get(self.actor()?.as_str());
        match account.map(|account| account.kind) {
            Some(AccountKind::Bot) => Err(Refusal::integration()),
            Some(AccountKind::User) | None => Err(Refusal::needs(need)),
        }
    }

    /// The repository in the path, to change it: it takes an account too.
    pub(super) fn repository_mut<'s>(&self, state: &'s mut State, need: Role) -> Result<&'s mut Repository, Refusal> {
        self.repository(state, need)?;
        self.actor()?;
        state.repositories.get_mut(self.part("owner"), self.part("repo")).ok_or_else(Refusal::not_found)
    }

    /// The issue or pull request `number` in the path.
    pub(super) fn issue<'s>(&self, repo: &'s Repository) -> Result<&'s Issue, Refusal> {
        repo.issues.get(&self.number("number")?).ok_or_else(Refusal::not_found)
    }

    /// The issue or pull request `number` in the path, to change it.
    pub(super) fn issue_mut<'s>(&self, repo: &'s mut Repository) -> Result<&'s mut Issue, Refusal> {
        repo.issues.get_mut(&self.number("number")?).ok_or_else(Refusal::not_found)
    }

    /// How the repository in the path looks over the wire.
    pub(super) fn view<'s>(&'s self, state: &'s State) -> Result<View<'s>, Refusal> {
        let repo = state.repositories.get(self.part("owner"), self.part("repo")).ok_or_else(Refusal::not_found)?;
        Ok(View { server: self.forge.server(), accounts: &state.accounts, repo })
    }

    /// The git data of the repository in the path, to read it.
    pub(super) fn read_git(&self) -> Result<git2::Repository, Refusal> {
        let id = self.repository(&self.state(), Role::Read)?.id;
        Ok(self.forge.git.open(id)?)
    }

    /// The git data of the repository in the path, to change its refs: nobody else does meanwhile.
    pub(super) fn write_git(&self, need: Role) -> Result<Access, Refusal> {
        let id = {
            let state = self.state();
            let repo = self.repository(&state, need)?;
            self.actor()?;
            repo.id
        };
        Ok(self.forge.git.lock(id)?)
    }
}

/// An answer.
#[derive(Debug)]
pub(super) struct Reply {
    status: StatusCode,
    content_type: &'static str,
    link: Option<String>,
    location: Option<String>,
    body: Bytes,
}

impl Reply {
    /// 200 with this JSON.
    pub(super) fn ok(body: &Value) -> Self {
        Self::json(StatusCode::OK, body)
    }

    /// 201 with this JSON, and where it is from now on where the JSON says so.
    pub(super) fn created(body: &Value) -> Self {
        let location = body["url"].as_str().map(str::to_owned);
        Self { location, ..Self::json(StatusCode::CREATED, body) }
    }

    /// 204.
    pub(super) fn empty() -> Self {
        Self { status: StatusCode::NO_CONTENT, content_type: "", link: None, location: None, body: Bytes::new() }
    }

    /// This status with this JSON.
    pub(super) fn json(status: StatusCode, body: &Value) -> Self {
        let body = body.to_string().into();
        Self { status, content_type: "application/json; charset=utf-8", link: None, location: None, body }
    }

    /// 200 with these bytes.
    pub(super) fn raw(content_type: &'static str, body: impl Into<Bytes>) -> Self {
        Self { status: StatusCode::OK, content_type, link: None, location: None, body: body.into() }
    }

    /// The JSON of the body; `null` where it has none.
    pub(super) fn read(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Adds where the other pages are.
    pub(super) fn with_link(mut self, link: Option<String>) -> Self {
        self.link = link;
        self
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let mut response = (self.status, self.body).into_response();
        let headers = response.headers_mut();
        headers.remove(header::CONTENT_TYPE);
        if !self.content_type.is_empty() {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        }
        if let Some(link) = self.link.and_then(|link| HeaderValue::from_str(&link).ok()) {
            headers.insert(header::LINK, link);
        }
        if let Some(location) = self.location.and_then(|at| HeaderValue::from_str(&at).ok()) {
            headers.insert(header::LOCATION, location);
        }
        response
    }
}
