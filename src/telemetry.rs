//! Logs on standard error, as text for people or as JSON for programs, and traces. Secrets are `SecretString`s and cannot be
//! formatted into one; the given writer holds back secrets that another program or a server repeats.

use std::{io::Write, sync::OnceLock, time::Duration};

use hob_domain::TRACED;
use hob_traces::{TraceLayer, Traces};
use tracing_subscriber::{
    EnvFilter, Layer, Registry,
    filter::{FilterExt, filter_fn},
    fmt,
    layer::SubscriberExt,
    util::SubscriberInitExt,
};

/// The traces of this process, if there are any.
static TRACES: OnceLock<Traces> = OnceLock::new();

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// Starts the logs once, on the writer that `writer` returns, and the traces; `filter` has the form of `RUST_LOG`, and without
/// it only warnings are shown.
pub fn start_logs<W>(
    format: LogFormat,
    filter: Option<&str>,
    writer: impl Fn() -> W + Send + Sync + 'static,
    traces: Option<(Traces, TraceLayer)>,
) where
    W: Write + 'static,
{
    let filter = EnvFilter::builder().parse_lossy(filter.unwrap_or("hob=warn,github_emulator=warn,off"));
    // Spans for traces have other fields, and more of them, than a line of a log should.
    let filter = filter.and(filter_fn(|metadata| metadata.target() != TRACED));
    // An event that cannot be written is lost: its failure could only be reported to the same standard error.
    let logs = fmt::layer().with_writer(writer).with_target(false).log_internal_errors(false);
    let logs: Box<dyn Layer<Registry> + Send + Sync> = match format {
        LogFormat::Text => logs.with_ansi(false).without_time().with_filter(filter).boxed(),
        LogFormat::Json => logs.json().with_filter(filter).boxed(),
    };
    let mut layers = vec![logs];
    if let Some((traces, layer)) = traces {
        layers.push(layer);
        TRACES.set(traces).ok();
    }
    // A second start, as in a test, has no effect and is not an error.
    tracing_subscriber::registry().with(layers).try_init().ok();
}

/// Sends and writes the traces that are left, for this long at most.
pub fn end_traces(time: Duration) {
    if let Some(traces) = TRACES.get() {
        traces.end(time);
    }
}
