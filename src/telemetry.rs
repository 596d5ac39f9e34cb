//! Logs on standard error, as text for people or as JSON for programs. Secrets are `SecretString`s and cannot be
//! formatted into one; the given writer holds back secrets that another program or a server repeats.

use std::io::Write;

use tracing_subscriber::{EnvFilter, fmt};

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// Starts the logs once, on the writer that `writer` returns; `filter` has the form of `RUST_LOG`, and without it only
/// warnings are shown.
pub fn start_logs<W>(format: LogFormat, filter: Option<&str>, writer: impl Fn() -> W + Send + Sync + 'static)
where
    W: Write + 'static,
{
    let filter = EnvFilter::builder().parse_lossy(filter.unwrap_or("hob=warn,github_emulator=warn,off"));
    // An event that cannot be written is lost: its failure could only be reported to the same standard error.
    let logs = fmt().with_env_filter(filter).with_writer(writer).with_target(false).log_internal_errors(false);
    // A second start, as in a test, has no effect and is not an error.
    match format {
        LogFormat::Text => logs.with_ansi(false).without_time().try_init().ok(),
        LogFormat::Json => logs.json().try_init().ok(),
    };
}
