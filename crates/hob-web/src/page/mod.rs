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
    let Asked { message, shown, from } = match asked {
        Ok(Form(asked)) => asked,
        Err(rejection) => return answered(&shared, Err(rejection.into()), "/"),
    };
    let words = Words { message, shown };
    let done = carry_out(&shared, &format!("{owner}/{name}"), IssueNumber(issue), deed, words).await;
    answered(&shared, done, &from)
}

async fn ask_everywhere(
    State(shared): State<Shared>,
    Path((owner, name, deed)): Path<(String, String, Deed)>,
    asked: Result<Form<Asked>, FormRejection>,
) -> Response {
    let Asked { message, from, .. } = match asked {
        Ok(Form(asked)) => asked,
        Err(rejection) => return answered(&shared, Err(rejection.into()), "/"),
    };
    let done = carry_out_everywhere(&shared, &format!("{owner}/{name}"), deed, message).await;
    answered(&shared, done, &from)
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

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use hob_domain::{BlockReason, Record, State as IssueState, Timestamp, Transition, apply, first_record};
    use hob_worker::{Watcher, WorkEvent, news_channel};
    use http::{Request, StatusCode};
    use serde_json::json;
    use std::sync::Arc;
    use tower::ServiceExt;

    use super::*;
    use crate::{
        access::Access,
        known::{Facts, Known},
    };

    const REPO: &str = "acme/site";
    /// Bytes that a view may have, without its style and its script.
    const BYTES_MAX: usize = 100_000;

    fn shared() -> Shared {
        let facts = Facts { jobs: 1, state_dir: "/".into() };
        Shared {
            known: Arc::new(Known::new(facts)),
            access: Arc::new(Access::ThisMachine),
            webhooks: None,
            news: news_channel().0,
            forwards: tokio::sync::watch::Sender::default().subscribe(),
        }
    }

    fn blocked(issue: u64) -> Record {
        let at = Timestamp::from_timestamp(1_800_000_000, 0).unwrap();
        let working = Record { state: IssueState::InProgress, ..first_record(IssueNumber(issue), at) };
        let question = BlockReason::Question { question: "Which one? ".repeat(40) };
        apply(&working, Transition::Block(question), at).unwrap().0
    }

    async fn reads(shared: &Shared, path: &str) -> (StatusCode, String) {
        let answer =
            routes().with_state(shared.clone()).oneshot(Request::get(path).body(Body::empty()).unwrap()).await.unwrap();
        let (status, body) = (answer.status(), to_bytes(answer.into_body(), 10 << 20).await.unwrap());
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn many_issues_and_a_long_log_come_in_parts() {
        let (shared, repo): (_, RepoName) = (shared(), REPO.parse().unwrap());
        for issue in 1..=1_000 {
            shared.known.record(&repo, &blocked(issue));
        }
        for line in 1..=12_000 {
            let text = format!("line {line} {}", "x".repeat(100));
            let value = json!({ "event": "activity", "time": "2027-01-15T08:00:00.000Z", "message": text });
            shared.known.event(&repo, &WorkEvent::Activity { issue: IssueNumber(7), text, share: None }, &value);
        }
        for path in ["/", "/now", "/worth-it", "/health", "/issues/acme/site/7"] {
            let (status, text) = reads(&shared, path).await;
            assert!(status == StatusCode::OK && text.len() < BYTES_MAX, "{path}: {status}, {} bytes", text.len());
        }
        let (_, newest) = reads(&shared, "/issues/acme/site/7").await;
        assert!(newest.contains("line 12000 ") && newest.contains("line 11801 ") && !newest.contains("line 11800 "));
        let (_, earlier) = reads(&shared, "/issues/acme/site/7?before=11801").await;
        assert!(earlier.contains("line 11800 ") && earlier.contains("line 11601 ") && !earlier.contains("line 11801 "));
        // What is no longer kept is not there, and the page says nothing wrong about it.
        let (_, oldest) = reads(&shared, "/issues/acme/site/7?before=2101").await;
        assert!(oldest.contains("line 2100 ") && oldest.contains("line 2001 ") && !oldest.contains("line 2000 "));
        assert!(!oldest.contains("?before="));
    }
}
