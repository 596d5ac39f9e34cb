//! The command line as clap reads it; the doc comments are the help text.

use std::{path::PathBuf, time::Duration};

use anyhow::bail;
use clap::{Args, CommandFactory, Parser, Subcommand};
use hob_config::parse_duration;
use hob_domain::IssueNumber;

use crate::cli::{
    about_args::{AgentsArgs, CompletionsArgs, ManArgs, SettingsArgs},
    control_args::{PauseArgs, ResumeArgs, TerminateArgs},
    eval_args::EvalArgs,
    progress::Verbosity,
    record_args::RecordArgs,
    shard::Shard,
    status_args::StatusArgs,
};

/// The end of each command's help, in place of the global options.
const GLOBAL: &str = "Global options, such as --repo, --config, --json, -q and -v: see `hob --help`";

/// Work on GitHub issues labelled `code`: claim them, run an agent and the checks, open pull requests.
///
/// To try it without an account, token or network, run `hob rehearse`. For a real repository, set GITHUB_TOKEN, or
/// GITHUB_TOKEN_FILE to a file that holds the token, then run
/// `hob init --repo OWNER/NAME`, `hob doctor --repo OWNER/NAME` and `hob run --once --dry-run --repo OWNER/NAME`.
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
#[command(next_help_heading = "Global options")]
pub(super) struct Shared {
    /// Read settings from this file; variables HOB__SECTION__KEY and flags override it.
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Work on this repository [default: GITHUB_REPOSITORY, else the setting `repositories`, else all repositories of the
    /// GitHub App, else the git remote `origin`]. May be repeated for `run`, `list`, `status` and `routing`.
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
    /// Write log events as JSON lines instead of text.
    #[arg(long, global = true)]
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

/// The command line. The global options are accepted after each command and explained once, by `hob --help`.
pub(super) fn command() -> clap::Command {
    let root = Cli::command();
    let hidden: Vec<_> =
        root.get_arguments().filter(|arg| arg.is_global_set()).map(|arg| arg.clone().hide(true)).collect();
    let apart = |command: clap::Command| command.args(&hidden).after_help(GLOBAL);
    root.mut_subcommands(|command| apart(command.mut_subcommands(apart)))
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run the whole loop on an embedded forge, without an account, token, key or network.
    ///
    /// Plays a bundled example. With `--repo PATH` and `--issue FILE`, works on a copy of your own git repository instead.
    Rehearse(RehearseArgs),
    /// Make a repository ready: create the labels, and open one pull request with `.github/hob.toml` and a workflow.
    ///
    /// The checks and set-up steps in the file are those that fit the repository's own files; read them before you merge.
    /// Existing files stay unchanged, so it can be run again: an open pull request is updated, unless someone else
    /// pushed to its branch. The token needs write permission for contents, issues and pull requests, and for the
    /// workflow also for workflows; without that the pull request comes without it.
    Init(InitArgs),
    /// Poll for issues, claim them, run an agent and the checks, and open pull requests.
    Run(RunArgs),
    /// Work on the given issues, one attempt each, and report the results.
    ///
    /// Does not wait: an issue that cannot be claimed now is reported as failed. Exits with 0 if every issue has a pull
    /// request or was already done, otherwise with 8.
    Work(WorkArgs),
    /// Print the issues that may be claimed now, for an engine that starts a `hob work` for each.
    ///
    /// First does what every poll does: takes answers, finishes merged work and repairs what a dead worker left. Claims nothing. An
    /// empty list is a success. With --json the result is one line, which `fromJSON` of a workflow reads.
    Ready(ReadyArgs),
    /// Investigate a case without a forge: establish the facts, with evidence, and report the conclusion.
    ///
    /// The agent only reads. It answers questions, tests hypotheses and moves the case through its states; a change of the
    /// state needs approval on the terminal. What it found is kept after each step: `--resume` continues where it stopped, for
    /// example after a request for evidence. Exits with 8 if there is no conclusion.
    Investigate(Box<InvestigateArgs>),
    /// Run an agent by itself, on a folder and without a forge.
    #[command(subcommand)]
    Agent(AgentCommand),
    /// List the issues that have the trigger label, in queue order.
    List,
    /// Explain what Hob would do about one issue, or why it would do nothing.
    Explain(IssueArgs),
    /// Show the issues in progress: claims, leases, pull requests and spend.
    Status(StatusArgs),
    /// Print the ledger of one issue.
    History(IssueArgs),
    /// Answer a blocked issue and requeue it.
    Unblock(UnblockArgs),
    /// Approve the action or the plan that a blocked issue asks for, as the comment `/hob approve` does.
    Approve(ApproveArgs),
    /// Pause an issue, on whichever machine it is worked on, a session on this one, or with `--all` the repository.
    Pause(PauseArgs),
    /// Resume a paused issue, print how to resume a session, or with `--all` resume the repository.
    Resume(ResumeArgs),
    /// End the work on an issue for good, as the comment `/hob cancel` does, or a session.
    Terminate(TerminateArgs),
    /// List the agent sessions on this machine, latest first.
    Sessions,
    /// Show one session: state, limits, cost, time and outcome.
    Show(SessionArgs),
    /// Print a session's transcript, one line per event.
    Log(LogArgs),
    /// Run a session's tool calls again, without a model, and report which results differ.
    Replay(ReplayArgs),
    /// Check token, permissions, labels, git, agents and models, and say how to fix problems.
    ///
    /// Each permission is tried, by a write that has no effect or is taken back at once. Models are asked only with
    /// `--ask-model`.
    Doctor(DoctorArgs),
    /// List the agents and profiles, where each profile comes from, and why one is not used.
    ///
    /// In a clone, the repository's profiles are those of its base branch as of the last fetch; the forge is not asked.
    Agents(AgentsArgs),
    /// Show which profile was chosen for each issue, by whom and why, where people chose otherwise, and how often the router
    /// was right.
    Routing,
    /// Print every setting with its effective value, or the JSON schema of a settings file.
    Settings(SettingsArgs),
    /// Have an agent work on tasks with hidden tests, several at once, and report how many it solves and what that costs.
    ///
    /// PATH is a task's folder in Harbor's format (task.toml, instruction.md, environment/, tests/), a folder of tasks, or a file of SWE-bench's
    /// instances, whose repositories are on this machine. Any agent can be evaluated. The tests run in a box that the agent cannot see. An
    /// interrupted run continues where it stopped. With a subcommand, something else is measured.
    Eval(Box<EvalArgs>),
    /// Run the embedded forge by itself.
    #[command(subcommand)]
    Forge(ForgeCommand),
    /// Print the version, and with --json the commit, the features and the target that it was built with.
    Version,
    /// Print the completions of a shell: `hob completions bash > /usr/share/bash-completion/completions/hob`.
    Completions(CompletionsArgs),
    /// Write a manual page for each command into a folder.
    Man(ManArgs),
}

/// `hob ready`.
#[derive(Debug, Args)]
pub(super) struct ReadyArgs {
    /// Print at most this many issues, from the front of the queue.
    #[arg(long, value_name = "N")]
    pub(super) limit: Option<usize>,
    /// Print only this part of all issues, by their numbers: 1/4 to 4/4 are four parts.
    #[arg(long, value_name = "I/N")]
    pub(super) shard: Option<Shard>,
}

/// The subcommands of `hob agent`.
#[derive(Debug, Subcommand)]
pub(super) enum AgentCommand {
    /// Have an agent work on a task in a folder, and print how that ended.
    ///
    /// Nothing is committed, pushed or checked: the agent's changes are left in the folder. It runs in the same sandbox, within
    /// the same limits and with the same brief as for an issue. Exits with 0 if the agent says that the task is done or that there is nothing to
    /// do, otherwise with 8. With --json the result has the outcome, cost, tokens, turns and session.
    Run(AgentRunArgs),
}

/// `hob agent run`.
#[derive(Debug, Args)]
pub(super) struct AgentRunArgs {
    /// Work in this folder.
    #[arg(long, value_name = "DIR")]
    pub(super) folder: PathBuf,
    /// Read the task from this Markdown file; its first line is the title. `-` is standard input.
    #[arg(long, value_name = "FILE")]
    pub(super) task: PathBuf,
    /// Resume this session of `hob agent run`: an id or a unique prefix of it.
    #[arg(long, value_name = "SESSION")]
    pub(super) resume: Option<String>,
    /// Use this agent [default: the setting `agent`].
    #[arg(long, value_name = "NAME")]
    pub(super) agent: Option<String>,
    /// Tell the agent that this command must succeed. May be repeated.
    #[arg(long, value_name = "COMMAND")]
    pub(super) check: Vec<String>,
    /// Show this PNG, JPEG or WebP image to a model that sees. May be repeated.
    #[arg(long, value_name = "FILE")]
    pub(super) image: Vec<PathBuf>,
    /// End after this time [default: the setting `limits.attempt_time`].
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub(super) time: Option<Duration>,
    /// Approve every action that is not denied, without asking.
    #[arg(long)]
    pub(super) auto_approve: bool,
    #[command(flatten)]
    pub(super) record: RecordArgs,
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

/// `hob run`.
#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// Poll once, work on what is ready, and exit.
    #[arg(long)]
    pub(super) once: bool,
    /// Show what would be done, without writing anything.
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Work on at most this many issues at a time, over all repositories [default: the setting `jobs`].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) jobs: Option<u16>,
    /// Exit after this many issues.
    #[arg(long, value_name = "N")]
    pub(super) max_issues: Option<usize>,
    /// Exit after this time, for example `50m`. As on SIGTERM, issues in progress are requeued for the next run.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub(super) max_runtime: Option<Duration>,
    /// Use this agent, regardless of labels and settings.
    #[arg(long, value_name = "NAME")]
    pub(super) agent: Option<String>,
    /// Approve every action that is not denied, without asking.
    #[arg(long)]
    pub(super) auto_approve: bool,
    #[command(flatten)]
    pub(super) record: RecordArgs,
    #[command(flatten)]
    pub(super) counters: CountersArgs,
}

/// `hob work`.
#[derive(Debug, Args)]
pub(super) struct WorkArgs {
    /// The numbers of the issues, each of which needs the trigger label, as for `hob run`.
    #[arg(value_name = "ISSUE", required = true)]
    pub(super) issues: Vec<IssueNumber>,
    /// Work on at most this many at a time [default: the setting `jobs`]. A failure does not stop the others.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) parallel: Option<u16>,
    /// Work on one after the other, in the given order, and stop at the first that does not get a pull request.
    #[arg(long, conflicts_with = "parallel")]
    pub(super) sequential: bool,
    /// Show what would be done about each, without writing anything.
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Use this agent, regardless of labels and settings.
    #[arg(long, value_name = "NAME")]
    pub(super) agent: Option<String>,
    /// Approve every action that is not denied, without asking.
    #[arg(long)]
    pub(super) auto_approve: bool,
    #[command(flatten)]
    pub(super) record: RecordArgs,
    #[command(flatten)]
    pub(super) counters: CountersArgs,
}

/// `hob investigate`.
#[derive(Debug, Args)]
pub(super) struct InvestigateArgs {
    /// Investigate the case in this Markdown file; its first line is the title.
    #[arg(long, value_name = "FILE", required_unless_present = "resume")]
    pub(super) text: Option<PathBuf>,
    /// Give this text file as evidence. May be repeated.
    #[arg(long, value_name = "FILE")]
    pub(super) evidence: Vec<PathBuf>,
    /// Ask the questions of this issue form, and read their answers from the text.
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    pub(super) form: Option<PathBuf>,
    /// Investigate by this profile: of the clone around the current folder, the setting `profiles.folder`, or Hob's own.
    #[arg(long, value_name = "NAME")]
    pub(super) profile: Option<String>,
    /// Read the operator's profiles from this folder [default: the setting `profiles.folder`].
    #[arg(long, value_name = "DIR")]
    pub(super) profiles: Option<PathBuf>,
    /// Let the agent look into this folder [default: an empty one].
    #[arg(long, value_name = "DIR")]
    pub(super) folder: Option<PathBuf>,
    /// Resume the investigation of this session: an id or a unique prefix of it.
    #[arg(long, value_name = "SESSION", conflicts_with = "text")]
    pub(super) resume: Option<String>,
    /// Answer what the investigation asked for. It becomes evidence.
    #[arg(short, long, value_name = "TEXT", requires = "resume")]
    pub(super) message: Option<String>,
    /// Use this agent [default: the setting `agent`].
    #[arg(long, value_name = "NAME")]
    pub(super) agent: Option<String>,
    /// End after this many iterations, over all runs of the session [default: the agent's `max_iterations`, else 50].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) iterations: Option<u32>,
    /// End after this time [default: the setting `limits.attempt_time`].
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub(super) time: Option<Duration>,
    /// Approve every action that is not denied, without asking.
    #[arg(long)]
    pub(super) auto_approve: bool,
    /// Write the report as Markdown to this file, too.
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    #[command(flatten)]
    pub(super) record: RecordArgs,
}

/// Where a run's counters go.
#[derive(Debug, Default, Args)]
pub(super) struct CountersArgs {
    /// Write counters for Prometheus, in OpenMetrics' text format, to this file, every 15 seconds and at the end.
    #[arg(long, value_name = "FILE")]
    pub(super) metrics: Option<PathBuf>,
}

/// `hob rehearse`.
#[derive(Debug, Args)]
pub(super) struct RehearseArgs {
    /// Work on the issue in this Markdown file, whose first line is the title. Required with `--repo PATH`.
    #[arg(long, value_name = "FILE")]
    pub(super) issue: Option<PathBuf>,
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

/// A command about one issue.
#[derive(Debug, Args)]
pub(super) struct IssueArgs {
    /// The number of the issue.
    #[arg(value_name = "ISSUE")]
    pub(super) issue: IssueNumber,
}

/// A command about one session.
#[derive(Debug, Args)]
pub(super) struct SessionArgs {
    /// The id of a session or a unique prefix of it, or the number of an issue, for its latest session.
    #[arg(value_name = "SESSION")]
    pub(super) session: String,
}

/// `hob log`.
#[derive(Debug, Args)]
pub(super) struct LogArgs {
    #[command(flatten)]
    pub(super) session: SessionArgs,
    /// Follow the transcript until the current run ends.
    #[arg(short, long)]
    pub(super) follow: bool,
    /// Print each event in full instead of on one line.
    #[arg(long)]
    pub(super) full: bool,
}

/// `hob replay`.
#[derive(Debug, Args)]
pub(super) struct ReplayArgs {
    #[command(flatten)]
    pub(super) session: SessionArgs,
    /// Run the calls in this folder. They change it: use a fresh clone.
    #[arg(long, value_name = "DIR")]
    pub(super) folder: PathBuf,
}

/// `hob unblock`.
#[derive(Debug, Args)]
pub(super) struct UnblockArgs {
    /// The number of the issue.
    #[arg(value_name = "ISSUE")]
    pub(super) issue: IssueNumber,
    /// Answer this: the agent's next brief contains it beside the question. Without it, the issue is tried again unchanged.
    #[arg(short, long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(super) message: String,
}

/// `hob approve`.
#[derive(Debug, Args)]
pub(super) struct ApproveArgs {
    /// The number of the issue.
    #[arg(value_name = "ISSUE")]
    pub(super) issue: IssueNumber,
    /// Tell the agent this along with the approval.
    #[arg(short, long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(super) message: String,
}

fn key_value(text: &str) -> anyhow::Result<(String, String)> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        Some(_) | None => bail!("expected KEY=VALUE, for example `limits.attempts=1`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::too_many_lines, reason = "most of them are the help pages")]
    fn every_command_has_its_help() {
        let mut hob = command().term_width(100);
        hob.build();
        let page = |command: &clap::Command| {
            let text = command.clone().term_width(100).render_help().to_string();
            format!("== {}\n{}", command.get_name(), text.replace(GLOBAL, "").trim_end())
        };
        let pages: Vec<String> = hob
            .get_subcommands()
            .filter(|command| command.get_name() != "help" && !command.is_hide_set())
            .map(page)
            .collect();
        insta::assert_snapshot!(pages.join("\n\n"), @"
        == rehearse
        Run the whole loop on an embedded forge, without an account, token, key or network

        Usage: hob rehearse [OPTIONS]

        Options:
              --issue <FILE>  Work on the issue in this Markdown file, whose first line is the title.
                              Required with `--repo PATH`
              --agent <NAME>  Use this agent
              --keep          Keep the forge running after the rehearsal, to look at it in a browser, until
                              Ctrl-C
              --auto-approve  Approve every action that is not denied, without asking
              --record <DIR>  Record the model replies of native agents in this folder, one file per
                              session. The model `cassette/FILE` plays one back
          -h, --help          Print help (see more with '--help')

        == init
        Make a repository ready: create the labels, and open one pull request with `.github/hob.toml` and a
        workflow

        Usage: hob init [OPTIONS]

        Options:
              --dry-run      Print the files and what would be done, without writing anything
              --no-workflow  Leave out the workflow: Hob will not run in GitHub Actions
          -h, --help         Print help (see more with '--help')

        == run
        Poll for issues, claim them, run an agent and the checks, and open pull requests

        Usage: hob run [OPTIONS]

        Options:
              --once                    Poll once, work on what is ready, and exit
              --dry-run                 Show what would be done, without writing anything
              --jobs <N>                Work on at most this many issues at a time, over all repositories
                                        [default: the setting `jobs`]
              --max-issues <N>          Exit after this many issues
              --max-runtime <DURATION>  Exit after this time, for example `50m`. As on SIGTERM, issues in
                                        progress are requeued for the next run
              --agent <NAME>            Use this agent, regardless of labels and settings
              --auto-approve            Approve every action that is not denied, without asking
              --record <DIR>            Record the model replies of native agents in this folder, one file
                                        per session. The model `cassette/FILE` plays one back
              --metrics <FILE>          Write counters for Prometheus, in OpenMetrics' text format, to this
                                        file, every 15 seconds and at the end
          -h, --help                    Print help

        == work
        Work on the given issues, one attempt each, and report the results

        Usage: hob work [OPTIONS] <ISSUE>...

        Arguments:
          <ISSUE>...  The numbers of the issues, each of which needs the trigger label, as for `hob run`

        Options:
              --parallel <N>    Work on at most this many at a time [default: the setting `jobs`]. A
                                failure does not stop the others
              --sequential      Work on one after the other, in the given order, and stop at the first that
                                does not get a pull request
              --dry-run         Show what would be done about each, without writing anything
              --agent <NAME>    Use this agent, regardless of labels and settings
              --auto-approve    Approve every action that is not denied, without asking
              --record <DIR>    Record the model replies of native agents in this folder, one file per
                                session. The model `cassette/FILE` plays one back
              --metrics <FILE>  Write counters for Prometheus, in OpenMetrics' text format, to this file,
                                every 15 seconds and at the end
          -h, --help            Print help (see more with '--help')

        == ready
        Print the issues that may be claimed now, for an engine that starts a `hob work` for each

        Usage: hob ready [OPTIONS]

        Options:
              --limit <N>    Print at most this many issues, from the front of the queue
              --shard <I/N>  Print only this part of all issues, by their numbers: 1/4 to 4/4 are four parts
          -h, --help         Print help (see more with '--help')

        == investigate
        Investigate a case without a forge: establish the facts, with evidence, and report the conclusion

        Usage: hob investigate [OPTIONS]

        Options:
              --text <FILE>       Investigate the case in this Markdown file; its first line is the title
              --evidence <FILE>   Give this text file as evidence. May be repeated
              --form <FILE>       Ask the questions of this issue form, and read their answers from the text
              --profile <NAME>    Investigate by this profile: of the clone around the current folder, the
                                  setting `profiles.folder`, or Hob's own
              --profiles <DIR>    Read the operator's profiles from this folder [default: the setting
                                  `profiles.folder`]
              --folder <DIR>      Let the agent look into this folder [default: an empty one]
              --resume <SESSION>  Resume the investigation of this session: an id or a unique prefix of it
          -m, --message <TEXT>    Answer what the investigation asked for. It becomes evidence
              --agent <NAME>      Use this agent [default: the setting `agent`]
              --iterations <N>    End after this many iterations, over all runs of the session [default: the
                                  agent's `max_iterations`, else 50]
              --time <DURATION>   End after this time [default: the setting `limits.attempt_time`]
              --auto-approve      Approve every action that is not denied, without asking
              --out <FILE>        Write the report as Markdown to this file, too
              --record <DIR>      Record the model replies of native agents in this folder, one file per
                                  session. The model `cassette/FILE` plays one back
          -h, --help              Print help (see more with '--help')

        == agent
        Run an agent by itself, on a folder and without a forge

        Usage: hob agent <COMMAND>

        Commands:
          run   Have an agent work on a task in a folder, and print how that ended
          help  Print this message or the help of the given subcommand(s)

        Options:
          -h, --help  Print help

        == list
        List the issues that have the trigger label, in queue order

        Usage: hob list

        Options:
          -h, --help  Print help

        == explain
        Explain what Hob would do about one issue, or why it would do nothing

        Usage: hob explain <ISSUE>

        Arguments:
          <ISSUE>  The number of the issue

        Options:
          -h, --help  Print help

        == status
        Show the issues in progress: claims, leases, pull requests and spend

        Usage: hob status [OPTIONS]

        Options:
              --forget-memory  First forget what Hob saw work in the repositories, such as commands of tests
                               and times of checks, and what maintainers corrected in reviews
          -h, --help           Print help

        == history
        Print the ledger of one issue

        Usage: hob history <ISSUE>

        Arguments:
          <ISSUE>  The number of the issue

        Options:
          -h, --help  Print help

        == unblock
        Answer a blocked issue and requeue it

        Usage: hob unblock [OPTIONS] <ISSUE>

        Arguments:
          <ISSUE>  The number of the issue

        Options:
          -m, --message <TEXT>  Answer this: the agent's next brief contains it beside the question. Without
                                it, the issue is tried again unchanged
          -h, --help            Print help

        == approve
        Approve the action or the plan that a blocked issue asks for, as the comment `/hob approve` does

        Usage: hob approve [OPTIONS] <ISSUE>

        Arguments:
          <ISSUE>  The number of the issue

        Options:
          -m, --message <TEXT>  Tell the agent this along with the approval
          -h, --help            Print help

        == pause
        Pause an issue, on whichever machine it is worked on, a session on this one, or with `--all` the
        repository

        Usage: hob pause [OPTIONS] <ISSUE|SESSION|--all>

        Arguments:
          [ISSUE|SESSION]  The number of the issue, or a session on this machine of `hob investigate` or
                           `hob agent run`

        Options:
              --all             Pause the repository: no worker claims an issue until it is resumed
          -m, --message <TEXT>  Give a reason, shown on the issue and by `hob explain`
          -h, --help            Print help

        == resume
        Resume a paused issue, print how to resume a session, or with `--all` resume the repository

        Usage: hob resume <ISSUE|SESSION|--all>

        Arguments:
          [ISSUE|SESSION]  The number of the issue, or a session on this machine of `hob investigate` or
                           `hob agent run`

        Options:
              --all   Resume the repository: workers claim issues again. Issues that were paused by their
                      number stay paused
          -h, --help  Print help

        == terminate
        End the work on an issue for good, as the comment `/hob cancel` does, or a session

        Usage: hob terminate <ISSUE|SESSION>

        Arguments:
          <ISSUE|SESSION>  The number of the issue, or a session on this machine of `hob investigate` or
                           `hob agent run`

        Options:
          -h, --help  Print help

        == sessions
        List the agent sessions on this machine, latest first

        Usage: hob sessions

        Options:
          -h, --help  Print help

        == show
        Show one session: state, limits, cost, time and outcome

        Usage: hob show <SESSION>

        Arguments:
          <SESSION>  The id of a session or a unique prefix of it, or the number of an issue, for its latest
                     session

        Options:
          -h, --help  Print help

        == log
        Print a session's transcript, one line per event

        Usage: hob log [OPTIONS] <SESSION>

        Arguments:
          <SESSION>  The id of a session or a unique prefix of it, or the number of an issue, for its latest
                     session

        Options:
          -f, --follow  Follow the transcript until the current run ends
              --full    Print each event in full instead of on one line
          -h, --help    Print help

        == replay
        Run a session's tool calls again, without a model, and report which results differ

        Usage: hob replay --folder <DIR> <SESSION>

        Arguments:
          <SESSION>  The id of a session or a unique prefix of it, or the number of an issue, for its latest
                     session

        Options:
              --folder <DIR>  Run the calls in this folder. They change it: use a fresh clone
          -h, --help          Print help

        == doctor
        Check token, permissions, labels, git, agents and models, and say how to fix problems

        Usage: hob doctor [OPTIONS]

        Options:
              --ask-model          Ask the agent's model one short question too. It costs a few tokens, and
                                   proves key, name and address
              --live <OWNER/NAME>  Instead, compare the forge's answers with what Hob assumes about GitHub,
                                   in a repository that `--repo` names as well. It makes a branch, a ref, a
                                   label, an issue with a comment and a pull request there, and closes or
                                   deletes them again
          -h, --help               Print help (see more with '--help')

        == agents
        List the agents and profiles, where each profile comes from, and why one is not used

        Usage: hob agents [OPTIONS]

        Options:
              --profiles <DIR>  Read the operator's profiles from this folder [default: the setting
                                `profiles.folder`]
          -h, --help            Print help (see more with '--help')

        == routing
        Show which profile was chosen for each issue, by whom and why, where people chose otherwise, and how
        often the router was right

        Usage: hob routing

        Options:
          -h, --help  Print help

        == settings
        Print every setting with its effective value, or the JSON schema of a settings file

        Usage: hob settings [OPTIONS]

        Options:
              --schema [<FILE>]  Print the JSON schema of a settings file instead, for editors: of the
                                 process's own, or of a repository's `.github/hob.toml` [possible values:
                                 process, repository]
          -h, --help             Print help (see more with '--help')

        == eval
        Have an agent work on tasks with hidden tests, several at once, and report how many it solves and
        what that costs

        Usage: hob eval [OPTIONS] <PATH>
               hob eval <COMMAND>

        Commands:
          compare  Compare evaluations: a line for each, and for two of them the tasks that only one solved,
                   by pairs
          routing  Route labelled issues, and report how often the right profile was chosen, how sure the
                   router was, and how long it took
          review   Have the reviewer read changes with known defects, and report what it found, what it
                   missed, and its false alarms
          help     Print this message or the help of the given subcommand(s)

        Arguments:
          <PATH>  A task's folder, a folder of tasks, or a file of SWE-bench's instances (JSON lines)

        Options:
              --agent <NAME>            Evaluate this agent [default: the setting `agent`]
              --results <DIR>           Keep the results in this folder; an interrupted run continues there
                                        [default: eval-results/PATH-AGENT]
              --jobs <N>                Try this many tasks at once [default: the number of processors]
              --task <TEXT>             Take only tasks whose names hold this text. May be repeated
              --first <N>               Take only this many tasks, the first by name
              --time <DURATION>         End an agent after this time, unless its task sets a shorter one
                                        [default: the setting `limits.attempt_time`]
              --assume-built            Use this machine in place of the image that a task's Dockerfile
                                        builds; `RUN` lines are not run
              --repositories <DIR>      Take the repositories of SWE-bench's instances from this folder,
                                        where they are clones named OWNER__NAME, OWNER/NAME or NAME
              --test-command <COMMAND>  Run the tests of SWE-bench's instances with this command, such as
                                        `python -m pytest {tests}`
              --recorded                Play each task's `recording.json` instead of asking a model, which
                                        shows that the tasks can be solved
              --auto-approve            Approve every action that is not denied; without it such an action
                                        ends the trial
              --record <DIR>            Record the model replies of native agents in this folder, one file
                                        per session. The model `cassette/FILE` plays one back
          -h, --help                    Print help (see more with '--help')

        == forge
        Run the embedded forge by itself

        Usage: hob forge <COMMAND>

        Commands:
          serve  Serve a GitHub-compatible forge until interrupted
          help   Print this message or the help of the given subcommand(s)

        Options:
          -h, --help  Print help

        == version
        Print the version, and with --json the commit, the features and the target that it was built with

        Usage: hob version

        Options:
          -h, --help  Print help

        == completions
        Print the completions of a shell: `hob completions bash >
        /usr/share/bash-completion/completions/hob`

        Usage: hob completions <SHELL>

        Arguments:
          <SHELL>  The shell [possible values: bash, elvish, fish, powershell, zsh]

        Options:
          -h, --help  Print help

        == man
        Write a manual page for each command into a folder

        Usage: hob man <DIR>

        Arguments:
          <DIR>  The folder; it is created if it does not exist

        Options:
          -h, --help  Print help
        ");
    }
}
