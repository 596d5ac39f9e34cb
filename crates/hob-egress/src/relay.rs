//! A model route: the agent's request, with Hob's key, to the service; the answer back as it comes, its tokens counted.
//!
//! - Flow: nonce, route, path; the body up to its limit, for the model's name; price and budget; the request without
//!   any sign-in of the agent's, with Hob's; the answer piece by piece.
//! - Guarantees: a key appears in one header of one request to the route's address, and in no answer; redirects are
//!   neither followed nor shown; each request that a service may bill is counted, also when the agent hangs up.
//! - Caveats: requests in flight when the budget ends are answered. Compression is not requested, so that tokens can be
//!   read.

use std::{io, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use serde::Deserialize;
use tokio::{
    sync::{Semaphore, mpsc},
    time::timeout,
};

use crate::{
    headers::{strip_auth, strip_hop},
    meter::{Estimated, Meter, Stop, Usage},
    own::{self, Asked},
    paths::{Call, call, query_without_keys},
    redact::Redactor,
    report::{Entry, Log, Way},
    route::Route,
    shared::{Body, EgressLimits, pieces, sentence},
    tally::{Report, Shape, Tally},
};

/// Bytes of a request's body.
const BODY_MAX: usize = 64 << 20;
/// The most requests whose answers have not begun: each may hold a body.
const AT_ONCE: usize = 16;
/// Bytes of a model's name.
const MODEL_MAX: usize = 200;

/// The model routes of one run.
#[derive(Debug)]
pub(crate) struct Relay {
    nonce: String,
    routes: Vec<(Route, reqwest::Client)>,
    own: Option<mpsc::Sender<Asked>>,
    meter: Meter,
    slots: Semaphore,
    idle: Duration,
}

impl Relay {
    /// The routes below `nonce`, and the listener that answers for Hob there.
    pub(crate) fn new(
        nonce: String,
        routes: Vec<Route>,
        own: Option<mpsc::Sender<Asked>>,
        meter: Meter,
        limits: &EgressLimits,
    ) -> io::Result<Self> {
        // A second call is fine: the first provider stays.
        rustls::crypto::ring::default_provider().install_default().ok();
        let with_client = |route: Route| {
            route.check().map_err(|bad| io::Error::new(io::ErrorKind::InvalidInput, bad))?;
            let client = client(&route, limits).map_err(io::Error::other)?;
            Ok::<_, io::Error>((route, client))
        };
        let routes = routes.into_iter().map(with_client).collect::<Result<_, _>>()?;
        Ok(Self { nonce, routes, own, meter, slots: Semaphore::new(AT_ONCE), idle: limits.idle })
    }

    /// The path of a route.
    pub(crate) fn path(&self, name: &str) -> Option<String> {
        let known = self.routes.iter().any(|(route, _)| route.name == name);
        known.then(|| format!("/{}/{name}", self.nonce))
    }

    /// The path of the requests that Hob answers itself; `None` if it answers none.
    pub(crate) fn own_path(&self) -> Option<String> {
        self.own.as_ref().map(|_| format!("/{}/{}", self.nonce, own::NAME))
    }

    /// Answers a request for a path.
    pub(crate) async fn answer(&self, log: &Arc<Log>, request: Request<Incoming>) -> Response<Body> {
        let path = request.uri().path().to_owned();
        let mut parts = path.splitn(4, '/').skip(1);
        let (nonce, name) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        if let (true, own::NAME, Some(listener)) = (is_same(nonce, &self.nonce), name, &self.own) {
            return own::answer(listener, request).await;
        }
        let found = self.routes.iter().find(|(route, _)| route.name == name);
        let (true, Some((route, client))) = (is_same(nonce, &self.nonce), found) else {
            Entry::new(log, "route ?").deny("no route has this path");
            return sentence(StatusCode::NOT_FOUND, "There is nothing here.");
        };
        let entry = Entry::new(log, &format!("route {name}"));
        let below = format!("/{}", parts.next().unwrap_or_default());
        let Some(does) = call(route.api, request.method(), &below) else {
            return Denial::PATH.answer(route, &entry);
        };
        // The semaphore is never closed; a missing slot would only allow one more at once.
        let _slot = self.slots.acquire().await.ok();
        let url = route.address(&below, &query_without_keys(request.uri().query().unwrap_or_default()));
        let (head, body) = request.into_parts();
        let body = match timeout(self.idle, Limited::new(body, BODY_MAX).collect()).await {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(error)) if error.is::<LengthLimitError>() => return Denial::TOO_LARGE.answer(route, &entry),
            Ok(Err(_)) | Err(_) => return Denial::CUT.answer(route, &entry),
        };
        entry.count(Way::Sent, size(&body));
        let count = match self.permit(route, does, &body) {
            Ok(count) => count,
            Err(denial) => return denial.answer(route, &entry),
        };
        let outgoing = client.request(head.method, url).headers(outgoing(head.headers, route)).body(body);
        match outgoing.send().await {
            Ok(answer) => back(answer, route, count, entry),
            Err(error) => {
                if let (Some(count), true) = (count, error.is_connect()) {
                    count.forget();
                }
                entry.cut("the service gave no answer");
                route.api.error(StatusCode::BAD_GATEWAY, "no_answer", "The model's service gave no answer.")
            }
        }
    }

    /// Checks that a call may be made; one that costs tokens is counted from here on.
    fn permit(&self, route: &Route, does: Call, body: &[u8]) -> Result<Option<Count>, Denial> {
        let model = match does {
            Call::Free => return Ok(None),
            Call::Ask(Some(model)) => model,
            // A duplicate name is an error: services differ in which one counts.
            Call::Ask(None) => serde_json::from_slice::<NamedModel>(body).map_err(|_| Denial::NO_MODEL)?.model,
        };
        if model.len() > MODEL_MAX {
            return Err(Denial::NO_MODEL);
        }
        let model = format!("{}/{model}", route.name);
        self.meter.may_ask(&model).map_err(|stop| match stop {
            Stop::Exhausted => Denial::EXHAUSTED,
            Stop::NoPrice => Denial::NO_PRICE,
        })?;
        let tally = Tally::new(route.api, Shape::Json);
        Ok(Some(Count { meter: self.meter.clone(), model, tally, sent: size(body), received: 0, live: Live::Yes }))
    }
}

/// The fields that Hob reads of a request.
#[derive(Deserialize)]
struct NamedModel {
    model: String,
}

/// Why a request to a model is refused.
#[derive(Debug)]
struct Denial {
    status: StatusCode,
    kind: &'static str,
    reason: &'static str,
}

impl Denial {
    const PATH: Self = Self::new(StatusCode::FORBIDDEN, "path_denied", "only requests to models pass to this service");
    const TOO_LARGE: Self = Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", "a request has at most 64 MiB");
    const CUT: Self = Self::new(StatusCode::BAD_REQUEST, "cut_off", "the request did not come whole");
    const NO_MODEL: Self = Self::new(StatusCode::BAD_REQUEST, "no_model", "the request names no one model");
    const EXHAUSTED: Self =
        Self::new(StatusCode::PAYMENT_REQUIRED, "budget_exhausted", "the budget of this run is used up");
    const NO_PRICE: Self = Self::new(
        StatusCode::FORBIDDEN,
        "no_price",
        "this model has no price in the settings, and the run has a budget",
    );

    const fn new(status: StatusCode, kind: &'static str, reason: &'static str) -> Self {
        Self { status, kind, reason }
    }

    fn answer(&self, route: &Route, entry: &Entry) -> Response<Body> {
        entry.deny(self.reason);
        route.api.error(self.status, self.kind, &format!("Hob refuses this request: {}.", self.reason))
    }
}

/// One request to a model while it lives. Its drop adds it to the meter, however it ended.
struct Count {
    meter: Meter,
    model: String,
    tally: Tally,
    sent: u64,
    received: u64,
    live: Live,
}

#[derive(PartialEq, Eq)]
enum Live {
    Yes,
    No,
}

impl Count {
    /// The service did not accept the request, so it bills nothing.
    fn forget(mut self) {
        self.live = Live::No;
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        if self.live == Live::No {
            return;
        }
        let guess = Usage { input: self.sent.div_ceil(4), output: self.received.div_ceil(4), ..Usage::default() };
        match self.tally.finish() {
            Some(Report { usage, is_final: true }) => self.meter.add(&self.model, usage, Estimated::No),
            Some(Report { usage, is_final: false }) => {
                self.meter.add(&self.model, usage.max(Usage { input: 0, ..guess }), Estimated::Yes);
            }
            None => self.meter.add(&self.model, guess, Estimated::Yes),
        }
    }
}

/// A client for one route. It connects directly to a server on this machine, without certificates, which a bare
/// container may lack.
fn client(route: &Route, limits: &EgressLimits) -> reqwest::Result<reqwest::Client> {
    let is_here = match route.upstream.host() {
        Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
        Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
        Some(url::Host::Domain(name)) => name == "localhost",
        None => false,
    };
    let builder = reqwest::Client::builder();
    let builder =
        if is_here && route.upstream.scheme() == "http" { builder.no_proxy().tls_certs_only([]) } else { builder };
    builder.connect_timeout(limits.setup).read_timeout(limits.idle).redirect(reqwest::redirect::Policy::none()).build()
}

/// The headers that a service gets.
fn outgoing(mut headers: HeaderMap, route: &Route) -> HeaderMap {
    strip_hop(&mut headers);
    strip_auth(&mut headers);
    for name in [header::HOST, header::CONTENT_LENGTH, header::EXPECT] {
        headers.remove(name);
    }
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    // `start` refused a key that does not fit a header.
    if let Some(Ok((name, value))) = route.auth.header() {
        headers.insert(name, value);
    }
    headers
}

/// The answer for the agent.
fn back(answer: reqwest::Response, route: &Route, count: Option<Count>, entry: Arc<Entry>) -> Response<Body> {
    let status = answer.status();
    let mut headers = answer.headers().clone();
    strip_hop(&mut headers);
    let key = route.auth.key();
    let repeats = |value: &HeaderValue| {
        key.is_some_and(|key| value.as_bytes().windows(key.len()).any(|window| window == key.as_bytes()))
    };
    let bad: Vec<_> = headers.iter().filter(|(_, value)| repeats(value)).map(|(name, _)| name.clone()).collect();
    for name in bad.into_iter().chain([header::LOCATION, header::SET_COOKIE]) {
        headers.remove(name);
    }
    let kind = headers.get(header::CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
    let shape = if kind.starts_with(b"text/event-stream") { Shape::Events } else { Shape::Json };
    let count = match count {
        // A refused request is not billed.
        Some(count) if !status.is_success() => {
            count.forget();
            None
        }
        Some(mut count) => {
            count.tally = Tally::new(route.api, shape);
            Some(count)
        }
        None => None,
    };
    let tee = Tee { count, redactor: Redactor::new(key), entry };
    let mut back = Response::new(pieces(tee.pass(answer)));
    (*back.status_mut(), *back.headers_mut()) = (status, headers);
    back
}

/// Reads an answer while it is passed on.
struct Tee {
    count: Option<Count>,
    redactor: Redactor,
    entry: Arc<Entry>,
}

impl Tee {
    fn pass(self, answer: reqwest::Response) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
        let chunks = answer.bytes_stream().boxed();
        stream::unfold(Some((self, chunks)), |state| async move {
            let (mut tee, mut chunks) = state?;
            match chunks.next().await {
                Some(Ok(chunk)) => {
                    tee.entry.count(Way::Received, size(&chunk));
                    if let Some(count) = &mut tee.count {
                        count.received += size(&chunk);
                        count.tally.push(&chunk);
                    }
                    let shown = tee.redactor.push(chunk);
                    Some((Ok(shown), Some((tee, chunks))))
                }
                Some(Err(_)) => {
                    tee.entry.cut("the service cut its answer off");
                    Some((Err(io::ErrorKind::ConnectionAborted.into()), None))
                }
                None => {
                    // Counted before the agent sees the end.
                    drop(tee.count.take());
                    let rest = tee.redactor.finish();
                    (!rest.is_empty()).then_some((Ok(rest), None))
                }
            }
        })
    }
}

fn size(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

/// Compares in constant time.
fn is_same(given: &str, wanted: &str) -> bool {
    let differs = given.bytes().zip(wanted.bytes()).fold(0, |differs, (one, other)| differs | (one ^ other));
    given.len() == wanted.len() && differs == 0
}
