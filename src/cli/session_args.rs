//! The arguments of `hob session`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// The subcommands of `hob session`.
#[derive(Debug, Subcommand)]
pub(super) enum SessionCommand {
    /// List the agent sessions on this machine, latest first.
    List,
    /// Show one session: state, limits, cost, time and outcome.
    Show(SessionArgs),
    /// Print a session's transcript, one line per event.
    Log(LogArgs),
    /// Run a session's tool calls again, without a model, and report which results differ.
    Replay(ReplayArgs),
}

/// A command about one session.
#[derive(Debug, Args)]
pub(super) struct SessionArgs {
    /// The id of a session or a unique prefix of it, or the number of an issue, for its latest session.
    #[arg(value_name = "SESSION")]
    pub(super) session: String,
}

/// `hob session log`.
#[derive(Debug, Args)]
pub(super) struct LogArgs {
    /// The id of a session or a unique prefix of it, or the number of an issue, for its latest session.
    #[arg(value_name = "SESSION", required_unless_present = "all")]
    pub(super) session: Option<String>,
    /// Print the transcripts of all sessions, the oldest first; with `--json`, an export.
    #[arg(long, conflicts_with_all = ["session", "follow"])]
    pub(super) all: bool,
    /// Follow the transcript until the current run ends.
    #[arg(short, long)]
    pub(super) follow: bool,
    /// Print each event in full instead of on one line.
    #[arg(long)]
    pub(super) full: bool,
}

/// `hob session replay`.
#[derive(Debug, Args)]
pub(super) struct ReplayArgs {
    #[command(flatten)]
    pub(super) session: SessionArgs,
    /// Run the calls in this folder. They change it: use a fresh clone.
    #[arg(long, value_name = "DIR")]
    pub(super) folder: PathBuf,
}
