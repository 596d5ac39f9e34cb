//! A model route: the agent's request, with Hob's key, to the service; the answer back as it comes, its tokens counted.
//!
//! - Flow: nonce, route, path; the body up to its limit, for the model's name; the most that it can cost, reserved; the
//!   request without any sign-in of the agent's, with Hob's; the answer piece by piece.
//! - Guarantees: a key appears in one header of one request to the route's address, and in no answer; redirects are
//!   neither followed nor shown; nothing passes that no table lists and the settings do not allow; no request is sent that the rest of the budget does not carry; each request that a service
//!   may bill is counted, also when the agent hangs up.
//! - Caveats: compression is not requested, so that tokens can be read. A stream of chat completions ends with an event of
//!   usage, also if the agent did not ask for it.

use std::{borrow::Cow, io, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use tokio::{
    sync::{Semaphore, mpsc},
    time::timeout,
};
use tracing::Span;

use crate::{
    answer::{Count, ask},
    bound::Bounds,
    chat_span::passed_span,
    gatekeeper::Gatekeeper,
    json::Json,
    meter::{Meter, Stop},
    own::{self, Asked},
    paths::{Call, call},
    report::{Entry, Way},
    route::Route,
    shape::Refused,
    shared::{Body, EgressLimits, Shared, sentence},
    usage::Most,
    usage_option::with_usage,
    vendor::Api,
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
    gatekeeper: Gatekeeper,
    meter: Meter,
    bounds: Arc<Bounds>,
    slots: Semaphore,
    idle: Duration,
    /// The run for traces: requests come in tasks that know nothing of it.
    run: Span,
}

impl Relay {
    /// The routes below `nonce`, and the listener that answers for Hob there.
    pub(crate) fn new(
        nonce: String,
        routes: Vec<Route>,
        own: Option<mpsc::Sender<Asked>>,
        gatekeeper: Gatekeeper,
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
        let (bounds, slots, idle) = (Arc::default(), Semaphore::new(AT_ONCE), limits.idle);
        Ok(Self { nonce, routes, own, gatekeeper, meter, bounds, slots, idle, run: Span::current() })
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
    pub(crate) async fn answer(&self, shared: &Shared, request: Request<Incoming>) -> Response<Body> {
        let log = &shared.log;
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
        let url = route.address(&below, &self.gatekeeper.query(request.uri().query().unwrap_or_default()));
        let (head, body) = request.into_parts();
        let body = match timeout(self.idle, Limited::new(body, BODY_MAX).collect()).await {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(error)) if error.is::<LengthLimitError>() => return Denial::TOO_LARGE.answer(route, &entry),
            Ok(Err(_)) | Err(_) => return Denial::CUT.answer(route, &entry),
        };
        entry.count(Way::Sent, size(&body));
        let permitted = match self.gatekeeper.check_headers(&head.headers) {
            Ok(()) => self.permit(route, does, body).await,
            Err(refused) => Err(refused.into()),
        };
        let (body, count) = match permitted {
            Ok(permitted) => permitted,
            Err(denial) => return denial.answer(route, &entry),
        };
        let headers = self.gatekeeper.headers(&head.headers, route);
        let request = client.request(head.method, url).headers(headers).body(body);
        ask(shared, route, request, count, entry).await
    }

    /// Checks that a call may be made, and reserves what it can cost. The body is the one to send.
    async fn permit(&self, route: &Route, does: Call, body: Bytes) -> Result<(Bytes, Option<Count>), Denial> {
        let Looked { sent, costs } = self.look(route, does, &body)?;
        let Some((model, most)) = costs else { return Ok((sent, None)) };
        let held = self.meter.reserve(&model, most).await?;
        let bounds = Arc::clone(&self.bounds);
        let name = model.split_once('/').map_or(&*model, |(_route, name)| name);
        let span = self.run.in_scope(|| passed_span(route.api, name));
        Ok((sent, Some(Count { held, model, most, body, bounds, span })))
    }

    /// Reads a body, and checks what it asks for.
    fn look(&self, route: &Route, does: Call, body: &Bytes) -> Result<Looked, Denial> {
        let (ask, named) = match does {
            Call::Lists => return Ok(Looked { sent: Bytes::new(), costs: None }),
            Call::Counts(ask) => {
                let json = serde_json::from_slice(body).map_err(|_| Denial::NO_MODEL)?;
                self.gatekeeper.check_body(route.api, ask, &json)?;
                return Ok(Looked { sent: body.clone(), costs: None });
            }
            Call::Ask(ask, named) => (ask, named),
        };
        let json: Json<'_> = serde_json::from_slice(body).map_err(|_| Denial::NO_MODEL)?;
        self.gatekeeper.check_body(route.api, ask, &json)?;
        let model = named.as_deref().or_else(|| json.get("model").and_then(Json::text));
        let model = model.filter(|model| model.len() <= MODEL_MAX).ok_or(Denial::NO_MODEL)?;
        let model = format!("{}/{model}", route.name);
        let most = self.bounds.most(route.api, &model, body, &json);
        let sent = if route.api == Api::OpenAi { with_usage(body, &json) } else { body.clone() };
        let sent = self.gatekeeper.unstored(route.api, ask, sent, &json);
        Ok(Looked { sent, costs: Some((model, most)) })
    }
}

/// A request that may be made.
struct Looked {
    /// The body to send.
    sent: Bytes,
    /// The model and the most that it costs, if it costs something.
    costs: Option<(String, Most)>,
}

/// Why a request to a model is refused.
#[derive(Debug)]
struct Denial {
    status: StatusCode,
    kind: &'static str,
    reason: Cow<'static, str>,
}

impl From<Refused> for Denial {
    fn from(refused: Refused) -> Self {
        Self { status: StatusCode::FORBIDDEN, kind: "not_allowed", reason: refused.to_string().into() }
    }
}

impl From<Stop> for Denial {
    fn from(stop: Stop) -> Self {
        let (status, kind) = match stop {
            Stop::Exhausted | Stop::TooMuch(_) => (StatusCode::PAYMENT_REQUIRED, "budget_exhausted"),
            Stop::NoPrice => (StatusCode::FORBIDDEN, "no_price"),
        };
        Self { status, kind, reason: stop.to_string().into() }
    }
}

impl Denial {
    const PATH: Self = Self::new(StatusCode::FORBIDDEN, "path_denied", "only requests to models pass to this service");
    const TOO_LARGE: Self = Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", "a request has at most 64 MiB");
    const CUT: Self = Self::new(StatusCode::BAD_REQUEST, "cut_off", "the request did not come whole");
    const NO_MODEL: Self = Self::new(StatusCode::BAD_REQUEST, "no_model", "the request names no one model");

    const fn new(status: StatusCode, kind: &'static str, reason: &'static str) -> Self {
        Self { status, kind, reason: Cow::Borrowed(reason) }
    }

    fn answer(&self, route: &Route, entry: &Entry) -> Response<Body> {
        entry.deny(&self.reason);
        route.api.error(self.status, self.kind, &format!("Hob refuses this request: {}.", self.reason))
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

fn size(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

/// Compares in constant time.
fn is_same(given: &str, wanted: &str) -> bool {
    let differs = given.bytes().zip(wanted.bytes()).fold(0, |differs, (one, other)| differs | (one ^ other));
    given.len() == wanted.len() && differs == 0
}
