//! The subcommands of `hob bench`.

use clap::Subcommand;

use crate::cli::{args::Shared, bench::model_server, setup::Setup};

/// What is measured.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum BenchCommand {
    /// Serves a model that plays a script, until it is stopped.
    #[command(hide = true)]
    ModelServer(model_server::Args),
}

pub(in crate::cli) async fn bench(_setup: Setup, _shared: Shared, command: BenchCommand) -> anyhow::Result<()> {
    match command {
        BenchCommand::ModelServer(args) => model_server::serve(args).await,
    }
}
