//! Addresses at which a job's log can be read without a token, as on GitHub for a minute.
//! <https://docs.github.com/rest/actions/workflow-jobs#download-job-logs-for-a-workflow-run>

use std::sync::Arc;

use axum::{
    Router,
    extract::{Path, Query, State},
    response::{IntoResponse, Response},
    routing::get,
};
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use chrono::TimeDelta;
use http::{HeaderMap, StatusCode, Uri, header};
use ring::hmac;
use serde::Deserialize;

use super::{
    envelope::sign_in,
    forge::{Forge, LoggedRequest},
};
use crate::names::Timestamp;

/// The lifetime of an address.
const LIFE: TimeDelta = TimeDelta::minutes(1);

/// The signed part of an address.
#[derive(Debug, Deserialize)]
struct Signed {
    expires: i64,
    signature: String,
}

/// The address of a job's log from now on for a minute.
pub(super) fn address(forge: &Forge, repository: u64, job: u64, now: Timestamp) -> String {
    let expires = (now + LIFE).timestamp();
    let tag = hmac::sign(&forge.log_key, what(repository, job, expires).as_bytes());
    let signature = BASE64_URL_SAFE_NO_PAD.encode(tag.as_ref());
    format!("{}/_logs/{repository}/{job}?expires={expires}&signature={signature}", forge.server())
}

/// The route of logs.
pub(super) fn routes(forge: &Arc<Forge>) -> Router {
    Router::new().route("/_logs/{repository}/{job}", get(show)).with_state(Arc::clone(forge))
}

async fn show(
    State(forge): State<Arc<Forge>>,
    Path((repository, job)): Path<(u64, u64)>,
    Query(signed): Query<Signed>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let response = read(&forge, repository, job, &signed);
    let path = uri.path_and_query().map_or_else(String::new, ToString::to_string);
    // A client that follows the address with its token does not need it, and reveals who it is.
    let login = sign_in(&forge, &headers).ok().flatten().map(|signed_in| signed_in.login);
    let (method, status) = ("GET".to_owned(), response.status().as_u16());
    forge.note(LoggedRequest { method, path, status, login, counted: false });
    response
}

fn read(forge: &Forge, repository: u64, job: u64, signed: &Signed) -> Response {
    let signature = BASE64_URL_SAFE_NO_PAD.decode(&signed.signature).unwrap_or_default();
    let what = what(repository, job, signed.expires);
    let is_ours = hmac::verify(&forge.log_key, what.as_bytes(), &signature).is_ok();
    if !is_ours || forge.now().timestamp() > signed.expires {
        return plain(StatusCode::FORBIDDEN, "The address has expired, or nobody signed it.\n".to_owned());
    }
    let state = forge.state();
    let check = state.repositories.by_id(repository).and_then(|repo| repo.checks.get(&job));
    match check.and_then(|check| check.job.as_ref()?.log.clone()) {
        Some(log) => plain(StatusCode::OK, log),
        None => plain(StatusCode::NOT_FOUND, "The log is gone.\n".to_owned()),
    }
}

fn what(repository: u64, job: u64, expires: i64) -> String {
    format!("{repository}/{job}/{expires}")
}

fn plain(status: StatusCode, text: String) -> Response {
    (status, [(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response()
}
