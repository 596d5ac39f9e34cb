//! What happens, as server-sent events (<https://html.spec.whatwg.org/multipage/server-sent-events.html>).
//!
//! A stream ends before its connection would be cut, and a client asks again, as browsers do by themselves: the number of the last event
//! says where to go on, so nothing is lost that is still kept.

use std::{convert::Infallible, time::Duration};

use axum::{
    extract::{Query, State},
    response::{
        IntoResponse, Response, Sse,
        sse::{Event, KeepAlive},
    },
};
use futures_util::{Stream, StreamExt, stream};
use http::HeaderMap;
use serde::Deserialize;
use tokio::{
    sync::watch,
    time::{Instant, timeout_at},
};
use utoipa::IntoParams;

use crate::shared::Shared;

/// How long a stream goes on: less than a connection may.
const STREAM_TIME: Duration = Duration::from_secs(25);
/// When a client asks again.
const AGAIN: Duration = Duration::from_secs(1);
/// Events that are sent at once.
const AT_ONCE: usize = 500;

/// Which events.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub(super) struct Wanted {
    /// Those after this number. Without it, and without the header `Last-Event-ID`, those from now on.
    after: Option<u64>,
    /// Only that something changed, and not what: `changes`.
    only: Option<String>,
}

/// The state of a stream.
struct At {
    shared: Shared,
    changes: watch::Receiver<u64>,
    last: u64,
    only_changes: bool,
    ends: Instant,
}

/// What happens, as it happens: the events of `hob run --json`, each with its number, and `changed` after each change of what is shown.
#[utoipa::path(
    get,
    path = "/api/v1/events",
    params(Wanted),
    responses((status = 200, content_type = "text/event-stream", body = String)),
)]
pub(super) async fn get(State(shared): State<Shared>, Query(wanted): Query<Wanted>, headers: HeaderMap) -> Response {
    let seen = headers.get("last-event-id").and_then(|value| value.to_str().ok()).and_then(|text| text.parse().ok());
    let last = seen.or(wanted.after).unwrap_or_else(|| shared.known.log().last());
    let changes = shared.known.changes();
    let only_changes = wanted.only.as_deref() == Some("changes");
    let at = At { shared, changes, last, only_changes, ends: Instant::now() + STREAM_TIME };
    let begins = stream::once(async { Ok(Event::default().retry(AGAIN).comment("it begins")) });
    Sse::new(begins.chain(events(at))).keep_alive(KeepAlive::new().interval(Duration::from_secs(10))).into_response()
}

fn events(at: At) -> impl Stream<Item = Result<Event, Infallible>> {
    let parts = stream::unfold(at, |mut at| async move {
        let news = at.news();
        if !news.is_empty() {
            return Some((news, at));
        }
        // A failure: the process ends.
        timeout_at(at.ends, at.changes.changed()).await.ok()?.ok()?;
        let mut news = at.news();
        news.push(Ok(Event::default().event("changed").id(at.last.to_string()).data("")));
        Some((news, at))
    });
    parts.flat_map(stream::iter)
}

impl At {
    /// The events that were not sent yet.
    fn news(&mut self) -> Vec<Result<Event, Infallible>> {
        let log = self.shared.known.log();
        if self.only_changes {
            self.last = log.last();
            return Vec::new();
        }
        let news: Vec<_> = log.after(self.last).take(AT_ONCE).cloned().collect();
        drop(log);
        self.last = news.last().map_or(self.last, |entry| entry.number);
        news.into_iter().map(|entry| Ok(Event::default().id(entry.number.to_string()).data(&*entry.line))).collect()
    }
}
