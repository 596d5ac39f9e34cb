//! The envelope of every API answer: the caller, the rate limit, `ETag` and conditional requests, GitHub's headers.
//!
//! An answer 304 costs nothing, as on GitHub; its tag belongs to the account, or by the mood `tags` to the token:
//! another one gets a whole answer.

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
    meter::{Payer, Reading},
    moods::Mood,
    points::{Cost, UnderWay},
    refusal::Refusal,
};
use crate::names::Timestamp;

/// The path of GraphQL, beside the REST API.
pub(super) const GRAPHQL: &str = "/api/graphql";
/// The prefix of search paths.
const SEARCH: &str = "/api/v3/search/";

/// The signed-in caller, if any; an extension of the request.
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
    // An App that authenticates as itself has its own limit.
    let mut payer = None;
    if let Some(token) = web_token(request.headers()) {
        login = verify(&forge.apps, token, now).map(|app| {
            request.extensions_mut().insert(SigningApp(app.id));
            payer = Some(Payer::app(app.id));
            None
        });
    }
    let signed_in = login.as_ref().ok().cloned().flatten();
    let graphql = path == GRAPHQL;
    let search = path.starts_with(SEARCH);
    let account = signed_in.as_ref().map(|who| Payer::account(&who.login, who.kind, &path)).or(payer);
    let payer = match account.clone() {
        payer if search => Some(Payer::of_search(payer)),
        payer if graphql => payer.map(Payer::of_graphql),
        payer => payer,
    };
    let payer = payer.as_ref();
    let resource = match (graphql, search) {
        (true, _) => "graphql",
        (false, true) => "search",
        (false, false) => "core",
    };
    let _under_way = match begin(&forge, signed_in.as_ref(), &path, &method) {
        Ok(under_way) => under_way,
        Err(limited) => {
            let reading = forge.meter.read(payer, now);
            let mut response = *limited;
            dress(response.headers_mut(), resource, &reading, now, forge.next_id());
            let (login, status) = (signed_in.map(|who| who.login), response.status().as_u16());
            forge.note(LoggedRequest { method: method.to_string(), path: target, status, login, counted: false });
            return response;
        }
    };
    // GitHub does not count a look at the limit itself.
    let free = path.ends_with("/rate_limit");
    let charge = || match free {
        true => Ok(forge.meter.read(payer, now)),
        false => forge.meter.charge(payer, now),
    };
    let (mut response, mut reading, mut counted) = match (login, charge()) {
        (Err(refusal), Ok(reading) | Err(reading)) => (refusal.into_response(), reading, !free),
        (Ok(_), Err(reading)) if graphql => (graphql_used_up(payer), reading, false),
        (Ok(_), Err(reading)) => (used_up(account.as_ref()).into_response(), reading, false),
        // Only the GraphQL endpoint itself knows whether a request writes.
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
        let whose = signed_in.as_ref().map_or("", |who| match forge.temper.is(Mood::Tags) {
            true => &who.digest,
            false => who.login.as_str(),
        });
        response = tagged(response, whose, asked_tag.as_ref()).await;
        if response.status() == StatusCode::NOT_MODIFIED && counted {
            reading = forge.meter.refund(payer, now);
            counted = false;
        }
    }
    dress(response.headers_mut(), resource, &reading, now, forge.next_id());
    let status = response.status().as_u16();
    let login = signed_in.map(|who| who.login);
    forge.note(LoggedRequest { method: method.to_string(), path: target, status, login, counted });
    response
}

/// The same address with another path.
fn readdressed(uri: &Uri, path: &str) -> Option<Uri> {
    let query = uri.query().map_or_else(String::new, |query| format!("?{query}"));
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = format!("{path}{query}").parse().ok();
    Uri::from_parts(parts).ok()
}

/// The account that a request authenticates as.
///
/// # Errors
/// 401 if its credentials are unknown.
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

/// A JSON web token, if the request authenticates with one: three parts, unlike the forge's own tokens.
fn web_token(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let parts = token.split('.').filter(|part| !part.is_empty()).count();
    (scheme.eq_ignore_ascii_case("bearer") && parts == 3).then_some(token)
}

fn used_up(who: Option<&Payer>) -> Refusal {
    let whose = who.map_or_else(|| "127.0.0.1".to_owned(), |who| format!("user {}", who.name()));
    Refusal::new(StatusCode::FORBIDDEN, format!("API rate limit exceeded for {whose}."))
}

/// GraphQL's own answer to a used-up hour: its status is that of a success.
fn graphql_used_up(who: Option<&Payer>) -> Response {
    let message = format!("API rate limit exceeded for {}.", who.map_or("", Payer::name));
    let body = serde_json::json!({"errors": [{"type": "RATE_LIMITED", "message": message}]});
    (StatusCode::OK, axum::Json(body)).into_response()
}

/// GitHub's answer to too many writes in a minute.
fn too_fast() -> Response {
    let mut response = Refusal::too_fast().into_response();
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("60"));
    response
}

/// Lets an account begin a request, if the secondary limits are among the moods. GraphQL's cost is known to its
/// endpoint.
///
/// # Errors
/// 403 if a limit is reached, sometimes without the time to wait.
fn begin<'f>(
    forge: &'f Forge,
    who: Option<&SignedIn>,
    path: &str,
    method: &Method,
) -> Result<Option<UnderWay<'f>>, Box<Response>> {
    let Some(who) = who.map(|who| who.login.as_str()).filter(|_| forge.temper.is(Mood::Points)) else {
        return Ok(None);
    };
    let can_pay = path == GRAPHQL || forge.points.pay(who, &Cost::rest(method, path), forge.now());
    match can_pay.then(|| forge.points.begin(who)).flatten() {
        Some(under_way) => Ok(Some(under_way)),
        None if forge.temper.hits(Mood::Points, who).is_some() => Err(Box::new(Refusal::too_fast().into_response())),
        None => Err(Box::new(too_fast())),
    }
}

async fn tagged(response: Response, whose: &str, asked: Option<&HeaderValue>) -> Response {
    let (mut parts, body) = response.into_parts();
    let Ok(bytes) = axum::body::to_bytes(body, usize::MAX).await else {
        return Refusal::internal("an answer's body was incomplete").into_response();
    };
    let mut hash = Sha256::new();
    hash.update(whose.as_bytes());
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

/// Sets the headers that every answer of GitHub's API has; `resource` is the limit that the reading is of.
pub(super) fn dress(headers: &mut HeaderMap, resource: &str, reading: &Reading, now: Timestamp, request: u64) {
    let mut set = |name: &'static str, value: String| {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    };
    set("x-ratelimit-limit", reading.limit.to_string());
    set("x-ratelimit-remaining", reading.remaining().to_string());
    set("x-ratelimit-used", reading.used.to_string());
    set("x-ratelimit-reset", reading.reset.timestamp().to_string());
    set("x-ratelimit-resource", resource.to_owned());
    set("x-github-request-id", format!("{request:04X}:0001:{:X}", now.timestamp()));
    set("vary", "Accept, Authorization".to_owned());
    set("date", http_date(now));
    // The header by which a client's report tells it from GitHub.
    set("server", "github-emulator".to_owned());
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
