//! The command line as clap reads it; the doc comments are the help text.

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use hob_config::{SecretFiles, Settings, Standard, hob_variables};
use tracing_subscriber::EnvFilter;

use crate::{agent, bare_loop, model_server, run_agent, unusable::Unusable};

/// Measures what Hob and others cost, on this machine.
#[derive(Debug, Parser)]
#[command(name = "hob-bench", version, max_term_width = 100)]
pub(crate) struct Cli {
    /// Settings file; variables HOB__SECTION__KEY and flags win over it.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Writes results as JSON, for programs.
    #[arg(long, global = true)]
    json: bool,
    /// Where transcripts are kept [default: ~/.local/state/hob].
    #[arg(long, global = true, value_name = "DIR")]
    state_dir: Option<PathBuf>,
    /// Sets one setting, for example `--set agents.native.max_iterations=200`.
    #[arg(long = "set", global = true, value_name = "KEY=VALUE", value_parser = key_value)]
    set: Vec<(String, String)>,
    #[command(subcommand)]
    command: Command,
}

/// What is measured.
#[derive(Debug, Subcommand)]
enum Command {
    /// Compares what agents cost, without a model: start, time and CPU a step, memory, size of requests, faults survived.
    Agent(agent::Args),
    /// Serves a model that plays a script, until it is stopped.
    #[command(hide = true)]
    ModelServer(model_server::Args),
    /// Runs one agent on a folder; the brief comes on standard input.
    #[command(hide = true)]
    RunAgent(run_agent::Args),
    /// The least an agent can be: asks, runs the command, asks again.
    #[command(hide = true)]
    BareLoop(bare_loop::Args),
}

impl Cli {
    /// Runs the command.
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let settings = Settings::load(self.config.as_deref(), hob_variables(), &self.set);
        let settings = settings.map_err(|error| Unusable(error.to_string()))?;
        let standard = Standard::read(&SecretFiles::default());
        let filter = standard.log_filter.as_deref().unwrap_or("hob=warn,off");
        let logs = tracing_subscriber::fmt().with_env_filter(EnvFilter::builder().parse_lossy(filter));
        logs.with_writer(std::io::stderr).with_target(false).without_time().with_ansi(false).init();
        match self.command {
            Command::Agent(args) => agent::compare(self.json, &args).await,
            Command::ModelServer(args) => model_server::serve(args).await,
            Command::RunAgent(args) => {
                run_agent::run(settings, &self.state_dir.unwrap_or(standard.state_dir), args).await
            }
            Command::BareLoop(args) => bare_loop::run(args).await,
        }
    }
}

fn key_value(text: &str) -> anyhow::Result<(String, String)> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        Some(_) | None => anyhow::bail!("expected KEY=VALUE, for example `agents.native.max_iterations=200`"),
    }
}
