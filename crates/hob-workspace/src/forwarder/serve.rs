//! The listener of one command: takes git's requests, asks the gate, and passes on those that may pass.

use std::{
    convert::Infallible,
    io,
    net::Ipv4Addr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyDataStream, BodyExt, Full, Limited, combinators::UnsyncBoxBody};
use hyper::{
    body::{Body, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    task::{JoinHandle, JoinSet},
};

use crate::{
    Remote,
    forwarder::{
        Along, Clients, Failure, RefUpdate, Right,
        gate::{Asker, Gate, Passage, Refusal},
        headers,
        updates::{self, List},
        upstream::{NoUpstream, Upstream},
    },
};

/// The most connections at a time. Git needs two; other programs may connect.
const CONNECTIONS_MAX: usize = 32;
/// The deadline for a connection's request head.
const HEAD: Duration = Duration::from_secs(60);
/// Bytes of a request that reads: it lists wanted and known commits, 50 bytes each.
pub(super) const READ_MAX: usize = 256 << 20;
/// Bytes of a push; servers accept less.
pub(super) const PUSH_MAX: usize = 4 << 30;

/// The beginning of the server's answer, and the rest as it comes.
pub(super) type Answer = Response<UnsyncBoxBody<Bytes, Failure>>;

/// Why there is no way to the server.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoWay {
    #[error(transparent)]
    Upstream(#[from] NoUpstream),
    #[error("listen at 127.0.0.1: {0}")]
    Listen(#[source] io::Error),
}

/// One command's way to its server. Dropping it closes it, with everything that goes through it.
pub(crate) struct Forwarder {
    origin: String,
    shared: Arc<Shared>,
    listening: JoinHandle<()>,
}

struct Shared {
    gate: Gate,
    upstream: Upstream,
    fault: Mutex<Option<String>>,
    took_along: AtomicBool,
}

impl Forwarder {
    /// Opens the way to the server at `url`, the address of `remote`. Within a runtime.
    ///
    /// # Errors
    /// [`NoWay`] if it cannot be opened.
    pub(crate) fn open(remote: &Remote, url: &str, right: Right, clients: &Clients) -> Result<Self, NoWay> {
        let repo = remote.repo();
        let gate = Gate {
            path: format!("/{}/{}.git", repo.owner(), repo.name()),
            nonce: format!("{:032x}", rand::random::<u128>()),
            right,
        };
        let upstream = Upstream::of(remote, url, clients)?;
        let (listener, port) = listen().map_err(NoWay::Listen)?;
        let shared = Arc::new(Shared { gate, upstream, fault: Mutex::default(), took_along: AtomicBool::default() });
        let listening = tokio::spawn(accept(listener, Arc::clone(&shared)));
        Ok(Self { origin: format!("http://127.0.0.1:{port}"), shared, listening })
    }

    /// The address that git takes for the server, such as `http://127.0.0.1:40000`.
    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    /// The address that git takes for the repository.
    pub(crate) fn url(&self) -> String {
        format!("{}{}", self.origin, self.shared.gate.path)
    }

    /// The secret that lets the command's requests pass.
    pub(crate) fn nonce(&self) -> &str {
        &self.shared.gate.nonce
    }

    /// Whether a push was sent on with what goes along. One that has nothing to do is not sent.
    pub(crate) fn took_along(&self) -> bool {
        self.shared.took_along.load(Ordering::Relaxed)
    }

    /// Why a request of the command did not reach the server, or the server did not answer.
    pub(crate) fn fault(&self) -> Option<String> {
        self.shared.fault.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        // It owns the listener and every connection.
        self.listening.abort();
    }
}

fn listen() -> io::Result<(TcpListener, u16)> {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let port = listener.local_addr()?.port();
    Ok((TcpListener::from_std(listener)?, port))
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        while connections.len() >= CONNECTIONS_MAX {
            connections.join_next().await;
        }
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => drop(connections.spawn(serve(stream, Arc::clone(&shared)))),
                // Either the connection failed or descriptors ran out: the pause keeps the loop from spinning.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    // Without it, the end of a short answer waits for an acknowledgement.
    stream.set_nodelay(true).ok();
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(shared.answer(request).await) }
    });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(HEAD);
    // Git, which lost the connection too, reports it.
    server.serve_connection(TokioIo::new(stream), service).await.ok();
}

impl Shared {
    async fn answer(&self, request: Request<Incoming>) -> Answer {
        let (head, body) = request.into_parts();
        let mut length = body.size_hint().exact();
        let body = match self.gate.passage(&head) {
            Err(refusal) => return self.refuse(&refusal),
            Ok(Passage::Read) if head.method == Method::GET => None,
            Ok(Passage::Read) => Some(reqwest::Body::wrap_stream(BodyDataStream::new(Limited::new(body, READ_MAX)))),
            Ok(Passage::Update(update, along)) => match checked(body, update, along).await {
                Ok((body, took_along)) => {
                    if took_along {
                        length = length.zip(along).map(|(length, along)| length + along.size());
                        self.took_along.store(true, Ordering::Relaxed);
                    }
                    Some(body)
                }
                Err(reason) => {
                    let asker = Asker::Command;
                    return self.refuse(&Refusal { status: StatusCode::FORBIDDEN, reason, asker });
                }
            },
        };
        let mut headers = headers::to_server(&head.headers);
        // Not all servers accept a body of unknown length.
        if let (Some(length), Some(_)) = (length, &body) {
            headers.insert(header::CONTENT_LENGTH, length.into());
        }
        let target = head.uri.path_and_query().map_or("", |target| target.as_str());
        let service = target.strip_prefix(self.gate.path.as_str()).unwrap_or_default();
        match self.upstream.send(head.method, service, headers, body).await {
            Ok(answered) => passed_on(answered),
            Err(fault) => {
                self.note(fault.to_string());
                plain(StatusCode::BAD_GATEWAY, "the server gave no answer")
            }
        }
    }

    fn refuse(&self, refusal: &Refusal) -> Answer {
        match refusal.asker {
            Asker::Stranger => tracing::debug!("a request to git's server was refused: {}", refusal.reason),
            Asker::Command => {
                tracing::warn!("a request to git's server was refused: {}", refusal.reason);
                self.note(format!("Hob refused a request of git: {}", refusal.reason));
            }
        }
        plain(refusal.status, refusal.reason)
    }

    /// Keeps the first fault: later ones follow from it.
    fn note(&self, fault: String) {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(fault);
    }
}

/// The server's answer, for git.
pub(super) fn passed_on(answered: reqwest::Response) -> Answer {
    let (answered, body) = Response::<reqwest::Body>::from(answered).into_parts();
    let mut answer = Response::new(body.map_err(Failure::from).boxed_unsync());
    *answer.status_mut() = answered.status;
    *answer.headers_mut() = headers::to_git(&answered.headers);
    answer
}

/// A push's body, if it begins with exactly this update, and whether it takes the other one along.
async fn checked(
    body: Incoming,
    update: &RefUpdate,
    along: Option<&Along>,
) -> Result<(reqwest::Body, bool), &'static str> {
    let mut parts = BodyDataStream::new(Limited::new(body, PUSH_MAX));
    let mut begun = Vec::new();
    let list = loop {
        let part = parts.next().await.transpose().map_err(|_error| "a push that breaks off")?;
        let is_end = part.is_none();
        begun.extend_from_slice(&part.unwrap_or_default());
        match updates::read(&begun, update)? {
            List::Unfinished if is_end => return Err("a list of updates without an end"),
            List::Unfinished => {}
            // More may follow, which makes it invalid.
            List::Empty if !is_end => {}
            list @ (List::Empty | List::Allowed { .. }) => break list,
        }
    };
    Ok(match (list, along) {
        (List::Allowed { is_atomic: false, .. }, Some(_)) => return Err("a push that may make one of two updates"),
        (List::Allowed { end, .. }, Some(along)) => (reqwest::Body::wrap_stream(along.joined(begun, end, parts)), true),
        (List::Allowed { .. }, None) => {
            let begun = stream::iter([Ok::<_, Failure>(Bytes::from(begun))]);
            (reqwest::Body::wrap_stream(begun.chain(parts)), false)
        }
        (List::Empty | List::Unfinished, _) => (begun.into(), false),
    })
}

fn plain(status: StatusCode, text: &'static str) -> Answer {
    let body = Full::from(text).map_err(|never: Infallible| match never {}).boxed_unsync();
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    // The rest of a refused request on its connection is not read.
    answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    answer
}
