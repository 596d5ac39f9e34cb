//! The page for people: five views of what is known, and forms for what operators may ask for.
//!
//! # Guarantees
//! - Every text of others is escaped by the templates, and nothing is inline: the policy in the header allows no script and no style but
//!   the page's own.
//! - Lists come in parts, by key, and each filter is in the address, so that a view can be shared.
//! - Without scripts everything works; the script only keeps what is shown up to date.

mod charts;
mod health;
mod issue;
mod needs;
mod now;
mod rows;
mod templates;
mod worth;

use axum::{
    Form, Router,
    extract::{Path, State, rejection::FormRejection},
    response::{IntoResponse, Redirect, Response},
    routing::{get, post},
};
use hob_domain::{IssueNumber, RepoName};
use http::{StatusCode, header};
use minijinja::context;
use serde::Deserialize;

use self::templates::{SIGN_IN, View, render};
use crate::{
    api::{Deed, Done, Refused, Words, carry_out, carry_out_everywhere},
    shared::Shared,
};

/// The style and the script.
const STYLE: &str = include_str!("../../assets/page.css");
const SCRIPT: &str = include_str!("../../assets/page.js");

/// What only those see who may read.
pub(crate) fn routes() -> Router<Shared> {
    Router::new()
        .route("/", get(needs::get))
        .route("/now", get(now::get))
        .route("/worth-it", get(worth::get))
        .route("/health", get(health::get))
        .route("/issues/{owner}/{name}/{issue}", get(issue::get))
        .route("/issues/{owner}/{name}/{issue}/{deed}", post(ask))
        .route("/repositories/{owner}/{name}/{deed}", post(ask_everywhere))
}

/// What says nothing of the work.
pub(crate) fn public_routes() -> Router<Shared> {
    let asset = |kind: &'static str, text: &'static str| {
        move || async move { ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "max-age=3600")], text) }
    };
    Router::new()
        .route(
            "/sign-in",
            get(|shared: State<Shared>| async move { sign_in_page(&shared, StatusCode::OK) }).post(sign_in),
        )
        .route("/assets/page.css", get(asset("text/css; charset=utf-8", STYLE)))
        .route("/assets/page.js", get(asset("text/javascript; charset=utf-8", SCRIPT)))
}

/// The token, as it is typed.
#[derive(Deserialize)]
struct Typed {
    #[serde(default)]
    token: String,
}

async fn sign_in(State(shared): State<Shared>, typed: Result<Form<Typed>, FormRejection>) -> Response {
    let session = typed.ok().and_then(|Form(typed)| shared.access.sign_in(&typed.token));
    match session {
        Some(cookie) => ([(header::SET_COOKIE, cookie)], Redirect::to("/")).into_response(),
        None => sign_in_page(&shared, StatusCode::UNAUTHORIZED),
    }
}

fn sign_in_page(shared: &Shared, status: StatusCode) -> Response {
    let is_wrong = status != StatusCode::OK;
    let answer = render(shared, View::None, SIGN_IN, "Sign in", context! { is_wrong });
    (status, answer).into_response()
}

/// What a form says.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Asked {
    message: String,
    shown: Option<String>,
    /// The address to go back to.
    from: String,
}

async fn ask(
    State(shared): State<Shared>,
    Path((owner, name, issue, deed)): Path<(String, String, u64, Deed)>,
    asked: Result<Form<Asked>, FormRejection>,
) -> Response {
    let asked = match asked {
        Ok(Form(asked)) => asked,
        Err(rejection) => return told(&shared, rejection.status(), &rejection.body_text(), "/"),
    };
    let Some(repo) = repo_of(&owner, &name) else { return unknown(&shared) };
    let words = Words { message: asked.message, shown: asked.shown };
    let done = carry_out(&shared, &repo, IssueNumber(issue), deed, words).await;
    answered(&shared, done, &asked.from)
}

async fn ask_everywhere(
    State(shared): State<Shared>,
    Path((owner, name, deed)): Path<(String, String, Deed)>,
    asked: Result<Form<Asked>, FormRejection>,
) -> Response {
    let asked = match asked {
        Ok(Form(asked)) => asked,
        Err(rejection) => return told(&shared, rejection.status(), &rejection.body_text(), "/"),
    };
    let Some(repo) = repo_of(&owner, &name) else { return unknown(&shared) };
    let done = carry_out_everywhere(&shared, &repo, deed, asked.message).await;
    answered(&shared, done, &asked.from)
}

fn repo_of(owner: &str, name: &str) -> Option<RepoName> {
    format!("{owner}/{name}").parse().ok()
}

/// Shows where the person came from what became of it, or says why nothing did.
fn answered(shared: &Shared, done: Result<Done, Refused>, from: &str) -> Response {
    // An address of this page, and no other: it came with the request.
    let back = if from.starts_with('/') && !from.starts_with("//") && !from.contains('\\') { from } else { "/" };
    match done {
        Ok(Done { done: true, .. }) => Redirect::to(back).into_response(),
        Ok(Done { done: false, message }) => told(shared, StatusCode::OK, &message, back),
        Err(refused) => told(shared, refused.status(), &refused.to_string(), back),
    }
}

fn unknown(shared: &Shared) -> Response {
    told(shared, StatusCode::NOT_FOUND, &Refused::Unknown.to_string(), "/")
}

/// A page with one message.
fn told(shared: &Shared, status: StatusCode, message: &str, back: &str) -> Response {
    let title = if status.is_success() { "Asked" } else { "Not done" };
    (status, render(shared, View::None, "message.html", title, context! { message, back })).into_response()
}
