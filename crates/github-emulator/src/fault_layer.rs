//! The layer around all routes that lets a fault happen to a request.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::{ConnectInfo, Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures_util::StreamExt;
use http::{HeaderName, HeaderValue, StatusCode, header};

use super::{
    connection::Hangup,
    envelope::{dress, sign_in},
    faults::{Question, What},
    forge::{Forge, LoggedRequest},
    meter::Payer,
};

/// The longest delay.
const DELAY_MAX_MS: u64 = 600_000;

/// Lets faults happen to a request, or lets it through.
pub(super) async fn faulty(State(forge): State<Arc<Forge>>, request: Request, next: Next) -> Response {
    let method = request.method().to_string();
    let path = request.uri().path().trim_start_matches("/api/v3").to_owned();
    let hangup = request.extensions().get::<ConnectInfo<Hangup>>().map(|info| info.0.clone());
    let target = request.uri().path_and_query().map_or_else(String::new, ToString::to_string);
    let signed_in = sign_in(&forge, request.headers()).ok().flatten();
    let payer = signed_in.as_ref().map(|who| Payer::account(&who.login, who.kind, request.uri().path()));
    let login = signed_in.map(|signed_in| signed_in.login);
    let (struck, remember) = forge.faults.strike(&method, &path, login.as_ref());
    let note = |status| {
        let (method, path, login) = (method.clone(), target.clone(), login.clone());
        forge.note(LoggedRequest { method, path, status, login, counted: false });
    };
    match struck {
        Some(What::Answer { status, headers, message }) => {
            note(status);
            made_up(&forge, payer.as_ref(), status, &headers, said(&message))
        }
        Some(What::Raw { status, headers, body }) => {
            note(status);
            made_up(&forge, payer.as_ref(), status, &headers, body)
        }
        Some(What::DropBefore) => {
            note(0);
            hang_up(hangup)
        }
        Some(What::DropAfter) => {
            // The answer is read to its end, so that the effect is whole.
            let answer = next.run(request).await;
            axum::body::to_bytes(answer.into_body(), usize::MAX).await.ok();
            hang_up(hangup)
        }
        Some(What::Delay(ms)) => {
            tokio::time::sleep(Duration::from_millis(ms.min(DELAY_MAX_MS))).await;
            next.run(request).await
        }
        Some(What::Truncate) => truncated(next.run(request).await).await,
        Some(What::Stale) => {
            let former = forge.faults.former(&(target.clone(), login.clone()));
            note(former.as_ref().map_or(404, |(parts, _)| parts.status.as_u16()));
            match former {
                Some((parts, body)) => Response::from_parts(parts, Body::from(body)),
                None => made_up(&forge, payer.as_ref(), 404, &BTreeMap::new(), said("Not Found")),
            }
        }
        None if remember => remembered(&forge, (target, login), next.run(request).await).await,
        None => next.run(request).await,
    }
}

/// A JSON body with only this message.
fn said(message: &str) -> String {
    serde_json::json!({"message": message, "documentation_url": "https://docs.github.com/rest"}).to_string()
}

fn made_up(
    forge: &Forge,
    payer: Option<&Payer>,
    status: u16,
    headers: &BTreeMap<String, String>,
    body: String,
) -> Response {
    let now = forge.now();
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let json = [(header::CONTENT_TYPE, "application/json; charset=utf-8")];
    let mut response = (status, json, body).into_response();
    let reading = forge.meter.read(payer, now);
    dress(response.headers_mut(), "core", &reading, now, forge.next_id());
    for (name, value) in headers {
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_str(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

/// Ends the connection; a client in the same process, which has none, gets a body that fails.
fn hang_up(hangup: Option<Hangup>) -> Response {
    if let Some(hangup) = hangup {
        hangup.close();
    }
    broken(Bytes::new())
}

async fn truncated(answer: Response) -> Response {
    let (mut parts, body) = answer.into_parts();
    let Ok(bytes) = axum::body::to_bytes(body, usize::MAX).await else { return broken(Bytes::new()) };
    parts.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(bytes.len()));
    let half = bytes.slice(..bytes.len() / 2);
    Response::from_parts(parts, broken(half).into_body())
}

/// A body that begins with `first` and then fails.
fn broken(first: Bytes) -> Response {
    let failure = async {
        // The server sends its buffer when the body makes it wait: only so does the first part reach the client.
        tokio::task::yield_now().await;
        Err(std::io::Error::from(std::io::ErrorKind::ConnectionReset))
    };
    let parts = futures_util::stream::iter([Ok(first)]).chain(futures_util::stream::once(failure));
    Response::new(Body::from_stream(parts))
}

async fn remembered(forge: &Forge, question: Question, answer: Response) -> Response {
    let (parts, body) = answer.into_parts();
    let Ok(bytes) = axum::body::to_bytes(body, usize::MAX).await else { return broken(Bytes::new()) };
    forge.faults.remember(question, parts.clone(), bytes.clone());
    Response::from_parts(parts, Body::from(bytes))
}
