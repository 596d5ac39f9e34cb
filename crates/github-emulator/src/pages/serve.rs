//! The pages' routes, sign-in, and the headers that let a page run and load nothing.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Request, State},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header};

use super::{
    super::{
        envelope::{Caller, sign_in},
        forge::Forge,
        route::{self, Route, get},
    },
    issue,
    layout::{render, whole},
    pull, repository,
};

/// Nothing but the page's own style: no script, no image, no frame, no form.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const ROUTES: &[Route] = &[
    get("/", repository::all),
    get("/{owner}/{repo}", repository::show),
    get("/{owner}/{repo}/tree/{*branch}", repository::branch),
    get("/{owner}/{repo}/issues", repository::show),
    get("/{owner}/{repo}/pulls", repository::show),
    get("/{owner}/{repo}/issues/{number}", issue::show),
    get("/{owner}/{repo}/pull/{number}", pull::show),
];

/// The routes of the pages.
pub(in super::super) fn routes(forge: &Arc<Forge>) -> Router {
    route::pages(forge, ROUTES, |_| {}).layer(from_fn_with_state(Arc::clone(forge), guarded))
}

/// Signs in if there are credentials, and puts the headers around a page.
async fn guarded(State(forge): State<Arc<Forge>>, mut request: Request, next: Next) -> Response {
    let mut response = match sign_in(&forge, request.headers()) {
        Ok(login) => {
            request.extensions_mut().insert(Caller(login));
            next.run(request).await
        }
        Err(refusal) => refusal.into_response(),
    };
    if response.status().is_client_error() || response.status().is_server_error() {
        response = failed(response.status());
    }
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn failed(status: StatusCode) -> Response {
    let reason = if status == StatusCode::NOT_FOUND { "There is nothing here." } else { "This page cannot be shown." };
    let content = render("error.html", &serde_json::json!({"status": status.as_u16(), "reason": reason}));
    match content.and_then(|content| whole("Not shown", &[], &content)) {
        Ok(text) => (status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], text).into_response(),
        Err(refusal) => refusal.into_response(),
    }
}
