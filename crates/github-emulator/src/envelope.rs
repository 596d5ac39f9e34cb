//! What every API answer has around it: who asks, the rate limit, `ETag` and conditional requests, GitHub's headers.
//!
//! An answer 304 costs nothing, as on GitHub; its tag belongs to the account, so another token gets a whole answer.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use sha2::{Digest, Sha256};

use super::{
    apps::verify,
    forge::{Forge, LoggedRequest, SignedIn},
    meter::{self, Reading},
    refusal::Refusal,
};
use crate::names::{Login, Timestamp};

/// Where GraphQL is, beside the REST API.
pub(super) const GRAPHQL: &str = "/api/graphql";
/// What the paths of searches begin with.
const SEARCH: &str = "/api/v3/search/";

/// Who signed in, if anyone; an extension of the request.
#[derive(Debug, Clone)]
pub(super) struct Caller(pub(super) Option<SignedIn>);

/// The App that signed the request with its own key; an extension of the request.
#[derive(Debug, Clone, Copy)]
pub(super) struct SigningApp(pub(super) u64);

/// The request's whole path; an extension of the request, whose own path is cut below a nested router.
#[derive(Debug, Clone)]
pub(super) struct ServedPath(pub(super) String);

/// Signs in, counts, answers, tags and logs one API request.
pub(super) async fn envelope(State(forge): State<Arc<Forge>>, mut request: Request, next: Next) -> Response {
    let (now, method) = (forge.now(), request.method().clone());
    let target = request.uri().path_and_query().map_or_else(String::new, ToString::to_string);
    let path = request.uri().path().to_owned();
    let named = forge.named_path(&path);
    if let Some(named) = named.and_then(|named| readdressed(request.uri(), &named)) {
        *request.uri_mut() = named;
    }
    let asked_tag = request.headers().get(header::IF_NONE_MATCH).cloned();
    let mut login = sign_in(&forge, request.headers());
    // An App that signs for itself has a limit of its own.
    let mut payer = None;
    if let Some(token) = web_token(request.headers()) {
        login = verify(&forge.apps, token, now).map(|app| {
            request.extensions_mut().insert(SigningApp(app.id));
            payer = Some(format!("app {}", app.id));
            None
        });
    }
    let who = login.as_ref().ok().and_then(|signed_in| Some(signed_in.as_ref()?.login.clone()));
    let graphql = path == GRAPHQL;
    let payer = who.as_ref().map(ToString::to_string).or(payer);
    let search = path.starts_with(SEARCH);
    let name = payer.clone();
    let payer = match payer {
        payer if search => Some(meter::search(payer.as_deref())),
        payer if graphql => payer.map(|name| meter::graphql(&name)),
        payer => payer,
    };
    let payer = payer.as_deref();
    // GitHub does not count a look at the limit itself.
    let free = path.ends_with("/rate_limit");
    let charge = || match free {
        true => Ok(forge.meter.read(payer, now)),
        false => forge.meter.charge(payer, now),
    };
    let (mut response, mut reading, mut counted) = match (login, charge()) {
        (Err(refusal), Ok(reading) | Err(reading)) => (refusal.into_response(), reading, !free),
        (Ok(_), Err(reading)) if graphql => (graphql_used_up(payer), reading, false),
        (Ok(_), Err(reading)) => (used_up(name.as_deref()).into_response(), reading, false),
        // Of GraphQL only the endpoint itself knows whether a request writes.
        (Ok(_), Ok(reading)) if !graphql && !forge.meter.admits(&method, payer, now) => (too_fast(), reading, false),
        (Ok(login), Ok(reading)) => {
            request.extensions_mut().insert(Caller(login));
            request.extensions_mut().insert(ServedPath(path));
            // HEAD is answered as GET; the connection leaves the body out.
            if method == Method::HEAD {
                *request.method_mut() = Method::GET;
            }
            (next.run(request).await, reading, !free)
        }
    };
    if matches!(method, Method::GET | Method::HEAD) && response.status() == StatusCode::OK {
        response = tagged(response, who.as_ref(), asked_tag.as_ref()).await;
        if response.status() == StatusCode::NOT_MODIFIED && counted {
            reading = forge.meter.refund(payer, now);
            counted = false;
        }
    }
    dress(response.headers_mut(), &reading, now, forge.next_id());
    if graphql {
        response.headers_mut().insert("x-ratelimit-resource", HeaderValue::from_static("graphql"));
    } else if search {
        response.headers_mut().insert("x-ratelimit-resource", HeaderValue::from_static("search"));
    }
    let status = response.status().as_u16();
    forge.note(LoggedRequest { method: method.to_string(), path: target, status, login: who, counted });
    response
}

/// The same address with another path.
fn readdressed(uri: &Uri, path: &str) -> Option<Uri> {
    let query = uri.query().map_or_else(String::new, |query| format!("?{query}"));
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = format!("{path}{query}").parse().ok();
    Uri::from_parts(parts).ok()
}

/// Who the request says it is from.
///
/// # Errors
/// 401 where it has credentials that nobody has.
pub(super) fn sign_in(forge: &Forge, headers: &HeaderMap) -> Result<Option<SignedIn>, Refusal> {
    let bad = || Refusal::new(StatusCode::UNAUTHORIZED, "Bad credentials");
    let Some(value) = headers.get(header::AUTHORIZATION) else { return Ok(None) };
    let (scheme, rest) = value.to_str().ok().and_then(|value| value.split_once(' ')).ok_or_else(bad)?;
    let token = match scheme.to_ascii_lowercase().as_str() {
        "bearer" | "token" => rest.trim().to_owned(),
        "basic" => {
            let plain = BASE64_STANDARD.decode(rest.trim()).map_err(|_| bad())?;
            let plain = String::from_utf8(plain).map_err(|_| bad())?;
            let (name, password) = plain.split_once(':').ok_or_else(bad)?;
            // Some clients send the token as the name, with no password or `x-oauth-basic`.
            if matches!(password, "" | "x-oauth-basic") { name.to_owned() } else { password.to_owned() }
        }
        _ => return Err(bad()),
    };
    forge.owner_of(&token).map(Some).ok_or_else(bad)
}

/// A JSON web token, where that is what the request signs in with: three parts, unlike the forge's own tokens.
fn web_token(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let parts = token.split('.').filter(|part| !part.is_empty()).count();
    (scheme.eq_ignore_ascii_case("bearer") && parts == 3).then_some(token)
}

fn used_up(who: Option<&str>) -> Refusal {
    let whose = who.map_or_else(|| "127.0.0.1".to_owned(), |name| format!("user {name}"));
    Refusal::new(StatusCode::FORBIDDEN, format!("API rate limit exceeded for {whose}."))
}

/// GraphQL's own answer to a used-up hour: its status is that of a success.
fn graphql_used_up(who: Option<&str>) -> Response {
    let message = format!("API rate limit exceeded for {}.", who.unwrap_or_default());
    let body = serde_json::json!({"errors": [{"type": "RATE_LIMITED", "message": message}]});
    (StatusCode::OK, axum::Json(body)).into_response()
}

/// GitHub's answer to too many writes in a minute.
fn too_fast() -> Response {
    let message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";
    let mut response = Refusal::new(StatusCode::FORBIDDEN, message).into_response();
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("60"));
    response
}

async fn tagged(response: Response, who: Option<&Login>, asked: Option<&HeaderValue>) -> Response {
    let (mut parts, body) = response.into_parts();
    let Ok(bytes) = axum::body::to_bytes(body, usize::MAX).await else {
        return Refusal::internal("an answer's body was incomplete").into_response();
    };
    let mut hash = Sha256::new();
    hash.update(who.map_or("", Login::as_str).as_bytes());
    hash.update([0]);
    hash.update(&bytes);
    let digest: String = hash.finalize().iter().take(20).map(|byte| format!("{byte:02x}")).collect();
    let matches = asked.and_then(|asked| asked.to_str().ok()).is_some_and(|asked| {
        asked.split(',').any(|tag| tag.trim().trim_start_matches("W/").trim_matches('"') == digest)
    });
    if let Ok(tag) = HeaderValue::from_str(&format!("W/\"{digest}\"")) {
        parts.headers.insert(header::ETAG, tag);
    }
    parts.headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=60, s-maxage=60"));
    if !matches {
        return Response::from_parts(parts, Body::from(bytes));
    }
    parts.status = StatusCode::NOT_MODIFIED;
    parts.headers.remove(header::CONTENT_TYPE);
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, Body::empty())
}

/// Sets the headers that every answer of GitHub's API has.
pub(super) fn dress(headers: &mut HeaderMap, reading: &Reading, now: Timestamp, request: u64) {
    let mut set = |name: &'static str, value: String| {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    };
    set("x-ratelimit-limit", reading.limit.to_string());
    set("x-ratelimit-remaining", reading.remaining().to_string());
    set("x-ratelimit-used", reading.used.to_string());
    set("x-ratelimit-reset", reading.reset.timestamp().to_string());
    set("x-ratelimit-resource", "core".to_owned());
    set("x-github-request-id", format!("{request:04X}:0001:{:X}", now.timestamp()));
    set("vary", "Accept, Authorization".to_owned());
    set("date", http_date(now));
    if !headers.contains_key("x-github-media-type") {
        headers.insert("x-github-media-type", HeaderValue::from_static("github.v3; format=json"));
    }
    if headers.get(header::CONTENT_TYPE).is_some_and(|value| value == "application/json") {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"));
    }
}

/// A time in the form of HTTP's `Date`.
pub(super) fn http_date(at: Timestamp) -> String {
    at.format("%a, %d %b %Y %H:%M:%S GMT").to_string()
}
