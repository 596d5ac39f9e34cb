//! The arguments of `hob run`.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use hob_config::parse_duration;
use hob_domain::IssueNumber;

use crate::cli::{listen_address::ListenAddress, record_args::RecordArgs};

/// `hob run`.
#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// Work on these issues alone, one attempt each, and report the results. Each needs the trigger label.
    #[arg(value_name = "ISSUE")]
    pub(super) issues: Vec<IssueNumber>,
    /// Work on the given issues one after the other, and stop at the first that does not get a pull request.
    #[arg(long, requires = "issues", conflicts_with = "jobs")]
    pub(super) sequential: bool,
    /// Poll once, work on what is ready, and exit.
    #[arg(long, conflicts_with = "issues")]
    pub(super) once: bool,
    /// Show what would be done, without writing anything.
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Work on at most this many issues at a time, over all repositories [default: the setting `jobs`].
    #[arg(long, alias = "parallel", value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) jobs: Option<u16>,
    /// Exit after this many issues.
    #[arg(long, alias = "max-issues", value_name = "N", conflicts_with = "issues")]
    pub(super) limit: Option<usize>,
    /// Exit after this time, for example `50m`. As on SIGTERM, issues in progress are requeued for the next run.
    #[arg(long, alias = "max-runtime", value_name = "DURATION", value_parser = parse_duration, conflicts_with = "issues")]
    pub(super) time: Option<Duration>,
    /// Use this agent, regardless of labels and settings.
    #[arg(long, value_name = "NAME")]
    pub(super) agent: Option<String>,
    /// Approve every action that is not denied, without asking.
    #[arg(long)]
    pub(super) auto_approve: bool,
    #[command(flatten)]
    pub(super) record: RecordArgs,
    #[command(flatten)]
    pub(super) metrics: MetricsArgs,
}

/// Where a run's metrics and traces go.
#[derive(Debug, Default, Args)]
pub(super) struct MetricsArgs {
    /// Write metrics for Prometheus, in OpenMetrics' text format, to this file, every 15 seconds and at the end.
    #[arg(long, value_name = "FILE")]
    pub(super) metrics: Option<PathBuf>,
    /// Serve a page at `http://ADDRESS/`, with an API and metrics (docs/api.md), and take webhooks. A port alone is one of this machine's.
    /// To answer and pause there, for other machines and for webhooks, set HOB_LISTEN_TOKEN, or the file HOB_LISTEN_TOKEN_FILE [default
    /// address: 127.0.0.1:4620].
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "4620")]
    pub(super) listen: Option<ListenAddress>,
    /// Append traces to this file, as lines of OpenTelemetry's JSON. OTEL_EXPORTER_OTLP_ENDPOINT sends them to a collector.
    #[arg(long, value_name = "FILE")]
    pub(super) traces: Option<PathBuf>,
    /// Sum the metrics over all repositories, without the label `repository`.
    #[arg(long)]
    pub(super) metrics_totals: bool,
}
