//! The names that commands had before, which are hidden and do what they did.

use clap::{Args, Subcommand};
use hob_domain::IssueNumber;

use crate::cli::{
    about_args::{ConfigCommand, ManArgs, SettingsFile},
    agent_args::{AgentCommand, AgentListArgs, InvestigateArgs},
    args::Command,
    issue_args::{ExplainArgs, PartArgs, Shows, StatusArgs},
    run_args::RunArgs,
    session_args::{LogArgs, ReplayArgs, SessionArgs, SessionCommand},
};

/// What the command line calls.
#[derive(Debug, Subcommand)]
pub(super) enum Invoked {
    /// A command by its name of today.
    #[command(flatten)]
    Today(Command),
    /// A command by the name that it had.
    #[command(flatten)]
    Before(OldName),
    /// Print the version, as `hob --version` does.
    #[command(hide = true)]
    Version,
    /// Write a manual page for each command into a folder.
    #[command(hide = true)]
    Man(ManArgs),
}

/// The names. Those whose arguments are the same as today's are aliases instead.
#[derive(Debug, Subcommand)]
pub(super) enum OldName {
    /// The old name of `hob run ISSUE…`.
    #[command(hide = true, mut_arg("issues", |issues| issues.required(true)))]
    Work(RunArgs),
    /// The old name of `hob status`, of which --json prints the queue alone.
    #[command(hide = true)]
    List,
    /// The old name of `hob status --ready`.
    #[command(hide = true)]
    Ready(PartArgs),
    /// The old name of `hob explain ISSUE --history`.
    #[command(hide = true)]
    History(HistoryArgs),
    /// The old name of `hob session list`.
    #[command(hide = true)]
    Sessions,
    /// The old name of `hob session show`.
    #[command(hide = true)]
    Show(SessionArgs),
    /// The old name of `hob session log`.
    #[command(hide = true)]
    Log(LogArgs),
    /// The old name of `hob session replay`.
    #[command(hide = true)]
    Replay(ReplayArgs),
    /// The old name of `hob agent list`.
    #[command(hide = true)]
    Agents(AgentListArgs),
    /// The old name of `hob agent investigate`.
    #[command(hide = true)]
    Investigate(Box<InvestigateArgs>),
    /// The old name of `hob agent routing`.
    #[command(hide = true)]
    Routing,
    /// The old name of `hob config`.
    #[command(hide = true)]
    Settings(SettingsArgs),
}

/// `hob history`.
#[derive(Debug, Args)]
pub(super) struct HistoryArgs {
    /// The number of the issue.
    #[arg(value_name = "ISSUE")]
    issue: IssueNumber,
}

/// `hob settings`.
#[derive(Debug, Args)]
pub(super) struct SettingsArgs {
    /// Print the JSON schema of a settings file instead.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "process")]
    schema: Option<SettingsFile>,
}

impl OldName {
    /// The command as it is called today.
    pub(super) fn today(self) -> Command {
        match self {
            Self::Work(args) => Command::Run(args),
            Self::List => Command::Status(StatusArgs { shows: Shows::Queue, ..StatusArgs::default() }),
            Self::Ready(part) => Command::Status(StatusArgs { ready: true, part, ..StatusArgs::default() }),
            Self::History(args) => Command::Explain(ExplainArgs { issue: args.issue, history: true }),
            Self::Sessions => Command::Session(SessionCommand::List),
            Self::Show(args) => Command::Session(SessionCommand::Show(args)),
            Self::Log(args) => Command::Session(SessionCommand::Log(args)),
            Self::Replay(args) => Command::Session(SessionCommand::Replay(args)),
            Self::Agents(args) => Command::Agent(AgentCommand::List(args)),
            Self::Investigate(args) => Command::Agent(AgentCommand::Investigate(args)),
            Self::Routing => Command::Agent(AgentCommand::Routing),
            Self::Settings(args) => Command::Config(match args.schema {
                None => ConfigCommand::Show { all: true },
                Some(file) => ConfigCommand::Schema { file },
            }),
        }
    }
}
