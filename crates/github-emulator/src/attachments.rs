//! Files attached to issues and comments. Their address in the text needs a browser's session; rendered text has a
//! signed one, which is valid for some minutes without a session, as GitHub's is for private repositories.
//!
//! They are kept in memory only: a restarted forge has none.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Path, Query, State},
    response::{IntoResponse, Response},
    routing::get,
};
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use chrono::TimeDelta;
use http::{StatusCode, header};
use ring::hmac;
use serde::Deserialize;

use super::forge::{Attachment, Forge};

/// The lifetime of a signed address.
const LIFE: TimeDelta = TimeDelta::minutes(5);
/// The part of an address before a file's id.
const PLACE: &str = "/user-attachments/assets/";

#[derive(Debug, Deserialize)]
struct Signed {
    expires: i64,
    jwt: String,
}

/// The address of a new file, as a browser puts it into a text.
pub(super) fn attach(forge: &Forge, attachment: Attachment) -> String {
    let id = format!("00000000-0000-4000-8000-{:012x}", forge.next_id());
    forge.attachments().insert(id.clone(), attachment);
    format!("{}{PLACE}{id}", forge.server())
}

/// The signed address of a file of this forge; `None` if the address is another.
pub(super) fn signed(forge: &Forge, address: &str) -> Option<String> {
    let id = address.strip_prefix(forge.server())?.strip_prefix(PLACE)?;
    forge.attachments().contains_key(id).then(|| {
        let expires = (forge.now() + LIFE).timestamp();
        let tag = hmac::sign(&forge.log_key, what(id, expires).as_bytes());
        let jwt = BASE64_URL_SAFE_NO_PAD.encode(tag.as_ref());
        format!("{}/_attachments/{id}?expires={expires}&jwt={jwt}", forge.server())
    })
}

/// The routes of files.
pub(super) fn routes(forge: &Arc<Forge>) -> Router {
    let routes = Router::new().route("/_attachments/{id}", get(show));
    routes.route("/user-attachments/assets/{id}", get(|| async { StatusCode::NOT_FOUND })).with_state(Arc::clone(forge))
}

async fn show(State(forge): State<Arc<Forge>>, Path(id): Path<String>, Query(signed): Query<Signed>) -> Response {
    let tag = BASE64_URL_SAFE_NO_PAD.decode(&signed.jwt).unwrap_or_default();
    let is_ours = hmac::verify(&forge.log_key, what(&id, signed.expires).as_bytes(), &tag).is_ok();
    if !is_ours || forge.now().timestamp() > signed.expires {
        return StatusCode::NOT_FOUND.into_response();
    }
    let found = forge.attachments().get(&id).cloned();
    match found {
        Some(found) => ([(header::CONTENT_TYPE, found.content_type)], found.bytes).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

fn what(id: &str, expires: i64) -> String {
    format!("attachment/{id}/{expires}")
}
