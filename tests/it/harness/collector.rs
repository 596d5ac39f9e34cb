//! A collector of traces on this machine: it takes what OpenTelemetry's protocol says and nothing else.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use axum::{Router, extract::State, routing::post};
use bytes::Bytes;
use http::{HeaderMap, StatusCode, header::CONTENT_TYPE};
use opentelemetry_proto::tonic::{
    collector::trace::v1::{ExportTraceServiceRequest, ExportTraceServiceResponse},
    common::v1::{KeyValue, any_value::Value},
    trace::v1::{Span, span::SpanKind, status::StatusCode as SpanStatus},
};
use prost::Message;
use tokio::task::JoinHandle;

/// The requests that were taken.
type Taken = Arc<Mutex<Vec<(HeaderMap, Bytes)>>>;

/// The collector; gone with this.
pub(crate) struct Collector {
    /// Its address, for `OTEL_EXPORTER_OTLP_ENDPOINT`.
    pub(crate) endpoint: String,
    taken: Taken,
    task: JoinHandle<()>,
}

/// A span as it was taken.
#[derive(Debug, Clone)]
pub(crate) struct Traced {
    pub(crate) name: String,
    pub(crate) trace: String,
    pub(crate) id: String,
    /// Empty for the first one of a trace.
    pub(crate) parent: String,
    pub(crate) kind: SpanKind,
    pub(crate) is_error: bool,
    /// Numbers and texts alike as texts.
    pub(crate) attributes: BTreeMap<String, String>,
}

impl Traced {
    /// An attribute; empty if there is none.
    pub(crate) fn says(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }
}

impl Collector {
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let taken = Taken::default();
        let router = Router::new().route("/v1/traces", post(take)).with_state(Arc::clone(&taken));
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { endpoint, taken, task }
    }

    /// All requests so far.
    pub(crate) fn requests(&self) -> Vec<(HeaderMap, Bytes)> {
        self.taken.lock().unwrap().clone()
    }

    /// All spans so far, in the order of their beginning.
    pub(crate) fn spans(&self) -> Vec<Traced> {
        let requests = self.requests().into_iter().map(|(_, body)| ExportTraceServiceRequest::decode(body).unwrap());
        spans_of(requests)
    }

    /// What the service says of itself, in the first request.
    pub(crate) fn resource(&self) -> BTreeMap<String, String> {
        let first = ExportTraceServiceRequest::decode(self.requests()[0].1.clone()).unwrap();
        attributes(first.resource_spans[0].resource.clone().unwrap().attributes)
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The spans of these requests, in the order of their beginning.
pub(crate) fn spans_of(requests: impl Iterator<Item = ExportTraceServiceRequest>) -> Vec<Traced> {
    let scopes = requests.flat_map(|request| request.resource_spans).flat_map(|of_resource| of_resource.scope_spans);
    let mut spans: Vec<Span> = scopes.flat_map(|of_scope| of_scope.spans).collect();
    spans.sort_by_key(|span| span.start_time_unix_nano);
    spans.into_iter().map(traced).collect()
}

fn traced(span: Span) -> Traced {
    assert!(span.end_time_unix_nano >= span.start_time_unix_nano && span.start_time_unix_nano > 0, "{span:?}");
    assert_eq!((span.trace_id.len(), span.span_id.len(), span.events.len()), (16, 8, 0), "{span:?}");
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Traced {
        trace: hex(&span.trace_id),
        id: hex(&span.span_id),
        parent: hex(&span.parent_span_id),
        kind: span.kind(),
        is_error: span.status.is_some_and(|status| status.code() == SpanStatus::Error),
        attributes: attributes(span.attributes),
        name: span.name,
    }
}

fn attributes(all: Vec<KeyValue>) -> BTreeMap<String, String> {
    all.into_iter().map(|one| (one.key, one.value.and_then(|value| value.value).map(text).unwrap())).collect()
}

fn text(value: Value) -> String {
    match value {
        Value::StringValue(text) => text,
        Value::IntValue(number) => number.to_string(),
        Value::DoubleValue(number) => number.to_string(),
        Value::ArrayValue(all) => {
            let all: Vec<_> = all.values.into_iter().filter_map(|value| value.value).map(text).collect();
            format!("[{}]", all.join(", "))
        }
        other => panic!("no attribute of Hob's is {other:?}"),
    }
}

async fn take(State(taken): State<Taken>, headers: HeaderMap, body: Bytes) -> (StatusCode, HeaderMap, Vec<u8>) {
    let mut answer = HeaderMap::new();
    answer.insert(CONTENT_TYPE, "application/x-protobuf".parse().unwrap());
    if headers[CONTENT_TYPE] != "application/x-protobuf" || ExportTraceServiceRequest::decode(body.clone()).is_err() {
        return (StatusCode::BAD_REQUEST, answer, Vec::new());
    }
    taken.lock().unwrap().push((headers, body));
    (StatusCode::OK, answer, ExportTraceServiceResponse::default().encode_to_vec())
}
