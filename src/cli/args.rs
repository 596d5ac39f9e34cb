//! The command line as clap reads it; the doc comments are the help text.

use std::{path::PathBuf, time::Duration};

use clap::{Args, Parser, Subcommand};
use hob_config::parse_duration;
use hob_domain::IssueNumber;

use crate::cli::exit::{Exit, fatal};

/// Give an issue the label `code`: Hob works on it in a branch, proves the work, and opens a pull request.
///
/// Try it with no account, token or network: `hob rehearse`. For a real repository, set GITHUB_TOKEN, then
/// `hob doctor --repo OWNER/NAME` and `hob run --once --dry-run --repo OWNER/NAME`.
#[derive(Debug, Parser)]
#[command(name = "hob", version, max_term_width = 100)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) shared: Shared,
    #[command(subcommand)]
    pub(super) command: Command,
}

/// Flags that every command takes.
#[derive(Debug, Clone, Args)]
pub(super) struct Shared {
    /// Settings file; variables HOB__SECTION__KEY and flags win over it.
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Repository; without it GITHUB_REPOSITORY, else, for a GitHub App, all of its installation, else the git remote
    /// `origin` of this folder. `run`, `list` and `status` take it many times. For `hob rehearse` the path of a git
    /// repository, which is only read.
    #[arg(long, global = true, value_name = "OWNER/NAME")]
    pub(super) repo: Vec<String>,
    /// Writes results as JSON, for programs.
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// Where mirrors, checkouts and transcripts are kept [default: ~/.local/state/hob].
    #[arg(long, global = true, value_name = "DIR")]
    pub(super) state_dir: Option<PathBuf>,
    /// Sets one setting, for example `--set limits.attempts=1`.
    #[arg(long = "set", global = true, value_name = "KEY=VALUE", value_parser = key_value)]
    pub(super) set: Vec<(String, String)>,
    /// Logs as JSON lines instead of text.
    #[arg(long, global = true)]
    pub(super) log_json: bool,
}

/// What Hob does.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Runs the whole loop on an embedded forge: no account, token, key or network.
    Rehearse(RehearseArgs),
    /// Works on issues: discovers, claims, runs an agent, proves, opens pull requests.
    Run(RunArgs),
    /// Works on just these issues of one repository, each to the end of one attempt, and says what came of each.
    ///
    /// Nothing is waited for: an issue that cannot be taken up now has failed. Ends with 0 when each came to a pull request
    /// or was done already, else with 8.
    Work(WorkArgs),
    /// Lists the issues with the trigger label, in the order in which they would be taken.
    List,
    /// Says what would be done about one issue, or why nothing.
    Explain(IssueArgs),
    /// Shows what goes on now: claims, leases, pull requests, spend.
    Status,
    /// Tells an issue's life from its ledger.
    History(IssueArgs),
    /// Answers a blocked issue.
    Unblock(UnblockArgs),
    /// Allows exactly what the agent of a blocked issue asks for, as the comment `/hob approve` does.
    Approve(UnblockArgs),
    /// Leaves an issue alone until it is resumed, whoever works on it; `--all`: nothing is claimed anywhere.
    Pause(PauseArgs),
    /// Lets a paused issue go on; `--all`: takes the kill switch back.
    Resume(ResumeArgs),
    /// Ends the work on an issue for good, as the comment `/hob cancel` does.
    Terminate(IssueArgs),
    /// Lists what agents did on this machine, the last first.
    Sessions,
    /// Shows one session: state, limits, cost, time, how it ended.
    Show(SessionArgs),
    /// Prints what an agent did and said, line by line.
    Log(LogArgs),
    /// Runs a session's tool calls again, without a model, and says where the answers differ now.
    Replay(ReplayArgs),
    /// Checks token, permissions, labels, git, agents and model, and says what to do.
    Doctor,
    /// Prints every setting with its value in force.
    Settings,
    /// The embedded forge by itself.
    #[command(subcommand)]
    Forge(ForgeCommand),
}

/// What the embedded forge does.
#[derive(Debug, Subcommand)]
pub(super) enum ForgeCommand {
    /// Serves a GitHub-compatible forge from this process, until it is stopped.
    Serve(super::forge_serve::Args),
    /// Prints the endpoints it has, as a JSON list.
    #[command(hide = true)]
    Routes,
}

/// `hob run`.
#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// Polls once, works on what is there, and ends.
    #[arg(long)]
    pub(super) once: bool,
    /// Shows what would be done and writes nothing.
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Issues worked on at once, over all repositories.
    #[arg(long, value_name = "N")]
    pub(super) jobs: Option<usize>,
    /// Ends after this many issues.
    #[arg(long, value_name = "N")]
    pub(super) max_issues: Option<usize>,
    /// Ends after this time, for example `50m`, as SIGTERM does: work in hand is put back for the next run.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub(super) max_runtime: Option<Duration>,
    /// The agent that works, whatever labels and settings say.
    #[arg(long, value_name = "NAME")]
    pub(super) agent: Option<String>,
    /// Lets an agent do all that is not denied, whatever its `approve` says, and asks nobody.
    #[arg(long)]
    pub(super) auto_approve: bool,
    #[command(flatten)]
    pub(super) record: RecordArgs,
}

/// `hob work`.
#[derive(Debug, Args)]
pub(super) struct WorkArgs {
    /// The issues' numbers; each needs the trigger label, as for `hob run`.
    #[arg(value_name = "ISSUE", required = true)]
    pub(super) issues: Vec<IssueNumber>,
    /// At most this many at once [default: the setting `limits.jobs`]; one that fails does not stop the others.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) parallel: Option<u16>,
    /// One after the other, in the order given; stops at the first that does not come to a pull request.
    #[arg(long, conflicts_with = "parallel")]
    pub(super) sequential: bool,
    /// Shows what would be done about each and writes nothing.
    #[arg(long)]
    pub(super) dry_run: bool,
    /// The agent that works, whatever labels and settings say.
    #[arg(long, value_name = "NAME")]
    pub(super) agent: Option<String>,
    /// Lets an agent do all that is not denied, whatever its `approve` says, and asks nobody.
    #[arg(long)]
    pub(super) auto_approve: bool,
    #[command(flatten)]
    pub(super) record: RecordArgs,
}

/// Where replies are recorded.
#[derive(Debug, Default, Args)]
pub(super) struct RecordArgs {
    /// Records what the models of native agents reply: a file for each session in this folder, to be played back with
    /// the model `cassette/FILE`.
    #[arg(long, value_name = "DIR")]
    pub(super) record: Option<PathBuf>,
}

impl RecordArgs {
    /// The folder, made where it is not there.
    pub(super) fn folder(self) -> anyhow::Result<Option<PathBuf>> {
        let Some(folder) = self.record else { return Ok(None) };
        let made = std::fs::create_dir_all(&folder).and_then(|()| folder.canonicalize());
        let why = |error| fatal(Exit::Usage, format!("no recording can be put into `{}`: {error}", folder.display()));
        made.map(Some).map_err(why)
    }
}

/// `hob rehearse`.
#[derive(Debug, Args)]
pub(super) struct RehearseArgs {
    /// The issue to work on: a Markdown file whose first line is the title. Needed with `--repo PATH`.
    #[arg(long, value_name = "FILE")]
    pub(super) issue: Option<PathBuf>,
    /// The agent that works.
    #[arg(long, value_name = "NAME")]
    pub(super) agent: Option<String>,
    /// Keeps the forge open after the work, so that you can look at it in a browser; Ctrl-C ends it.
    #[arg(long)]
    pub(super) keep: bool,
    /// Lets an agent do all that is not denied, whatever its `approve` says, and asks nobody.
    #[arg(long)]
    pub(super) auto_approve: bool,
    #[command(flatten)]
    pub(super) record: RecordArgs,
}

/// A command about one issue.
#[derive(Debug, Args)]
pub(super) struct IssueArgs {
    /// The issue's number.
    #[arg(value_name = "ISSUE")]
    pub(super) issue: IssueNumber,
}

/// A command about one session.
#[derive(Debug, Args)]
pub(super) struct SessionArgs {
    /// The session's id or how it begins, or an issue's number, whose last session is meant then.
    #[arg(value_name = "SESSION")]
    pub(super) session: String,
}

/// `hob log`.
#[derive(Debug, Args)]
pub(super) struct LogArgs {
    #[command(flatten)]
    pub(super) session: SessionArgs,
    /// Goes on until the run under way ends.
    #[arg(short, long)]
    pub(super) follow: bool,
    /// Prints everything whole instead of one line each.
    #[arg(long)]
    pub(super) full: bool,
}

/// `hob replay`.
#[derive(Debug, Args)]
pub(super) struct ReplayArgs {
    #[command(flatten)]
    pub(super) session: SessionArgs,
    /// The folder in which the calls are run. They change it: take a fresh clone.
    #[arg(long, value_name = "DIR")]
    pub(super) folder: PathBuf,
}

/// `hob unblock` and `hob approve`.
#[derive(Debug, Args)]
pub(super) struct UnblockArgs {
    /// The issue's number.
    #[arg(value_name = "ISSUE")]
    pub(super) issue: IssueNumber,
    /// What the agent should know; without it, it just tries again.
    #[arg(short, long, value_name = "TEXT", default_value = "")]
    pub(super) message: String,
}

/// `hob pause`.
#[derive(Debug, Args)]
pub(super) struct PauseArgs {
    #[command(flatten)]
    pub(super) what: Paused,
    /// Why; people read it on the issue and in `hob explain`.
    #[arg(short, long, value_name = "TEXT", default_value = "")]
    pub(super) message: String,
}

/// `hob resume`.
#[derive(Debug, Args)]
pub(super) struct ResumeArgs {
    #[command(flatten)]
    pub(super) what: Paused,
}

/// One issue, or all work.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(super) struct Paused {
    /// The issue's number.
    #[arg(value_name = "ISSUE")]
    pub(super) issue: Option<IssueNumber>,
    /// The kill switch of the whole repository: no worker claims anything from its next poll on.
    #[arg(long)]
    pub(super) all: bool,
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        Some(_) | None => Err("write KEY=VALUE, for example `limits.attempts=1`".to_owned()),
    }
}
