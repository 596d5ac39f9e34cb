//! Calls of the API.

use std::time::Duration;

use axum::{body::Body, extract::Request, response::Response};
use hob_forge::{Answer, Asked, Denied, ForgeError, NotForwarded, Pass, forward};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use http_body_util::{BodyExt, Limited};
use serde_json::Value;
use tokio::time::timeout;

use crate::relay::{PATH, Relay, later, refusal};

/// Bytes of a body: the text of a comment or a pull request has 65,536 characters, and a ledger's record some kilobytes.
const BODY_MAX: usize = 1 << 20;
/// How long a body may take.
const BODY_TIME: Duration = Duration::from_secs(30);

/// Answers a call at a path below the API's base.
pub(super) async fn answer(relay: &Relay, pass: &Pass, path: &str, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let body = match timeout(BODY_TIME, Limited::new(body, BODY_MAX).collect()).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(_)) => return refusal(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large, or was cut off"),
        Err(_elapsed) => return refusal(StatusCode::REQUEST_TIMEOUT, "the body took too long"),
    };
    let body = match body.as_ref() {
        [] => None,
        text => match serde_json::from_slice::<Value>(text) {
            Ok(body) => Some(body),
            Err(_invalid) => return refusal(StatusCode::BAD_REQUEST, "the body is not JSON"),
        },
    };
    let path = head.uri.query().map_or_else(|| path.to_owned(), |query| format!("{path}?{query}"));
    let text = |name: header::HeaderName| head.headers.get(name).and_then(|value| value.to_str().ok());
    let asked = Asked {
        method: &head.method,
        path: &path,
        body: body.as_ref(),
        etag: text(header::IF_NONE_MATCH),
        accept: text(header::ACCEPT),
    };
    match forward(&relay.connection, &relay.reach, pass, asked).await {
        Ok(answer) => answered(answer, &head.headers),
        Err(NotForwarded::Denied(Denied::Query)) => refusal(StatusCode::NOT_FOUND, &Denied::Query.to_string()),
        Err(NotForwarded::Denied(denied)) => {
            let issue = pass.issue;
            tracing::warn!(job = pass.job, "a request of the Job of {}#{issue} was refused: {denied}", pass.repo);
            refusal(StatusCode::FORBIDDEN, &denied.to_string())
        }
        Err(NotForwarded::Forge(error)) => failed(&error),
    }
}

/// The forge's answer, whose links lead here.
fn answered(answer: Answer, asked: &HeaderMap) -> Response {
    let Answer { status, mut headers, body, links } = answer;
    // Of a link only the path is read.
    let host = asked.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("dispatcher");
    let links: Vec<String> =
        links.iter().map(|(relation, path)| format!("<http://{host}{PATH}{path}>; rel=\"{relation}\"")).collect();
    if let Some(links) = HeaderValue::from_str(&links.join(", ")).ok().filter(|links| !links.is_empty()) {
        headers.insert(header::LINK, links);
    }
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

/// What is said if the forge gave no answer.
fn failed(error: &ForgeError) -> Response {
    match error {
        ForgeError::Limited { retry_after, .. } => {
            let seconds = retry_after.as_secs() + u64::from(retry_after.subsec_nanos() > 0);
            later(StatusCode::TOO_MANY_REQUESTS, seconds.max(1), &error.to_string())
        }
        ForgeError::HoldsSecret { .. } | ForgeError::NotPermitted { .. } => {
            refusal(StatusCode::FORBIDDEN, &error.to_string())
        }
        error => refusal(StatusCode::BAD_GATEWAY, &error.to_string()),
    }
}
