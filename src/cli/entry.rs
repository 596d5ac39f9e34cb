//! From the command line to a command, and from its result to an exit code.

use std::process::ExitCode;

use clap::Parser;

use crate::{
    cli::{
        approve,
        args::{Cli, Command, ForgeCommand},
        control, doctor,
        exit::{Exit, code_of},
        explain, forge_serve,
        global_flags::global_flags_first,
        history, list, log, output, rehearse, replay, run, sessions,
        setup::Setup,
        status, unblock, work,
    },
    telemetry::{LogFormat, start_logs},
};

/// Runs the command of this process.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse_from(global_flags_first(std::env::args_os())) {
        Ok(cli) => cli,
        Err(error) => {
            // clap reports help and version as errors, too.
            error.print().ok();
            return if error.use_stderr() { ExitCode::from(Exit::Usage as u8) } else { ExitCode::SUCCESS };
        }
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("hob: cannot start the async runtime: {error}");
            return ExitCode::from(Exit::Failure as u8);
        }
    };
    match runtime.block_on(dispatch(cli)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::error(&error);
            ExitCode::from(code_of(&error) as u8)
        }
    }
}

async fn dispatch(cli: Cli) -> anyhow::Result<()> {
    let shared = cli.shared;
    let setup = Setup::read(&shared)?;
    let format = if shared.log_json { LogFormat::Json } else { LogFormat::Text };
    start_logs(format, setup.standard.log_filter.as_deref());
    for renamed in &setup.settings.renamed {
        tracing::warn!(setting = renamed.old, "{renamed}");
    }
    if runs_agents(&cli.command)
        && let Err(error) = hob_process::start_watchdog()
    {
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "agents and checks would outlive a Hob that is killed"
        );
    }
    match cli.command {
        Command::Rehearse(args) => rehearse::rehearse(setup, shared, args).await,
        Command::Run(args) => run::run(setup, shared, args).await,
        Command::Work(args) => work::work(setup, shared, args).await,
        Command::List => list::list(setup, shared).await,
        Command::Explain(args) => explain::explain(setup, shared, args.issue).await,
        Command::Status => status::status(setup, shared).await,
        Command::History(args) => history::history(setup, shared, args.issue).await,
        Command::Unblock(args) => unblock::unblock(setup, shared, args).await,
        Command::Approve(args) => approve::approve(setup, shared, args).await,
        Command::Pause(args) => control::pause(setup, shared, args).await,
        Command::Resume(args) => control::resume(setup, shared, args).await,
        Command::Terminate(args) => control::terminate(setup, shared, args.issue).await,
        Command::Sessions => sessions::sessions(&setup, &shared),
        Command::Show(args) => sessions::show(&setup, &shared, &args),
        Command::Log(args) => log::log(setup, shared, args).await,
        Command::Replay(args) => replay::replay(setup, shared, args).await,
        Command::Doctor => doctor::doctor(setup, shared).await,
        Command::Settings => output::settings(&setup.settings, shared.json),
        Command::Forge(ForgeCommand::Serve(args)) => forge_serve::serve(args).await,
        Command::Forge(ForgeCommand::Routes) => forge_serve::routes(),
    }
}

/// Whether the command starts processes that may run for long.
fn runs_agents(command: &Command) -> bool {
    match command {
        Command::Rehearse(_) | Command::Run(_) | Command::Work(_) | Command::Replay(_) => true,
        Command::List
        | Command::Explain(_)
        | Command::Status
        | Command::History(_)
        | Command::Unblock(_)
        | Command::Approve(_)
        | Command::Pause(_)
        | Command::Resume(_)
        | Command::Terminate(_)
        | Command::Sessions
        | Command::Show(_)
        | Command::Log(_)
        | Command::Doctor
        | Command::Settings
        | Command::Forge(_) => false,
    }
}
