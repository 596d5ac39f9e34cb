//! From what is asked for to a layer of the subscriber, and the end of it.

use std::{io, path::Path, time::Duration};

use hob_domain::TRACED;
use hob_text::KnownSecrets;
use opentelemetry::{Key, KeyValue, trace::TracerProvider};
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithHttpConfig};
use opentelemetry_sdk::{
    Resource,
    trace::{BatchConfigBuilder, BatchSpanProcessor, SdkTracerProvider, SpanExporter as AnyExporter},
};
use tracing_subscriber::{Layer, Registry, filter::filter_fn};

use crate::{
    client::Client,
    gate::Gate,
    lines::Lines,
    tracer::{Ids, NamedTraces},
};

/// The name of the service, unless `OTEL_SERVICE_NAME` or `OTEL_RESOURCE_ATTRIBUTES` have another.
const SERVICE: &str = "hob";
/// Spans that may wait to be sent or written. The SDK's 2,048 take 0.8 MB from the start; a busy run makes a few dozen a second.
const QUEUE: usize = 256;
/// How the SDK begins the name that it gives a service without one.
const UNNAMED: &str = "unknown_service";

/// Where traces go.
#[derive(Debug, Default)]
pub struct TracesTo<'a> {
    /// Posts them to the endpoint that the standard variables name.
    pub client: Option<reqwest::Client>,
    /// The file that they are appended to.
    pub file: Option<&'a Path>,
    /// Whether a standard variable says how many spans may wait.
    pub has_queue: bool,
}

/// Why there are no traces.
#[derive(Debug, thiserror::Error)]
pub enum TracesError {
    /// The variables of the endpoint are not right.
    #[error("{0}")]
    Endpoint(#[from] ExporterBuildError),
    /// The client of the endpoint cannot be made.
    #[error("{0}")]
    Client(#[from] reqwest::Error),
    /// The file cannot be opened.
    #[error("{0}")]
    File(#[from] io::Error),
}

/// The layer that makes a span of the protocol of each span for traces.
pub type TraceLayer = Box<dyn Layer<Registry> + Send + Sync>;

/// The traces of this process.
#[derive(Debug)]
pub struct Traces(SdkTracerProvider);

impl Traces {
    /// Begins to take spans, in the runtime in which this is called. `version` is the service's.
    ///
    /// # Errors
    /// [`TracesError`] if the endpoint's variables or the file cannot be used.
    pub fn begin(
        to: TracesTo<'_>,
        secrets: &KnownSecrets,
        version: &'static str,
    ) -> Result<(Self, TraceLayer), TracesError> {
        let mut provider =
            SdkTracerProvider::builder().with_resource(resource(version)).with_id_generator(Ids::default());
        if let Some(client) = to.client {
            let exporter = SpanExporter::builder().with_http().with_http_client(Client::new(client)).build()?;
            provider = provider.with_span_processor(batches(Gate::new(exporter, secrets.clone()), to.has_queue));
        }
        if let Some(path) = to.file {
            let exporter = Gate::new(Lines::open(path)?, secrets.clone());
            provider = provider.with_span_processor(batches(exporter, to.has_queue));
        }
        let provider = provider.build();
        let tracer = NamedTraces::new(provider.tracer(SERVICE));
        let layer = tracing_opentelemetry::layer()
            .with_tracer(tracer)
            // Where in the code a span was made says nothing to an operator.
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_target(false)
            .with_filter(filter_fn(|metadata| metadata.target() == TRACED));
        Ok((Self(provider), Box::new(layer)))
    }

    /// Sends and writes what is left, for this long at most.
    pub fn end(&self, time: Duration) {
        if let Err(error) = self.0.shutdown_with_timeout(time) {
            tracing::warn!(%error, "the last traces are lost: {error}");
        }
    }
}

/// Exports spans in batches, from a queue of Hob's size unless a variable `has_queue`.
fn batches(exporter: impl AnyExporter + 'static, has_queue: bool) -> BatchSpanProcessor {
    let config = BatchConfigBuilder::default();
    let config = if has_queue { config } else { config.with_max_queue_size(QUEUE) };
    BatchSpanProcessor::builder(exporter).with_batch_config(config.build()).build()
}

/// What all spans are of: this service, and what the standard variables say of it.
fn resource(version: &'static str) -> Resource {
    let found = Resource::builder().build().get(&Key::from_static_str("service.name"));
    let named = found.map(|name| name.to_string()).filter(|name| !name.starts_with(UNNAMED));
    Resource::builder()
        .with_service_name(named.unwrap_or_else(|| SERVICE.to_owned()))
        .with_attribute(KeyValue::new("service.version", version))
        .build()
}
