//! A reply as an HTTP response, with its fault.

use std::time::Duration;

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures_util::StreamExt;
use github_emulator::Hangup;
use serde_json::json;

use crate::{
    Fault,
    tool::Turn,
    wire::{Event, Protocol, Reply},
};

/// Long enough for the written bytes to reach the client before the connection breaks.
const BEFORE_THE_BREAK: Duration = Duration::from_millis(20);

/// The form of the reply that the client wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Server-sent events.
    Stream,
    /// One piece.
    Whole,
}

/// The response to a request, spoilt by `fault` if there is one.
pub(super) fn answer(
    protocol: Protocol,
    form: Form,
    mut reply: Reply,
    fault: Option<Fault>,
    hangup: &Hangup,
) -> Response {
    match fault {
        None => good(protocol, form, &reply),
        Some(Fault::ServerError) => refusal(protocol, 500, "server_error", "The server had an error."),
        Some(Fault::RateLimited) => {
            let kind = if protocol == Protocol::Gemini { "RESOURCE_EXHAUSTED" } else { "rate_limit_error" };
            waiting(refusal(protocol, 429, kind, "Too many requests, please wait."), 1)
        }
        Some(Fault::Quota(reset)) => quota(protocol, reset.as_secs()),
        Some(Fault::Unauthorized) => {
            let kind = if protocol == Protocol::Gemini { "UNAUTHENTICATED" } else { "authentication_error" };
            refusal(protocol, 401, kind, "The API key is not valid.")
        }
        Some(Fault::Garbage) => match form {
            Form::Stream => events("data: <html>no reply</html>\n\n".into()),
            Form::Whole => whole("<html>no reply</html>".into()),
        },
        Some(Fault::BadArguments) => {
            if let Turn::Call { arguments, .. } = &mut reply.turn {
                "{\"command\": \"tru".clone_into(arguments);
            }
            good(protocol, form, &reply)
        }
        Some(Fault::Reset) => {
            hangup.reset();
            StatusCode::OK.into_response()
        }
        Some(Fault::CutAfterFirst) => cut(&reply, protocol, form, hangup, |_| 1),
        Some(Fault::CutInMiddle) => cut(&reply, protocol, form, hangup, |events| events / 2),
    }
}

fn good(protocol: Protocol, form: Form, reply: &Reply) -> Response {
    match form {
        Form::Stream => {
            let pieces: Vec<Bytes> = protocol.events(reply).iter().map(Event::bytes).collect();
            events(Body::from(pieces.concat()))
        }
        Form::Whole => whole(protocol.whole(reply).to_string().into()),
    }
}

/// The beginning of the reply, then the connection breaks.
fn cut(reply: &Reply, protocol: Protocol, form: Form, hangup: &Hangup, keep: impl Fn(usize) -> usize) -> Response {
    let (beginning, head): (Vec<Bytes>, fn(Body) -> Response) = match form {
        Form::Stream => {
            let all = protocol.events(reply);
            (all.iter().take(keep(all.len()).max(1)).map(Event::bytes).collect(), events)
        }
        Form::Whole => {
            let text = protocol.whole(reply).to_string();
            let end = if keep(100) == 1 { 1 } else { text.len() / 2 };
            (vec![Bytes::copy_from_slice(&text.as_bytes()[..end])], whole)
        }
    };
    let hangup = hangup.clone();
    let ending = futures_util::stream::once(async move {
        tokio::time::sleep(BEFORE_THE_BREAK).await;
        hangup.reset();
        Err(std::io::Error::from(std::io::ErrorKind::ConnectionReset))
    });
    head(Body::from_stream(futures_util::stream::iter(beginning.into_iter().map(Ok)).chain(ending)))
}

fn events(body: Body) -> Response {
    ([(CONTENT_TYPE, "text/event-stream")], body).into_response()
}

fn whole(body: Body) -> Response {
    ([(CONTENT_TYPE, "application/json")], body).into_response()
}

fn refusal(protocol: Protocol, status: u16, kind: &str, message: &str) -> Response {
    let code = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (code, axum::Json(protocol.error(status, kind, message))).into_response()
}

fn waiting(mut response: Response, seconds: u64) -> Response {
    response.headers_mut().insert("retry-after", HeaderValue::from(seconds));
    response
}

/// A used-up quota, in the words of each service.
fn quota(protocol: Protocol, seconds: u64) -> Response {
    let billing = "You exceeded your current quota, please check your plan and billing details.";
    match protocol {
        Protocol::Chat | Protocol::Responses => waiting(refusal(protocol, 429, "insufficient_quota", billing), seconds),
        Protocol::Anthropic => {
            let message = "This request would exceed your account's rate limit. Please try again later.";
            waiting(refusal(protocol, 429, "rate_limit_error", message), seconds)
        }
        Protocol::Gemini => {
            let details = json!([
                {
                    "@type": "type.googleapis.com/google.rpc.QuotaFailure",
                    "violations": [{ "quotaId": "GenerateRequestsPerDayPerProjectPerModel" }],
                },
                { "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": format!("{seconds}s") },
            ]);
            let mut body = protocol.error(429, "RESOURCE_EXHAUSTED", billing);
            body["error"]["details"] = details;
            waiting((StatusCode::TOO_MANY_REQUESTS, axum::Json(body)).into_response(), seconds)
        }
    }
}
