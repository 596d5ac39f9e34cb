//! The subcommands of `hob bench`.

use clap::Subcommand;

use crate::cli::{
    args::Shared,
    bench::{agent, bare_loop, model_server, run_agent},
    setup::Setup,
};

/// What is measured.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum BenchCommand {
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

pub(in crate::cli) async fn bench(setup: Setup, shared: Shared, command: BenchCommand) -> anyhow::Result<()> {
    match command {
        BenchCommand::Agent(args) => agent::compare(&shared, &args).await,
        BenchCommand::ModelServer(args) => model_server::serve(args).await,
        BenchCommand::RunAgent(args) => run_agent::run(setup, args).await,
        BenchCommand::BareLoop(args) => bare_loop::run(args).await,
    }
}
