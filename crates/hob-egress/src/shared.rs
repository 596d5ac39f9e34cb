//! The state that all connections of a run share: limits, counters, bodies.

use std::{
    convert::Infallible,
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::body::{Body as HttpBody, Frame};
use tokio::time::timeout;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    gate::Gate,
    report::{Entry, Log, Way},
};

/// Limits of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EgressLimits {
    /// Connections of the agent at once; one more is answered with 503.
    pub connections: usize,
    /// Bytes that the agent may send through the proxy, over all connections.
    pub sent_bytes: u64,
    /// Bytes that it may receive.
    pub received_bytes: u64,
    /// Silence that ends a connection.
    pub idle: Duration,
    /// The deadline of one step: a request's head, a lookup, a connection, a TLS hello.
    pub setup: Duration,
}

impl Default for EgressLimits {
    fn default() -> Self {
        let (idle, setup) = (Duration::from_secs(300), Duration::from_secs(20));
        Self { connections: 64, sent_bytes: 1 << 30, received_bytes: 1 << 30, idle, setup }
    }
}

/// The state that all connections of a run share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) gate: Gate,
    pub(crate) limits: EgressLimits,
    pub(crate) log: Arc<Log>,
    pub(crate) tasks: TaskTracker,
    pub(crate) cancel: CancellationToken,
    pub(crate) sent: AtomicU64,
    pub(crate) received: AtomicU64,
}

/// A body that is sent to an agent or for it.
pub(crate) type Body = UnsyncBoxBody<Bytes, io::Error>;

impl Shared {
    /// Counts bytes of the run and of one connection. The error is the end of the connection: a limit is reached.
    pub(crate) fn count(&self, entry: &Entry, way: Way, bytes: usize) -> io::Result<()> {
        let (counter, most) = match way {
            Way::Sent => (&self.sent, self.limits.sent_bytes),
            Way::Received => (&self.received, self.limits.received_bytes),
        };
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        entry.count(way, bytes);
        if counter.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) <= most {
            return Ok(());
        }
        entry.cut("the run may not move more bytes");
        Err(io::Error::other("the run may not move more bytes"))
    }

    /// `body` with its bytes counted, ended by silence and by the limit.
    pub(crate) fn metered<B>(self: &Arc<Self>, body: B, entry: Arc<Entry>, way: Way) -> Body
    where
        B: HttpBody<Data = Bytes, Error: std::error::Error + Send + Sync + 'static> + Send + Unpin + 'static,
    {
        let frames = stream::unfold(Some((body, Arc::clone(self), entry)), move |state| async move {
            let (mut body, shared, entry) = state?;
            match timeout(shared.limits.idle, body.frame()).await {
                Ok(None) => None,
                Ok(Some(Ok(frame))) => match shared.count(&entry, way, frame.data_ref().map_or(0, Bytes::len)) {
                    Ok(()) => Some((Ok(frame), Some((body, shared, entry)))),
                    Err(error) => Some((Err(error), None)),
                },
                Ok(Some(Err(error))) => Some((Err(io::Error::other(error)), None)),
                Err(_) => {
                    entry.cut("it was silent too long");
                    Some((Err(io::ErrorKind::TimedOut.into()), None))
                }
            }
        });
        StreamBody::new(frames).boxed_unsync()
    }
}

/// A body of bytes that are there.
pub(crate) fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never: Infallible| match never {}).boxed_unsync()
}

/// A body of pieces that come.
pub(crate) fn pieces(pieces: impl Stream<Item = io::Result<Bytes>> + Send + 'static) -> Body {
    StreamBody::new(pieces.map(|piece| piece.map(Frame::data))).boxed_unsync()
}

/// An answer of one sentence.
pub(crate) fn sentence(status: StatusCode, text: &str) -> Response<Body> {
    let mut answer = Response::new(full(format!("{text}\n")));
    *answer.status_mut() = status;
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    answer
}
