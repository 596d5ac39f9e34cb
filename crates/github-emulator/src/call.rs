//! One API request as a handler sees it: the caller, the target, the rights; and the answer.

use std::{
    collections::BTreeMap,
    sync::{Arc, MutexGuard},
};

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, StatusCode, header};
use serde_json::Value;

use super::{
    attachments,
    fields::Fields,
    forge::Forge,
    git::Access,
    media::Media,
    permission::Needed,
    refusal::Refusal,
    state::{Grant, Issue, Repository, State, Visibility},
    users::{AccountKind, Role, TokenKind},
    wire::View,
};
use crate::names::{Login, Timestamp};

/// The answer of a handler.
pub(super) type Answer = Result<Reply, Refusal>;

/// One request.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) forge: Arc<Forge>,
    pub(super) caller: Option<Login>,
    /// The permissions of the caller's token, if it is an installation's.
    pub(super) grant: Option<Grant>,
    /// The kind of token that the caller signed in with.
    pub(super) token: TokenKind,
    /// The App that signed the request with its own key, if one did.
    pub(super) app: Option<u64>,
    pub(super) path: BTreeMap<String, String>,
    pub(super) query: BTreeMap<String, String>,
    pub(super) raw_query: String,
    /// Path below the server's address, for `Link`.
    pub(super) location: String,
    pub(super) media: Media,
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

    /// A number in the path; 404 if it is not one.
    pub(super) fn number(&self, name: &str) -> Result<u64, Refusal> {
        self.part(name).parse().map_err(|_| Refusal::not_found())
    }

    /// A parameter of the query, if it is not empty.
    pub(super) fn query(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// A time in the query.
    ///
    /// # Errors
    /// 422 if it is not one.
    pub(super) fn time(&self, resource: &str, name: &str) -> Result<Option<Timestamp>, Refusal> {
        let time = self.query(name).map(|text| text.parse().map_err(|_| Refusal::invalid(resource, name)));
        time.transpose()
    }

    /// A word in the query, one of `known`; the first of them if there is none.
    ///
    /// # Errors
    /// 422 if it is another.
    pub(super) fn choice(&self, resource: &str, name: &str, known: &[&'static str]) -> Result<&'static str, Refusal> {
        let wanted = self.query(name).or(known.first().copied()).unwrap_or_default();
        known.iter().find(|word| **word == wanted).copied().ok_or_else(|| Refusal::invalid(resource, name))
    }

    /// The body's fields.
    pub(super) fn fields(&self, resource: &'static str) -> Result<Fields, Refusal> {
        Fields::parse(resource, &self.body)
    }

    /// The caller; 401 if anonymous.
    pub(super) fn actor(&self) -> Result<&Login, Refusal> {
        self.caller.as_ref().ok_or_else(Refusal::anonymous)
    }

    /// The forge's state.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.forge.state()
    }

    /// The caller's role in `repo`.
    pub(super) fn role(&self, state: &State, repo: &Repository) -> Role {
        let outside = self.grant.as_ref().is_some_and(|grant| !grant.includes(repo.id));
        let caller = self.caller.as_ref().filter(|_| !outside);
        repo.role(caller.and_then(|login| state.accounts.get(login.as_str())))
    }

    /// Refuses an installation's token that lacks the permission, and any fine-grained token if no permission suffices.
    ///
    /// # Errors
    /// 403; a repository that the caller may not see is the handler's to refuse.
    pub(super) fn permitted(&self, needed: Needed) -> Result<(), Refusal> {
        if self.token == TokenKind::FineGrained && !needed.is_personal() {
            self.repository(&self.state(), Role::Read)?;
            return Err(Refusal::personal());
        }
        let Some(grant) = &self.grant else { return Ok(()) };
        let state = self.state();
        let Ok(repo) = self.repository(&state, Role::Read) else { return Ok(()) };
        let is_public = repo.visibility == Visibility::Public;
        if needed.is_met(grant, is_public) { Ok(()) } else { Err(Refusal::integration().accepting(needed.header())) }
    }

    /// The repository in the path, if the caller has the role `need`.
    ///
    /// # Errors
    /// 404 if it is hidden, 401 for a write without an account, 403 if the role does not suffice.
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

    /// The repository in the path, to change it, which requires an account.
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

    /// The view of the repository in the path, for JSON.
    pub(super) fn view<'s>(&'s self, state: &'s State) -> Result<View<'s>, Refusal> {
        let repo = state.repositories.get(self.part("owner"), self.part("repo")).ok_or_else(Refusal::not_found)?;
        Ok(View { server: self.forge.server(), accounts: &state.accounts, repo })
    }

    /// The git data of the repository in the path, to read it.
    pub(super) fn read_git(&self) -> Result<git2::Repository, Refusal> {
        let id = self.repository(&self.state(), Role::Read)?.id;
        Ok(self.forge.git.open(id)?)
    }

    /// The git data of the repository in the path, locked to change its refs.
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
    content: Content,
    media: Media,
    link: Option<String>,
    location: Option<String>,
}

#[derive(Debug)]
enum Content {
    Nothing,
    Json(Value),
    Bytes(&'static str, Bytes),
}

impl Reply {
    /// 200 with this JSON.
    pub(super) fn ok(body: Value) -> Self {
        Self::json(StatusCode::OK, body)
    }

    /// 201 with this JSON, and a `Location` header if the JSON has an address.
    pub(super) fn created(body: Value) -> Self {
        let location = body["url"].as_str().map(str::to_owned);
        Self { location, ..Self::json(StatusCode::CREATED, body) }
    }

    /// 204.
    pub(super) fn empty() -> Self {
        Self {
            status: StatusCode::NO_CONTENT,
            content: Content::Nothing,
            media: Media::Json,
            link: None,
            location: None,
        }
    }

    /// 302: the requested object is at this address.
    pub(super) fn found(location: String) -> Self {
        Self { status: StatusCode::FOUND, location: Some(location), ..Self::empty() }
    }

    /// This status with this JSON.
    pub(super) fn json(status: StatusCode, body: Value) -> Self {
        Self { status, content: Content::Json(body), ..Self::empty() }
    }

    /// 200 with these bytes.
    pub(super) fn raw(content_type: &'static str, body: impl Into<Bytes>) -> Self {
        Self { status: StatusCode::OK, content: Content::Bytes(content_type, body.into()), ..Self::empty() }
    }

    /// The JSON body; null if there is none.
    pub(super) fn shown(self) -> Value {
        match self.content {
            Content::Json(body) => body,
            Content::Nothing | Content::Bytes(..) => Value::Null,
        }
    }

    /// Adds the `Location` header.
    pub(super) fn at(mut self, location: String) -> Self {
        self.location = Some(location);
        self
    }

    /// Adds the `Link` header to the other pages.
    pub(super) fn with_link(mut self, link: Option<String>) -> Self {
        self.link = link;
        self
    }

    /// The same with a changed JSON body.
    pub(super) fn changed(mut self, change: impl FnOnce(&mut Value)) -> Self {
        if let Content::Json(body) = &mut self.content {
            change(body);
        }
        self
    }

    /// The same in the media type that the call asks for.
    pub(super) fn in_media_of(mut self, call: &Call) -> Self {
        self.media = call.media;
        if let (Content::Json(body), Media::Text | Media::Html | Media::Full) = (&mut self.content, call.media) {
            let repo = format!("{}/{}/{}", call.forge.server(), call.part("owner"), call.part("repo"));
            call.media.render(body, &repo, &|address| attachments::signed(&call.forge, address));
        }
        self
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let (content_type, bytes) = match self.content {
            Content::Nothing => ("", Bytes::new()),
            Content::Json(body) => ("application/json; charset=utf-8", body.to_string().into()),
            Content::Bytes(content_type, bytes) => (content_type, bytes),
        };
        let mut response = (self.status, bytes).into_response();
        let headers = response.headers_mut();
        headers.remove(header::CONTENT_TYPE);
        if !content_type.is_empty() {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
        }
        let mut set = |name: HeaderName, value: Option<String>| {
            if let Some(value) = value.and_then(|value| HeaderValue::from_str(&value).ok()) {
                headers.insert(name, value);
            }
        };
        set(header::LINK, self.link);
        set(header::LOCATION, self.location);
        set(HeaderName::from_static("x-github-media-type"), Some(self.media.header()));
        response
    }
}
