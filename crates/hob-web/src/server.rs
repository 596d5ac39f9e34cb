//! The server: its connections and their bounds, and which part answers a request.

use std::{cell::LazyCell, net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::{DefaultBodyLimit, Extension, Request, State},
    middleware::{self, Next},
    response::{IntoResponse, Redirect, Response},
    routing::{any, get, post},
};
use hob_worker::{MetricsFormat, NewsReceiver, metrics, news_channel};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use hyper::{body::Incoming, server::conn::http1};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use secrecy::SecretString;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    task::{JoinHandle, JoinSet},
    time::{sleep, timeout},
};
use tower::ServiceExt;

use crate::{
    access::{Access, Denied, Token},
    api::{self, Problem},
    known::Known,
    lifetime::Lifetime,
    page,
    relay::{self, Relay},
    shared::{Forwards, Shared},
    webhooks::Webhooks,
};

/// Bytes of a request's head.
const HEAD_MAX: usize = 16 << 10;
/// Headers of a request.
const HEADERS_MAX: usize = 64;
/// How long the head may take.
const HEAD_TIME: Duration = Duration::from_secs(5);
/// How long a connection may take, with its answer.
const CONNECTION_TIME: Duration = Duration::from_secs(30);
/// Connections at once: a page that is open has one all the time, and each request that is forwarded.
const CONNECTIONS: usize = 192;
/// The wait after the system had no room for a connection.
const NO_ROOM: Duration = Duration::from_millis(100);
/// Bytes of a body, but for a webhook's: words of a person, four bytes a character, and what encodes them.
const BODY_MAX: usize = 1 << 20;

/// What a browser may do with an answer: nothing from outside, nothing inline, and no frame around it.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The server of a run, until it is closed.
pub struct Server {
    address: SocketAddr,
    news: Option<NewsReceiver>,
    forwards: watch::Sender<Forwards>,
    server: JoinHandle<()>,
}

/// Why it cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum CannotListen {
    /// The address cannot be listened at.
    #[error("cannot listen on `{address}` for `--listen`: {source}")]
    Address {
        /// The address.
        address: SocketAddr,
        /// The system's reason.
        source: std::io::Error,
    },
    /// Others reach it, and there is no token.
    #[error(
        "`--listen {0}` is open to other machines and needs a token: set HOB_LISTEN_TOKEN or HOB_LISTEN_TOKEN_FILE"
    )]
    Open(SocketAddr),
    /// The system gives no random bytes.
    #[error("the system gives no random bytes for `--listen`")]
    NoRandom,
}

impl Server {
    /// Listens at the address. Without a token only this machine may reach it.
    ///
    /// # Errors
    /// [`CannotListen`] if the address is taken, or needs a token.
    pub fn open(address: SocketAddr, token: Option<SecretString>, known: Arc<Known>) -> Result<Self, CannotListen> {
        let forwards = watch::Sender::new(Forwards::default());
        let (shared, news) = shared(address, token, known, forwards.subscribe())?;
        let cannot = |source: std::io::Error| CannotListen::Address { address, source };
        let listener = std::net::TcpListener::bind(address).map_err(cannot)?;
        listener.set_nonblocking(true).map_err(cannot)?;
        let listener = TcpListener::from_std(listener).map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        Ok(Self { address, news: Some(news), forwards, server: tokio::spawn(serve(listener, shared)) })
    }

    /// What it answers to this machine where no token is set, without a server: in one process, a socket is not needed.
    pub fn routes(known: Arc<Known>) -> Router {
        let access = Arc::new(Access::ThisMachine);
        let forwards = watch::Sender::new(Forwards::No).subscribe();
        routes(Shared { known, access, webhooks: None, news: news_channel().0, forwards })
    }

    /// Says whether the forge is asked for the pods of Jobs. Until then they wait.
    pub fn forward(&self, relay: Option<Relay>) {
        let forwards = relay.map_or(Forwards::No, |relay| Forwards::Yes(Arc::new(relay)));
        self.forwards.send_replace(forwards);
    }

    /// Where it listens: the port may have been the system's choice.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The news of webhooks and of what was asked for here. `None` if they were taken.
    pub fn news(&mut self) -> Option<NewsReceiver> {
        self.news.take()
    }

    /// Answers nothing more.
    pub async fn close(self) {
        self.server.abort();
        drop(self.server.await);
    }
}

fn shared(
    address: SocketAddr,
    token: Option<SecretString>,
    known: Arc<Known>,
    forwards: watch::Receiver<Forwards>,
) -> Result<(Shared, NewsReceiver), CannotListen> {
    let (news, receiver) = news_channel();
    let (access, webhooks) = match token {
        Some(token) => {
            let compared = Token::new(&token).ok_or(CannotListen::NoRandom)?;
            (Access::WithToken(Box::new(compared)), Some(Arc::new(Webhooks::new(&token, news.clone()))))
        }
        None if address.ip().to_canonical().is_loopback() => (Access::ThisMachine, None),
        None => return Err(CannotListen::Open(address)),
    };
    Ok((Shared { known, access: Arc::new(access), webhooks, news, forwards }, receiver))
}

fn routes(shared: Shared) -> Router {
    let of_readers = Router::new()
        .route("/metrics", get(read_metrics))
        .merge(api::routes())
        .merge(page::routes())
        .layer(middleware::from_fn_with_state(shared.clone(), guarded));
    Router::new()
        // It says nothing but that the process answers: a supervisor asks without a token.
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/webhook", post(take_webhook))
        // Each request shows its pass.
        .route(&format!("{}/{{*path}}", relay::PATH), any(ask_the_forge))
        .merge(page::public_routes())
        .merge(of_readers)
        .fallback(|| async {
            plain(StatusCode::NOT_FOUND, "not found: the page is at /, the API at /api/v1/openapi.json")
        })
        .method_not_allowed_fallback(|| async {
            plain(StatusCode::METHOD_NOT_ALLOWED, "this method is not allowed here")
        })
        .layer(DefaultBodyLimit::max(BODY_MAX))
        .layer(middleware::map_response(with_headers))
        .with_state(shared)
}

/// Answers only those who may ask.
async fn guarded(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let Err(denied) = shared.access.check(request.method(), request.headers()) else { return next.run(request).await };
    let path = request.uri().path();
    let is_page = !path.starts_with("/api/") && path != "/metrics";
    let status = match denied {
        Denied::NoToken if is_page => return Redirect::to("/sign-in").into_response(),
        Denied::NoToken => StatusCode::UNAUTHORIZED,
        Denied::OtherHost | Denied::NoWrites | Denied::OtherOrigin => StatusCode::FORBIDDEN,
    };
    let mut refusal = match path.starts_with("/api/") {
        true => Problem::answer(status, denied.says()),
        false => plain(status, denied.says()),
    };
    if denied == Denied::NoToken {
        refusal.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    refusal
}

async fn read_metrics(headers: HeaderMap) -> Response {
    let accept: Vec<_> = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
    let format = MetricsFormat::accepted(&accept.join(","));
    ([(header::CONTENT_TYPE, format.content_type())], metrics(format)).into_response()
}

async fn with_headers(mut answer: Response) -> Response {
    let headers = answer.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    answer
}

/// Answers a delivery.
async fn take_webhook(State(shared): State<Shared>, request: Request) -> Response {
    let (status, says) = match &shared.webhooks {
        Some(webhooks) => webhooks.answer(request).await,
        None => (StatusCode::FORBIDDEN, "webhooks are signed: set HOB_LISTEN_TOKEN, which is their secret"),
    };
    plain(status, says)
}

/// Answers a pod.
async fn ask_the_forge(
    State(shared): State<Shared>,
    Extension(lifetime): Extension<Lifetime>,
    request: Request,
) -> Response {
    let mut forwards = shared.forwards.clone();
    let told = timeout(relay::PATIENCE, forwards.wait_for(|forwards| !matches!(forwards, Forwards::Unknown))).await;
    let Ok(Ok(forwards)) = told.map(|told| told.map(|forwards| Forwards::clone(&forwards))) else {
        return relay::starting();
    };
    match forwards {
        Forwards::Yes(relay) => relay.answer(request, &lifetime).await,
        Forwards::No => relay::refusal(StatusCode::NOT_FOUND, "this Hob forwards nothing"),
        Forwards::Unknown => relay::starting(),
    }
}

/// An answer of one line.
fn plain(status: StatusCode, says: &str) -> Response {
    (status, format!("{says}\n")).into_response()
}

async fn serve(listener: TcpListener, shared: Shared) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    // Nobody may ever ask.
    let served = LazyCell::new(|| routes(shared));
    // Dropped with this future, and its connections with it.
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        // Beyond this many, connections wait in the system's queue.
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let routes = Router::clone(&served);
                connections.spawn(async move {
                    let lifetime = Lifetime::new(CONNECTION_TIME);
                    lifetime.bounds(converse(stream, routes, lifetime.clone())).await;
                    drop(permit);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a connection to the page could not be accepted: {error}");
                sleep(NO_ROOM).await;
            }
        }
    }
}

/// One request and its answer.
async fn converse(stream: TcpStream, routes: Router, lifetime: Lifetime) {
    let service = TowerToHyperService::new(routes.map_request(move |mut request: http::Request<Incoming>| {
        request.extensions_mut().insert(lifetime.clone());
        request.map(Body::new)
    }));
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME).max_buf_size(HEAD_MAX).max_headers(HEADERS_MAX);
    let served = server.keep_alive(false).serve_connection(TokioIo::new(stream), service).await;
    if let Err(error) = served {
        tracing::debug!(%error, "a connection to the page ended: {error}");
    }
}
