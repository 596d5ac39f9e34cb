//! The answer of a model's service: read to its end, also without the agent, so that its cost is known.
//!
//! - Flow: the request is sent by a task of its own; head and pieces go to the agent as they come. An agent that hangs up
//!   ends nothing: the rest is read without it, for [`ALONE`] at most, and [`AT_END`] after the end of the run.
//! - Guarantees: the request counts once: as what the service reported, or as its most.
//! - Caveats: pieces are read as fast as the agent takes them.

use std::{io, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::StreamExt;
use hob_domain::{Spend, trace::failed};
use http::{HeaderValue, Response, StatusCode, header};
use tokio::{
    sync::{mpsc, oneshot},
    time::sleep,
};
use tokio_util::sync::CancellationToken;
use tracing::Span;

use crate::{
    bound::Bounds,
    chat_span::chat_used,
    headers::strip_hop,
    meter::Reservation,
    redact::Redactor,
    report::{Entry, Way},
    route::Route,
    shared::{Body, Shared, pieces},
    tally::{Report, Shape, Tally},
    usage::Most,
    vendor::Api,
};

/// How long an answer is read after its agent hung up.
const ALONE: Duration = Duration::from_secs(600);
/// How long it is read after the end of the run.
const AT_END: Duration = Duration::from_secs(5);

/// A request that costs something.
#[derive(Debug)]
pub(crate) struct Count {
    pub(crate) held: Reservation,
    pub(crate) model: String,
    pub(crate) most: Most,
    pub(crate) body: Bytes,
    pub(crate) bounds: Arc<Bounds>,
    /// The request for traces. It ends with the count.
    pub(crate) span: Span,
}

impl Count {
    fn finish(self, api: Api, mut tally: Tally) {
        let costs = |usd_micros| self.span.record("hob.cost.usd", Spend { usd_micros, ..Spend::default() }.usd());
        let Some(Report { mut bill, is_final: true }) = tally.finish() else {
            // Dropping it counts its most.
            costs(self.held.most_micros());
            return;
        };
        match api {
            Api::Anthropic => {}
            // They do not report searches.
            Api::OpenAi | Api::Gemini => bill.searches_micros = self.most.searches_micros,
        }
        self.bounds.counted(&self.model, &self.body, bill.usage.input);
        chat_used(&self.span, &bill.usage);
        costs(self.held.settle(bill));
    }
}

/// Sends `request` for an agent, and returns the answer as it comes.
pub(crate) async fn ask(
    shared: &Shared,
    route: &Route,
    request: reqwest::RequestBuilder,
    mut count: Option<Count>,
    entry: Arc<Entry>,
) -> Response<Body> {
    let (tells, head) = oneshot::channel();
    let (gives, mut taken) = mpsc::channel(1);
    let way = Passage { route: route.clone(), gives, entry, cancel: shared.cancel.clone() };
    if let Some(count) = &mut count {
        count.held.sent();
    }
    shared.tasks.spawn(async move {
        tokio::select! {
            () = way.answer(request, count, tells) => {}
            () = way.is_over() => {}
        }
    });
    match head.await {
        Ok(Some((status, headers))) => {
            let body = futures_util::stream::poll_fn(move |context| taken.poll_recv(context));
            let mut back = Response::new(pieces(body));
            (*back.status_mut(), *back.headers_mut()) = (status, headers);
            back
        }
        Ok(None) | Err(_) => {
            route.api.error(StatusCode::BAD_GATEWAY, "no_answer", "The model's service gave no answer.")
        }
    }
}

/// The way of one answer to the agent.
struct Passage {
    route: Route,
    gives: mpsc::Sender<io::Result<Bytes>>,
    entry: Arc<Entry>,
    cancel: CancellationToken,
}

type Head = (StatusCode, http::HeaderMap);

impl Passage {
    async fn answer(
        &self,
        request: reqwest::RequestBuilder,
        count: Option<Count>,
        tells: oneshot::Sender<Option<Head>>,
    ) {
        let answer = match request.send().await {
            Ok(answer) => answer,
            Err(error) => {
                self.entry.cut("the service gave no answer");
                if let Some(count) = count {
                    failed(&count.span, if error.is_timeout() { "timeout" } else { "transport" });
                    if error.is_connect() {
                        count.held.give_back();
                    }
                }
                // Its agent may have hung up.
                tells.send(None).ok();
                return;
            }
        };
        let (status, headers) = (answer.status(), self.headers(&answer));
        let kind = headers.get(header::CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
        let shape = if kind.starts_with(b"text/event-stream") { Shape::Events } else { Shape::Json };
        let count = match count {
            // A refused request is not billed.
            Some(count) if !status.is_success() => {
                failed(&count.span, status.as_str());
                count.held.give_back();
                None
            }
            count => count,
        };
        tells.send(Some((status, headers))).ok();
        self.pass(answer, shape, count).await;
    }

    /// Reads the answer to its end, and passes it on while the agent takes it.
    async fn pass(&self, answer: reqwest::Response, shape: Shape, count: Option<Count>) {
        let (mut tally, mut redactor) = (Tally::new(self.route.api, shape), Redactor::new(self.route.auth.key()));
        let mut chunks = answer.bytes_stream();
        loop {
            let chunk = tokio::select! {
                chunk = chunks.next() => chunk,
                // What costs nothing is not read without the agent.
                () = self.gives.closed(), if count.is_none() => return,
            };
            match chunk {
                Some(Ok(chunk)) => {
                    self.entry.count(Way::Received, u64::try_from(chunk.len()).unwrap_or(u64::MAX));
                    tally.push(&chunk);
                    self.give(Ok(redactor.push(chunk))).await;
                }
                Some(Err(_)) => {
                    self.entry.cut("the service cut its answer off");
                    if let Some(count) = &count {
                        failed(&count.span, "cut_off");
                    }
                    return self.give(Err(io::ErrorKind::ConnectionAborted.into())).await;
                }
                None => {
                    // Counted before the agent sees the end.
                    if let Some(count) = count {
                        count.finish(self.route.api, tally);
                    }
                    return self.give(Ok(redactor.finish())).await;
                }
            }
        }
    }

    /// An agent that hung up takes nothing more.
    async fn give(&self, piece: io::Result<Bytes>) {
        if piece.as_ref().is_ok_and(Bytes::is_empty) {
            return;
        }
        tokio::select! {
            sent = self.gives.send(piece) => drop(sent),
            () = self.cancel.cancelled() => {}
        }
    }

    /// Returns when nobody waits for the answer any more.
    async fn is_over(&self) {
        tokio::select! {
            () = async { self.cancel.cancelled().await; sleep(AT_END).await } => {}
            () = async { self.gives.closed().await; sleep(ALONE).await } => {}
        }
    }

    /// The headers for the agent.
    fn headers(&self, answer: &reqwest::Response) -> http::HeaderMap {
        let mut headers = answer.headers().clone();
        strip_hop(&mut headers);
        let key = self.route.auth.key();
        let repeats = |value: &HeaderValue| {
            key.is_some_and(|key| value.as_bytes().windows(key.len()).any(|window| window == key.as_bytes()))
        };
        let bad: Vec<_> = headers.iter().filter(|(_, value)| repeats(value)).map(|(name, _)| name.clone()).collect();
        for name in bad.into_iter().chain([header::LOCATION, header::SET_COOKIE]) {
            headers.remove(name);
        }
        headers
    }
}
