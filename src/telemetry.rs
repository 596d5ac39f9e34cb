//! Logs on standard error, as text for people or as JSON for programs. Secrets are `SecretString`s and cannot be formatted
//! into one; what another program or a server repeats of them is held back by the writer that is given.

use std::io::Write;

use tracing_subscriber::{EnvFilter, fmt};

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// Starts the logs once, on what `writer` gives; `filter` is in the form of `RUST_LOG`, and only warnings are shown
/// without it.
pub fn start_logs<W>(format: LogFormat, filter: Option<&str>, writer: impl Fn() -> W + Send + Sync + 'static)
where
    W: Write + 'static,
{
    let filter = EnvFilter::builder().parse_lossy(filter.unwrap_or("hob=warn,github_emulator=warn,off"));
    // An event that cannot be written is lost: to say so, there is only the same standard error.
    let logs = fmt().with_env_filter(filter).with_writer(writer).with_target(false).log_internal_errors(false);
    // A second start, as in a test, has no effect and is not an error.
    match format {
        LogFormat::Text => logs.with_ansi(false).without_time().try_init().ok(),
        LogFormat::Json => logs.json().try_init().ok(),
    };
}
