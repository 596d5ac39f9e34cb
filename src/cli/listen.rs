//! `hob run --listen`: the metrics of this process over HTTP, and webhooks, which let it poll at once.
//!
//! # Guarantees
//! - It reads what this process knows: no request is answered by a call to the forge, and nothing in an answer is of an issue's text.
//! - Requests are bounded: the bytes and the time of their heads and bodies, the number of connections and their time.
//! - Without a token only this machine reads it, and no page of another origin: there are no CORS headers, and `Host` has to be a
//!   name of the machine itself, so that no name on the internet is pointed here.

use std::{convert::Infallible, net::SocketAddr, sync::Arc, time::Duration};

use hob_config::listen_token;
use hob_worker::{MetricsFormat, NewsReceiver, metrics};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::{
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use ring::{hmac, rand::SystemRandom};
use secrecy::{ExposeSecret, SecretString};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::{JoinHandle, JoinSet},
    time::{sleep, timeout},
};

use crate::cli::{
    exit::{Exit, fatal},
    listen_address::ListenAddress,
    listen_webhook::Webhooks,
    setup::Setup,
};

/// Bytes of a request's head.
const HEAD_MAX: usize = 16 << 10;
/// Headers of a request.
const HEADERS_MAX: usize = 64;
/// How long the head may take.
const HEAD_TIME: Duration = Duration::from_secs(5);
/// How long a connection may take, with its answer.
const CONNECTION_TIME: Duration = Duration::from_secs(30);
/// Connections at once.
const CONNECTIONS: usize = 16;
/// The wait after the system had no room for a connection.
const NO_ROOM: Duration = Duration::from_millis(100);

type Answer = Response<Full<Bytes>>;

/// The server of a run, until it is closed.
pub(super) struct Listener {
    address: SocketAddr,
    news: Option<NewsReceiver>,
    server: JoinHandle<()>,
}

/// Who may read.
enum Readers {
    /// Everybody who reaches it, which is this machine.
    ThisMachine,
    /// Those who have the token, and who sign with it.
    WithToken { token: Box<Token>, webhooks: Box<Webhooks> },
}

/// A token that can be compared, and not read.
struct Token {
    key: hmac::Key,
    tag: hmac::Tag,
}

impl Listener {
    /// Listens at the address. `None` if none is given.
    pub(super) fn open(address: Option<ListenAddress>, setup: &Setup) -> anyhow::Result<Option<Self>> {
        let Some(address) = address else { return Ok(None) };
        let (readers, news) = readers(address, listen_token(&setup.files))?;
        let cannot =
            |error: std::io::Error| fatal(Exit::Usage, format!("cannot listen on `{address}` for `--listen`: {error}"));
        let listener = std::net::TcpListener::bind(address.0).map_err(cannot)?;
        listener.set_nonblocking(true).map_err(cannot)?;
        let listener = TcpListener::from_std(listener).map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        Ok(Some(Self { address, news, server: tokio::spawn(serve(listener, Arc::new(readers))) }))
    }

    /// Where it listens: the port may have been the system's choice.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The news that webhooks bring. `None` if they were taken, or none can come without a token.
    pub(super) fn news(&mut self) -> Option<NewsReceiver> {
        self.news.take()
    }

    /// Answers nothing more.
    pub(super) async fn close(self) {
        self.server.abort();
        drop(self.server.await);
    }
}

fn readers(address: ListenAddress, token: Option<SecretString>) -> anyhow::Result<(Readers, Option<NewsReceiver>)> {
    match token {
        Some(token) => {
            let (webhooks, news) = Webhooks::new(&token);
            Ok((Readers::WithToken { token: Box::new(Token::new(&token)?), webhooks: Box::new(webhooks) }, Some(news)))
        }
        None if address.is_loopback() => Ok((Readers::ThisMachine, None)),
        None => {
            let help = format!(
                "`--listen {address}` is open to other machines and needs a token: set HOB_LISTEN_TOKEN or \
                 HOB_LISTEN_TOKEN_FILE"
            );
            Err(fatal(Exit::Usage, help))
        }
    }
}

impl Token {
    fn new(token: &SecretString) -> anyhow::Result<Self> {
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new());
        let key = key.map_err(|_| fatal(Exit::Failure, "the system gives no random bytes for `--listen`"))?;
        let tag = hmac::sign(&key, token.expose_secret().as_bytes());
        Ok(Self { key, tag })
    }

    /// Whether the header names this token, in a time that does not depend on where they differ.
    fn is_in(&self, headers: &HeaderMap) -> bool {
        let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let given =
            given.and_then(|value| value.split_once(' ')).filter(|(kind, _)| kind.eq_ignore_ascii_case("bearer"));
        given.is_some_and(|(_, token)| hmac::verify(&self.key, token.trim().as_bytes(), self.tag.as_ref()).is_ok())
    }
}

async fn serve(listener: TcpListener, readers: Arc<Readers>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    // Dropped with this future, and its connections with it.
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        // Beyond this many, connections wait in the system's queue.
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let readers = Arc::clone(&readers);
                connections.spawn(async move {
                    drop(timeout(CONNECTION_TIME, converse(stream, readers)).await);
                    drop(permit);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a connection to the metrics could not be accepted: {error}");
                sleep(NO_ROOM).await;
            }
        }
    }
}

/// One request and its answer.
async fn converse(stream: TcpStream, readers: Arc<Readers>) {
    let service = service_fn(move |request| {
        let readers = Arc::clone(&readers);
        async move { Ok::<_, Infallible>(answer(&readers, request).await) }
    });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME).max_buf_size(HEAD_MAX).max_headers(HEADERS_MAX);
    let served = server.keep_alive(false).serve_connection(TokioIo::new(stream), service).await;
    if let Err(error) = served {
        tracing::debug!(%error, "a connection to the metrics ended: {error}");
    }
}

async fn answer(readers: &Readers, request: Request<Incoming>) -> Answer {
    match request.uri().path() {
        "/metrics" => read(readers, &request, false),
        "/healthz" => read(readers, &request, true),
        "/webhook" if *request.method() == Method::POST => match readers {
            Readers::WithToken { webhooks, .. } => {
                let (status, says) = webhooks.answer(request).await;
                plain(status, says)
            }
            Readers::ThisMachine => {
                plain(StatusCode::FORBIDDEN, "webhooks are signed: set HOB_LISTEN_TOKEN, which is their secret")
            }
        },
        "/webhook" => not_allowed("only POST is allowed", "POST"),
        _other => plain(StatusCode::NOT_FOUND, "not found: read /metrics or /healthz, or post to /webhook"),
    }
}

fn read(readers: &Readers, request: &Request<Incoming>, is_healthz: bool) -> Answer {
    let headers = request.headers();
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return not_allowed("only GET and HEAD are allowed", "GET, HEAD");
    }
    // It says nothing but that the process answers: a supervisor asks without a token.
    if is_healthz {
        return plain(StatusCode::OK, "ok");
    }
    match readers {
        Readers::ThisMachine if !names_this_machine(headers) => {
            return plain(StatusCode::FORBIDDEN, "the host must be an address of this machine, or `localhost`");
        }
        Readers::WithToken { token, .. } if !token.is_in(headers) => {
            let mut refusal = plain(StatusCode::UNAUTHORIZED, "a bearer token is required");
            refusal.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return refusal;
        }
        Readers::ThisMachine | Readers::WithToken { .. } => {}
    }
    let accept: Vec<_> = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
    let format = MetricsFormat::accepted(&accept.join(","));
    text(StatusCode::OK, metrics(format), format.content_type())
}

/// Whether the request is for a loopback address or `localhost`, as a browser that was led here by another name is not.
fn names_this_machine(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(header::HOST).and_then(|value| value.to_str().ok()) else { return true };
    let Ok(host) = host.parse::<http::uri::Authority>() else { return false };
    let name = host.host().trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

fn not_allowed(says: &str, methods: &'static str) -> Answer {
    let mut refusal = plain(StatusCode::METHOD_NOT_ALLOWED, says);
    refusal.headers_mut().insert(header::ALLOW, HeaderValue::from_static(methods));
    refusal
}

fn plain(status: StatusCode, says: &str) -> Answer {
    text(status, format!("{says}\n"), "text/plain; charset=utf-8")
}

fn text(status: StatusCode, text: String, kind: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(text)));
    *answer.status_mut() = status;
    for (name, value) in
        [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-store"), (header::X_CONTENT_TYPE_OPTIONS, "nosniff")]
    {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: header::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, value.parse().unwrap())])
    }

    #[test]
    fn a_token_is_compared_as_a_whole() {
        let token = Token::new(&"canary-5fK2pQ9x".into()).unwrap();
        for (given, is_it) in [
            ("Bearer canary-5fK2pQ9x", true),
            ("bearer  canary-5fK2pQ9x", true),
            ("Bearer canary-5fK2pQ9", false),
            ("Bearer canary-5fK2pQ9xx", false),
            ("Bearer ", false),
            ("Basic canary-5fK2pQ9x", false),
            ("canary-5fK2pQ9x", false),
        ] {
            assert_eq!(token.is_in(&headers(header::AUTHORIZATION, given)), is_it, "{given}");
        }
        assert!(!token.is_in(&HeaderMap::new()));
    }

    /// A page whose name was pointed at 127.0.0.1 is of the same origin as what it asks there.
    #[test]
    fn a_name_of_another_machine_is_not_answered() {
        for (host, is_here) in [
            ("localhost:4620", true),
            ("LOCALHOST", true),
            ("127.0.0.1:4620", true),
            ("[::1]:4620", true),
            ("evil.example:4620", false),
            ("127.0.0.1.evil.example", false),
            ("localhost.evil.example:4620", false),
            ("10.0.0.1:4620", false),
            ("", false),
        ] {
            assert_eq!(names_this_machine(&headers(header::HOST, host)), is_here, "{host}");
        }
    }

    #[test]
    fn other_machines_need_a_token() {
        let of = |address: &str, token: Option<&str>| {
            readers(address.parse().unwrap(), token.map(Into::into)).map(|(readers, _)| readers)
        };
        assert!(matches!(of("4620", None), Ok(Readers::ThisMachine)));
        assert!(matches!(of("4620", Some("x")), Ok(Readers::WithToken { .. })));
        assert!(matches!(of("0.0.0.0:4620", Some("x")), Ok(Readers::WithToken { .. })));
        let says = "`--listen 0.0.0.0:4620` is open to other machines and needs a token: set HOB_LISTEN_TOKEN or \
                    HOB_LISTEN_TOKEN_FILE";
        assert_eq!(of("0.0.0.0:4620", None).err().unwrap().to_string(), says);
    }
}
