//! The arguments of `hob agent`.

use std::{path::PathBuf, time::Duration};

use clap::{Args, Subcommand};
use hob_config::parse_duration;

use crate::cli::record_args::RecordArgs;

/// The subcommands of `hob agent`.
#[derive(Debug, Subcommand)]
pub(super) enum AgentCommand {
    /// List the agents and profiles, where each profile comes from, and why one is not used.
    ///
    /// In a clone, the repository's profiles are those of its base branch as of the last fetch; the forge is not asked.
    List(AgentListArgs),
    /// Have an agent work on a task in a folder, and print how that ended.
    ///
    /// Nothing is committed, pushed or checked: the agent's changes are left in the folder. It runs in the same sandbox, within
    /// the same limits and with the same brief as for an issue. Exits with 0 if the agent says that the task is done or that there is nothing to
    /// do, otherwise with 8. With --json the result has the outcome, cost, tokens, turns and session.
    Run(Box<AgentRunArgs>),
    /// Investigate a case without a forge: establish the facts, with evidence, and report the conclusion.
    ///
    /// The agent only reads. It answers questions, tests hypotheses and moves the case through its states; a change of the
    /// state needs approval on the terminal. What it found is kept after each step: `--resume` continues where it stopped, for
    /// example after a request for evidence. Exits with 8 if there is no conclusion.
    Investigate(Box<InvestigateArgs>),
    /// Show which profile was chosen for each issue, by whom and why, where people chose otherwise, and how often the router
    /// was right.
    Routing,
}

/// `hob agent list`.
#[derive(Debug, Args)]
pub(super) struct AgentListArgs {
    /// Read the operator's profiles from this folder [default: the setting `profiles.folder`].
    #[arg(long, value_name = "DIR")]
    pub(super) profiles: Option<PathBuf>,
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
    /// Show this image (PNG, JPEG, GIF, WebP) to the model. May be repeated.
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

/// `hob agent investigate`.
#[derive(Debug, Args)]
pub(super) struct InvestigateArgs {
    /// Investigate the case in this Markdown file; its first line is the title.
    #[arg(long, alias = "text", value_name = "FILE", required_unless_present = "resume")]
    pub(super) task: Option<PathBuf>,
    /// Give this text file as evidence. May be repeated.
    #[arg(long, value_name = "FILE")]
    pub(super) evidence: Vec<PathBuf>,
    /// Ask the questions of this issue form, and read their answers from that file.
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
    #[arg(long, value_name = "SESSION", conflicts_with = "task")]
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
