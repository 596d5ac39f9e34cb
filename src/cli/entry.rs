//! From the command line to a command, and from its result to an exit code.

use std::{
    ffi::OsString,
    path::Path,
    process::ExitCode,
    time::{Duration, Instant},
};

use clap::{FromArgMatches, error::ErrorKind};
use hob_config::{SecretFiles, Standard};

use crate::{
    cli::{
        actions::{self, Annotation, Level},
        agent_args::AgentCommand,
        agent_run, agents, answer, approve,
        args::{Cli, Command, ForgeCommand, Shared},
        audit,
        command_line::{command, shown},
        config, control, doctor, eval,
        eval_args::EvalCommand,
        eval_compare, eval_review, eval_tasks,
        exit::{Exit, code_of, fatal},
        explain, flakes, forge_serve,
        global_flags::global_flags_first,
        init, investigate, json, log, models,
        old_names::Invoked,
        outcomes,
        output::{self, BAD, Unwritable, styled},
        rehearse, release, replay, routing, run,
        screen::Screen,
        session_args::SessionCommand,
        sessions,
        setup::Setup,
        status, summary,
        traces::{self, Begun},
        verify, watch,
    },
    telemetry::{LogFormat, end_traces, start_logs},
};

/// The time limit at the end for disk work that has begun.
const LAST_WRITES: Duration = Duration::from_secs(2);

/// The stack of each of the runtime's threads, in bytes. An attempt is a deep nest of futures, each of which is moved over the stack
/// when it begins: `future-size-threshold` in `clippy.toml` bounds their size, and this leaves room for more than a hundred of them,
/// no matter what the runtime's default and `RUST_MIN_STACK` say.
const THREAD_STACK: usize = 2 << 20;

/// Runs the command of this process.
pub fn main() -> ExitCode {
    let args = global_flags_first(std::env::args_os());
    let found = command().try_get_matches_from(&args).or_else(|error| match error.kind() {
        // The nearest name that is suggested is one of today's.
        ErrorKind::InvalidSubcommand => shown().try_get_matches_from(&args),
        _another => Err(error),
    });
    let cli = match found.and_then(|found| Cli::<Invoked>::from_arg_matches(&found)) {
        Ok(cli) => cli,
        Err(error) => return ExitCode::from(not_a_command(&error, &args)),
    };
    colour(cli.shared.color);
    let as_json = cli.shared.json;
    let runtime = tokio::runtime::Builder::new_multi_thread().thread_stack_size(THREAD_STACK).enable_all().build();
    let done = runtime
        .map_err(|error| fatal(Exit::Failure, format!("cannot start the async runtime: {error}")))
        .and_then(|runtime| {
            let done = runtime.block_on(dispatch(cli));
            // Neither work on the disk that hangs nor a collector of traces must keep a process that was asked to end.
            let ends = Instant::now() + LAST_WRITES;
            end_traces(LAST_WRITES);
            runtime.shutdown_timeout(ends.saturating_duration_since(Instant::now()));
            done
        });
    done.map_or_else(|error| ExitCode::from(failed(&error, as_json)), |()| ExitCode::SUCCESS)
}

fn colour(choice: clap::ColorChoice) {
    match choice {
        clap::ColorChoice::Auto => anstream::ColorChoice::Auto,
        clap::ColorChoice::Always => anstream::ColorChoice::Always,
        clap::ColorChoice::Never => anstream::ColorChoice::Never,
    }
    .write_global();
}

/// Reports clap's error; it reports help and version as errors, too.
fn not_a_command(error: &clap::Error, args: &[OsString]) -> u8 {
    let as_json = args.iter().any(|arg| arg == "--json");
    if error.kind() == ErrorKind::DisplayVersion {
        return release::version(as_json).map_or_else(|error| failed(&error, as_json), |()| 0);
    }
    let printed = error.print().map_err(Unwritable::from);
    match (error.use_stderr(), printed) {
        (true, _) => {
            if as_json {
                json::error(Exit::Usage, error.to_string().trim_end()).ok();
            }
            Exit::Usage as u8
        }
        (false, Err(error)) if !error.nobody_reads() => failed(&error.into(), false),
        (false, _) => 0,
    }
}

/// Reports why a command failed; returns its exit code.
fn failed(error: &anyhow::Error, as_json: bool) -> u8 {
    if error.downcast_ref::<Unwritable>().is_some_and(Unwritable::nobody_reads) {
        return 0;
    }
    let (exit, sentence) = (code_of(error), output::sentence(error));
    output::note(format!("{} {}", styled(BAD, "hob:"), hob_text::terminal(&sentence)));
    if as_json {
        // If standard output itself fails, the exit code says so.
        json::error(exit, &sentence).ok();
    }
    // No token is needed here, and the files of tokens were read before.
    let standard = Standard::read(&SecretFiles::default());
    if standard.in_actions {
        let level = if exit == Exit::Unfinished { Level::Warning } else { Level::Error };
        actions::annotate(&[Annotation { level, title: "Hob".to_owned(), text: sentence.clone() }]);
    }
    if let Some(path) = standard.step_summary
        && let Err(error) = summary::append_failure(&path, exit, &sentence)
    {
        output::note(output::sentence(&error));
    }
    exit as u8
}

async fn dispatch(cli: Cli<Invoked>) -> anyhow::Result<()> {
    let shared = cli.shared;
    // Commands about the program alone work with any settings.
    let command = match cli.command {
        Invoked::Version => return release::version(shared.json),
        Invoked::Man(args) => return release::man(&args),
        Invoked::Today(Command::Completions(args)) => return release::completions(&args),
        Invoked::Today(command) => command,
        Invoked::Before(old) => old.today(),
    };
    let setup = Setup::read(&shared)?;
    output::withhold(&setup.secrets);
    let screen = Screen::default();
    start(&setup, &shared, &screen, &command)?;
    if runs_agents(&command)
        && let Err(error) = hob_process::start_watchdog()
    {
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "the watchdog did not start: agents and checks would outlive a Hob that is killed"
        );
    }
    match command {
        Command::Rehearse(args) => Box::pin(rehearse::rehearse(setup, shared, args, screen)).await,
        Command::Init(args) => init::init(setup, shared, args).await,
        Command::Doctor(args) => doctor::doctor(setup, shared, args, screen).await,
        Command::Run(args) => Box::pin(run::run(setup, shared, args, screen)).await,
        Command::Status(args) if args.watch => Box::pin(watch::watch(setup, shared, args)).await,
        Command::Status(args) => status::status(setup, shared, args, screen).await,
        Command::Explain(args) => explain::explain(setup, shared, args).await,
        Command::Audit(args) => audit::audit(setup, shared, args).await,
        Command::Outcomes(args) => outcomes::outcomes(setup, shared, args).await,
        Command::Flakes => flakes::flakes(setup, shared).await,
        Command::Verify(args) => Box::pin(verify::verify(setup, shared, args)).await,
        Command::Answer(args) => Box::pin(answer::answer(setup, shared, args)).await,
        Command::Approve(args) => approve::approve(setup, shared, args).await,
        Command::Pause(args) => control::pause(setup, shared, args).await,
        Command::Resume(args) => Box::pin(control::resume(setup, shared, args)).await,
        Command::Cancel(args) => Box::pin(control::cancel(setup, shared, args.target)).await,
        Command::Session(SessionCommand::List) => sessions::sessions(&setup, &shared),
        Command::Session(SessionCommand::Show(args)) => sessions::show(&setup, &shared, &args),
        Command::Session(SessionCommand::Log(args)) => log::log(setup, shared, args).await,
        Command::Session(SessionCommand::Replay(args)) => replay::replay(setup, shared, args).await,
        Command::Agent(AgentCommand::List(args)) => agents::agents(&setup, &shared, &args).await,
        Command::Agent(AgentCommand::Run(args)) => agent_run::run(setup, shared, *args, screen).await,
        Command::Agent(AgentCommand::Investigate(args)) => investigate::investigate(setup, shared, *args, screen).await,
        Command::Agent(AgentCommand::Routing) => routing::routing(setup, shared).await,
        Command::Models(args) => models::models(&setup, &shared, &args),
        Command::Eval(args) => match args.command {
            None => eval_tasks::run(setup, shared, args.tasks, screen).await,
            Some(EvalCommand::Run(args)) => eval_tasks::run(setup, shared, *args, screen).await,
            Some(EvalCommand::Compare(args)) => eval_compare::compare(&shared, &args),
            Some(EvalCommand::Routing(args)) => eval::routing(&shared, &args).await,
            Some(EvalCommand::Review(args)) => eval_review::review(setup, &shared, &args).await,
        },
        Command::Forge(ForgeCommand::Serve(args)) => forge_serve::serve(*args).await,
        Command::Forge(ForgeCommand::Routes) => forge_serve::routes(),
        Command::Config(command) => config::config(&setup, &shared, &command),
        Command::Completions(_) => Ok(()),
    }
}

/// Whether the command starts processes that may run for long.
fn runs_agents(command: &Command) -> bool {
    match command {
        Command::Rehearse(_) | Command::Run(_) => true,
        Command::Agent(command) => matches!(command, AgentCommand::Run(_) | AgentCommand::Investigate(_)),
        Command::Session(command) => matches!(command, SessionCommand::Replay(_)),
        Command::Eval(args) => matches!(args.command, None | Some(EvalCommand::Run(_) | EvalCommand::Review(_))),
        Command::Init(_)
        | Command::Doctor(_)
        | Command::Status(_)
        | Command::Explain(_)
        | Command::Audit(_)
        | Command::Outcomes(_)
        | Command::Flakes
        | Command::Verify(_)
        | Command::Answer(_)
        | Command::Approve(_)
        | Command::Pause(_)
        | Command::Resume(_)
        | Command::Cancel(_)
        | Command::Models(_)
        | Command::Forge(_)
        | Command::Config(_)
        | Command::Completions(_) => false,
    }
}

/// The file that this command's traces are appended to.
fn traces_file(command: &Command) -> Option<&Path> {
    if let Command::Run(args) = command { args.metrics.traces.as_deref() } else { None }
}

/// Starts the logs and the traces, and warns of settings by their old name.
fn start(setup: &Setup, shared: &Shared, screen: &Screen, command: &Command) -> anyhow::Result<()> {
    let format = match setup.standard.log_format.as_deref() {
        _ if shared.log_json => LogFormat::Json,
        None | Some("text") => LogFormat::Text,
        Some("json") => LogFormat::Json,
        Some(other) => {
            return Err(fatal(Exit::Usage, format!("HOB_LOG must be `json` or `text`, not `{other}`")));
        }
    };
    let screen = screen.clone();
    let traces =
        if runs_agents(command) { traces::begin(&setup.secrets, traces_file(command))? } else { Begun::default() };
    start_logs(format, setup.standard.log_filter.as_deref(), move || screen.clone(), traces.traces);
    if let Some(why_not) = traces.why_not {
        tracing::warn!("continuing without traces: {why_not}");
    }
    for old_name in &setup.settings.old_names {
        tracing::warn!(setting = old_name.key(), "{old_name}");
    }
    Ok(())
}
