//! The commands and the global options as clap reads them; the doc comments are the help text.

use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, Parser, Subcommand};

use crate::cli::{
    about_args::{CompletionsArgs, ConfigCommand, ModelsArgs},
    agent_args::AgentCommand,
    control_args::{CancelArgs, PauseArgs, ResumeArgs},
    eval_args::EvalArgs,
    issue_args::{AnswerArgs, ApproveArgs, AuditArgs, ExplainArgs, OutcomesArgs, StatusArgs, VerifyArgs},
    progress::Verbosity,
    record_args::RecordArgs,
    run_args::RunArgs,
    session_args::SessionCommand,
};

/// Work on GitHub issues labelled `code`: claim them, run an agent and the checks, open pull requests.
///
/// To try it without an account, token or network, run `hob rehearse`. For a real repository, set GITHUB_TOKEN, or
/// GITHUB_TOKEN_FILE to a file that holds the token. Then run `hob init`, `hob doctor` and `hob run --once --dry-run` in a clone, or
/// anywhere with `--repo OWNER/NAME`.
#[derive(Debug, Parser)]
#[command(name = "hob", version, max_term_width = 100)]
pub(super) struct Cli<C: Subcommand> {
    #[command(flatten)]
    pub(super) shared: Shared,
    #[command(subcommand)]
    pub(super) command: C,
}

/// Flags that every command takes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub(super) struct Shared {
    /// Read settings from this file [default: HOB_CONFIG, else ~/.config/hob/hob.toml, else /etc/hob/hob.toml]; variables
    /// HOB__SECTION__KEY and flags override it.
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Work on this repository [default: GITHUB_REPOSITORY, else the setting `repositories`, else all repositories of the
    /// GitHub App, else the git remote `origin`]. May be repeated for `run`, `status`, `outcomes` and `agent routing`.
    #[arg(long, global = true, value_name = "OWNER/NAME")]
    pub(super) repo: Vec<String>,
    /// Write results, events and errors to standard output as JSON, one object a line (docs/json.md).
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// Show no progress, only results and failures.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(super) quiet: bool,
    /// Show each turn and tool of the agents too.
    #[arg(short, long, global = true)]
    pub(super) verbose: bool,
    /// Colour the output. By default that follows the terminal, NO_COLOR and CLICOLOR_FORCE.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(super) color: clap::ColorChoice,
    /// Keep mirrors, checkouts and transcripts in this folder [default: ~/.local/state/hob].
    #[arg(long, global = true, value_name = "DIR")]
    pub(super) state_dir: Option<PathBuf>,
    /// Override one setting, for example `--set limits.attempts=1`. May be repeated.
    #[arg(long = "set", global = true, value_name = "KEY=VALUE", value_parser = key_value)]
    pub(super) set: Vec<(String, String)>,
    /// Write log events as JSON lines, as `HOB_LOG=json` does.
    #[arg(long, global = true, hide = true)]
    pub(super) log_json: bool,
}

impl Shared {
    /// The amount of progress to show.
    pub(super) fn verbosity(&self) -> Verbosity {
        match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, false) => Verbosity::Stages,
            (false, true) => Verbosity::Everything,
        }
    }
}

/// The commands. The first line of each is its line in `hob --help`.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run the whole loop on an embedded forge, with no account or token.
    ///
    /// Plays a bundled example, and needs no key or network. With `--folder PATH` and `--task FILE`, works on a copy of your own
    /// git repository instead.
    Rehearse(RehearseArgs),
    /// Make a repository ready: create labels, and open one pull request.
    ///
    /// The pull request has `.github/hob.toml` and a workflow. The checks and set-up steps in the file are those that fit the
    /// repository's own files; read them before you merge. Existing files stay unchanged, so it can be run again: an open pull
    /// request is updated, unless someone else pushed to its branch. The token needs write permission for contents, issues and
    /// pull requests, and for the workflow also for workflows; without that the pull request comes without it.
    Init(InitArgs),
    /// Check token, permissions, agents and models, and say what to fix.
    ///
    /// Labels and git are checked, too. Each permission is tried, by a write that has no effect or is taken back at once. Models
    /// are asked only with `--ask-model`.
    Doctor(DoctorArgs),
    /// Poll for issues and work on them, or on the given ones.
    ///
    /// Claims issues, runs an agent and the checks, and opens pull requests, until it is stopped. With issues it does not wait: one
    /// that cannot be claimed now is reported as failed. It then exits with 0 if every issue has a pull request or was already
    /// done, otherwise with 8.
    Run(RunArgs),
    /// List the issues: what runs, what waits for whom, what was spent.
    Status(StatusArgs),
    /// Explain what Hob would do about an issue, or why it does nothing.
    Explain(ExplainArgs),
    /// Print who authorized what, what it cost, what was published.
    ///
    /// By the ledgers, which anyone with write access can rewrite: the setting `audit` tells the same elsewhere as it
    /// happens, with the hosts that agents reached and the files that were pushed. Where that is a file, it is read, too.
    Audit(AuditArgs),
    /// Print what came of the work: merged, rejected, waiting, and cost.
    ///
    /// By the ledgers alone, those of closed issues too. An open pull request is neither a success nor a failure: it waits, with its
    /// days. docs/operate.md says what each column counts.
    Outcomes(OutcomesArgs),
    /// List the checks and tests that fail on unchanged code at times.
    ///
    /// Hob runs a failed check again and counts how often it fails on the base. A known flake starts no round.
    Flakes,
    /// Check the statement of a pull request, and who vouches for it.
    ///
    /// Compares it with the pull request's head, tree, repository and issue, and its signature with a key (docs/proof.md). Exits
    /// with 8 if it does not hold.
    Verify(VerifyArgs),
    /// Answer a blocked issue and requeue it.
    ///
    /// As a comment on the issue does. Without `-m`, the issue is tried again unchanged, as by the comment `/hob retry`.
    #[command(alias = "unblock")]
    Answer(AnswerArgs),
    /// Approve the action or the plan that a blocked issue asks for.
    ///
    /// As the comment `/hob approve` does.
    Approve(ApproveArgs),
    /// Pause an issue, a session, or with `--all` the repository.
    ///
    /// An issue is paused on whichever machine it is worked on, as by the comment `/hob pause`; a session is one on this machine.
    Pause(PauseArgs),
    /// Resume an issue, a session, or with `--all` the repository.
    ///
    /// An issue is resumed as by the comment `/hob resume`. For a session, the command that resumes it is printed.
    Resume(ResumeArgs),
    /// End the work on an issue, or a session, for good.
    ///
    /// On an issue as the comment `/hob cancel` does.
    #[command(alias = "terminate")]
    Cancel(CancelArgs),
    /// List, show, follow and replay the agents' sessions on this machine.
    #[command(subcommand)]
    Session(SessionCommand),
    /// List agents and profiles, run an agent by itself, investigate.
    #[command(subcommand)]
    Agent(AgentCommand),
    /// List models with windows, efforts, prices and retirement dates.
    ///
    /// Configured models come first. Known models are from a table that Hob was built with; a model that it lacks works with what
    /// the settings say, and within `budget.tokens` if it has no price.
    Models(ModelsArgs),
    /// Evaluate an agent, the router or the reviewer.
    Eval(Box<EvalArgs>),
    /// Run the embedded forge by itself.
    #[command(subcommand)]
    Forge(ForgeCommand),
    /// Print the settings, or the JSON schema of a settings file.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Print the completions of a shell.
    ///
    /// For example `hob completions bash > /usr/share/bash-completion/completions/hob`.
    Completions(CompletionsArgs),
}

/// The subcommands of `hob forge`.
#[derive(Debug, Subcommand)]
pub(super) enum ForgeCommand {
    /// Serve a GitHub-compatible forge until interrupted.
    Serve(Box<super::forge_serve::Args>),
    /// Print the implemented endpoints as a JSON list.
    #[command(hide = true)]
    Routes,
}

/// `hob init`.
#[derive(Debug, Args)]
pub(super) struct InitArgs {
    /// Print the files and what would be done, without writing anything.
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Leave out the workflow: Hob will not run in GitHub Actions.
    #[arg(long)]
    pub(super) no_workflow: bool,
}

/// `hob doctor`.
#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    /// Ask the agent's model one short question too. It costs a few tokens, and proves key, name and address.
    #[arg(long)]
    pub(super) ask_model: bool,
    /// Instead, compare the forge's answers with what Hob assumes about GitHub, in a repository that `--repo` names as
    /// well. It makes a branch, a ref, a label, an issue with a comment and a pull request there, and closes or deletes them again.
    #[arg(long, value_name = "OWNER/NAME", conflicts_with = "ask_model")]
    pub(super) live: Option<String>,
}

/// `hob rehearse`.
#[derive(Debug, Args)]
pub(super) struct RehearseArgs {
    /// Work on a copy of the git repository in this folder. Needs `--task FILE`.
    #[arg(long, value_name = "PATH")]
    pub(super) folder: Option<PathBuf>,
    /// Work on the issue in this Markdown file, whose first line is the title. Needs `--folder PATH`.
    #[arg(long, alias = "issue", value_name = "FILE")]
    pub(super) task: Option<PathBuf>,
    /// Use this agent.
    #[arg(long, value_name = "NAME")]
    pub(super) agent: Option<String>,
    /// Keep the forge running after the rehearsal, to look at it in a browser, until Ctrl-C.
    #[arg(long)]
    pub(super) keep: bool,
    /// Approve every action that is not denied, without asking.
    #[arg(long)]
    pub(super) auto_approve: bool,
    #[command(flatten)]
    pub(super) record: RecordArgs,
}

fn key_value(text: &str) -> anyhow::Result<(String, String)> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        Some(_) | None => bail!("expected KEY=VALUE, for example `limits.attempts=1`"),
    }
}
