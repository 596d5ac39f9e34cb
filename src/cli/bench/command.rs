//! The subcommands of `hob bench`.

use clap::Subcommand;

use crate::cli::{
    args::Shared,
    bench::{agent, bare_loop, model_server, run_agent},
    setup::Setup,
};

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum BenchCommand {
    /// Compare agents against a scripted model: start, time and CPU per step, memory, size of requests, faults survived.
    Agent(agent::Args),
    /// Serve a scripted model until interrupted.
    #[command(hide = true)]
    ModelServer(model_server::Args),
    /// Run one agent on a folder, with the brief from standard input.
    #[command(hide = true)]
    RunAgent(run_agent::Args),
    /// Run the smallest possible agent: ask, run the command, ask again.
    #[command(hide = true)]
    BareLoop(bare_loop::Args),
}

pub(in crate::cli) async fn bench(setup: Setup, shared: Shared, command: BenchCommand) -> anyhow::Result<()> {
    match command {
        BenchCommand::Agent(args) => agent::compare(&shared, &args).await,
        BenchCommand::ModelServer(args) => model_server::serve(args).await,
        BenchCommand::RunAgent(args) => run_agent::run(setup, args).await,
        BenchCommand::BareLoop(args) => bare_loop::run(args).await,
    }
}
