//! The forge without sockets: people and the real client ask its router in this process. With paused time, waits cost
//! no time.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{Router, body::Body};
use bytes::Bytes;
use hob_config::Settings;
use hob_forge::{Access, Authentication, Connection, Forge};
use hob_text::KnownSecrets;
use http::{Method, Request, Response, header};
use http_body_util::{BodyExt, Full};
use octocrab::{AuthState, OctoBody, Octocrab, OctocrabBuilder};
use serde_json::Value;
use tokio::sync::oneshot;
use tower::ServiceExt;

use super::repo;

/// A missing answer, as the client sees it.
type NoAnswer = Box<dyn std::error::Error + Send + Sync>;

/// Asks the forge's API as `login`; returns the status, and the body if it is JSON.
pub(super) async fn ask(router: Router, login: &str, method: Method, path: &str, body: &Value) -> (u16, Value) {
    ask_at(router, login, method, &format!("/api/v3{path}"), body).await
}

/// The same, at a whole path of the server.
pub(super) async fn ask_at(router: Router, login: &str, method: Method, path: &str, body: &Value) -> (u16, Value) {
    let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
    let request = Request::builder().method(method).uri(path);
    let request = request.header(header::AUTHORIZATION, format!("Bearer token-of-{login}")).body(body).unwrap();
    let answer = router.oneshot(request).await.unwrap();
    let status = answer.status().as_u16();
    let body = axum::body::to_bytes(answer.into_body(), usize::MAX).await.unwrap();
    (status, serde_json::from_slice(&body).unwrap_or_default())
}

/// A client of the forge behind `router`. Each request waits at the turnstile, if there is one.
pub(super) fn client(
    router: Router,
    turnstile: Option<Arc<Turnstile>>,
    login: &str,
    settings: &Settings,
    access: Access,
) -> Forge {
    let identity = Authentication::Token(format!("token-of-{login}").into());
    client_as(router, turnstile, identity, settings, access)
}

/// The same for any identity.
pub(super) fn client_as(
    router: Router,
    turnstile: Option<Arc<Turnstile>>,
    identity: Authentication,
    settings: &Settings,
    access: Access,
) -> Forge {
    Forge::new(connection(router, turnstile, identity, settings, access), repo())
}

/// The connection of such a client.
pub(super) fn connection(
    router: Router,
    turnstile: Option<Arc<Turnstile>>,
    identity: Authentication,
    settings: &Settings,
    access: Access,
) -> Arc<Connection> {
    let octocrab = octocrab(router, turnstile);
    Connection::over(octocrab, "/api/v3", identity, &settings.forge, access, KnownSecrets::default())
}

fn octocrab(router: Router, turnstile: Option<Arc<Turnstile>>) -> Octocrab {
    let service = tower::service_fn(move |request: Request<OctoBody>| {
        let (router, turnstile) = (router.clone(), turnstile.clone());
        async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            let is_write = is_write(&parts.method, parts.uri.path(), &body);
            let mut late = None;
            if let Some(turnstile) = &turnstile {
                turnstile.pass(is_write, parts.uri.path()).await;
                late = turnstile.late.filter(|_| is_write);
            }
            let request = Request::from_parts(parts, Body::from(body));
            let carried_out = async move {
                let answer = router.oneshot(request).await;
                turnstile.iter().filter(|_| is_write).for_each(|turnstile| turnstile.gate.lock().unwrap().written += 1);
                answer
            };
            let answer = match late {
                // A separate task: the forge carries out a sent request even if its sender no longer waits.
                Some(late) => {
                    tokio::spawn(async move {
                        tokio::time::sleep(late).await;
                        carried_out.await
                    })
                    .await?
                }
                None => carried_out.await,
            };
            let (parts, body) = answer?.into_parts();
            // A body that breaks off is a connection that does.
            let body: Bytes = body.collect().await?.to_bytes();
            Ok::<_, NoAnswer>(Response::from_parts(parts, Full::new(body)))
        }
    });
    let built = OctocrabBuilder::new_empty().with_service(service).with_auth(AuthState::None).build();
    built.unwrap_or_else(|never| match never {})
}

/// Whether a request changes anything on the forge.
pub(super) fn is_write(method: &Method, path: &str, body: &[u8]) -> bool {
    method != Method::GET
        && !path.ends_with("/git-upload-pack")
        && (!path.ends_with("/graphql") || body.starts_with(b"{\"query\":\"mutation"))
}

/// The turnstile that each request of a client passes, and that can stop one while people act.
#[derive(Debug, Default)]
pub(crate) struct Turnstile {
    gate: Mutex<Gate>,
    /// How long the forge takes to carry out a write that has passed.
    late: Option<Duration>,
}

#[derive(Debug, Default)]
struct Gate {
    passed: usize,
    writes: usize,
    /// The writes that the forge has carried out.
    written: usize,
    stop: Option<(At, Arrival)>,
}

/// The request that is stopped.
#[derive(Debug, Clone)]
enum At {
    /// The one after this many.
    Request(usize),
    /// The write after this many writes.
    Write(usize),
    /// The first one from now on whose path ends with this.
    Path(String),
}

/// Notified when a request waits; the message lets the request go on.
type Arrival = oneshot::Sender<oneshot::Sender<()>>;

impl Turnstile {
    /// One behind which the forge takes this long to carry out a write, even for a client that is gone by then.
    pub(crate) fn late(late: Duration) -> Self {
        Self { late: Some(late), ..Self::default() }
    }

    /// Stops the request that comes after `requests` more. The receiver is notified when it arrives, and lets it go on.
    pub(crate) fn stop_after(&self, requests: usize) -> oneshot::Receiver<oneshot::Sender<()>> {
        let passed = self.gate.lock().unwrap().passed;
        self.stop_at(At::Request(passed + requests))
    }

    /// Stops the write that has `before` writes before it, since the turnstile was made.
    pub(crate) fn stop_at_write(&self, before: usize) -> oneshot::Receiver<oneshot::Sender<()>> {
        self.stop_at(At::Write(before))
    }

    /// Stops the next request whose path ends with `end`.
    pub(crate) fn stop_at_path(&self, end: &str) -> oneshot::Receiver<oneshot::Sender<()>> {
        self.stop_at(At::Path(end.to_owned()))
    }

    fn stop_at(&self, at: At) -> oneshot::Receiver<oneshot::Sender<()>> {
        let (sender, receiver) = oneshot::channel();
        self.gate.lock().unwrap().stop = Some((at, sender));
        receiver
    }

    /// How many writes the forge has carried out: calls of the API, and pushes of ledgers.
    pub(crate) fn written(&self) -> usize {
        self.gate.lock().unwrap().written
    }

    /// Lets all pass from now on.
    pub(crate) fn open(&self) {
        self.gate.lock().unwrap().stop = None;
    }

    async fn pass(&self, is_write: bool, path: &str) {
        let stopped = {
            let mut gate = self.gate.lock().unwrap();
            let (passed, writes) = (gate.passed, gate.writes);
            gate.passed += 1;
            gate.writes += usize::from(is_write);
            gate.stop.take_if(|(at, _)| match at {
                At::Request(before) => *before == passed,
                At::Write(before) => is_write && *before == writes,
                At::Path(end) => path.ends_with(end.as_str()),
            })
        };
        if let Some((_, there)) = stopped {
            let (go, wait) = oneshot::channel();
            // If the receiver is gone, the request goes on.
            if there.send(go).is_ok() {
                wait.await.ok();
            }
        }
    }
}
