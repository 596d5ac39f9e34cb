//! The arguments of `hob eval`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::cli::record_args::RecordArgs;

/// `hob eval`: `hob eval run`, if no subcommand is named.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true, arg_required_else_help = true)]
pub(super) struct EvalArgs {
    #[command(subcommand)]
    pub(super) command: Option<EvalCommand>,
    #[command(flatten)]
    pub(super) tasks: TasksArgs,
}

/// `hob eval run`.
#[derive(Debug, Args)]
pub(super) struct TasksArgs {
    /// A task's folder, a folder of tasks, or a file of SWE-bench's instances (JSON lines).
    #[arg(value_name = "PATH", required = true)]
    pub(super) path: Option<PathBuf>,
    /// Evaluate this agent [default: the setting `agent`].
    #[arg(long, value_name = "NAME")]
    pub(super) agent: Option<String>,
    /// Keep the results in this folder; an interrupted run continues there [default: eval-results/PATH-AGENT].
    #[arg(long, value_name = "DIR")]
    pub(super) results: Option<PathBuf>,
    /// Try each task this many times, and estimate how likely one of several attempts solves it (pass@k); with `--check`, each has to be
    /// usable every time.
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(super) attempts: u32,
    /// Have no agent work on the tasks: see whether each task's own solution gives 1 and doing nothing gives 0, and say which tasks are
    /// unusable here, and why.
    #[arg(long, conflicts_with_all = ["agent", "recorded", "record", "baseline", "results"])]
    pub(super) check: bool,
    /// Evaluate doing nothing, or each task's own solution, in place of an agent.
    #[arg(long, value_name = "WHAT", conflicts_with_all = ["agent", "recorded", "record"])]
    pub(super) baseline: Option<BaselineArg>,
    /// Try this many tasks at once [default: the number of processors].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) jobs: Option<u16>,
    /// Take only tasks whose names hold this text. May be repeated.
    #[arg(long, alias = "task", value_name = "TEXT")]
    pub(super) only: Vec<String>,
    /// Take only this many tasks, the first by name.
    #[arg(long, alias = "first", value_name = "N")]
    pub(super) limit: Option<usize>,
    /// End an agent after this time, unless its task sets a shorter one [default: the setting `limits.attempt_time`].
    #[arg(long, value_name = "DURATION", value_parser = hob_config::parse_duration)]
    pub(super) time: Option<std::time::Duration>,
    /// Use this machine in place of the image that a task's Dockerfile builds; `RUN` lines are not run.
    #[arg(long)]
    pub(super) assume_built: bool,
    /// Take the repositories of SWE-bench's instances from this folder, where they are clones named OWNER__NAME, OWNER/NAME or NAME.
    #[arg(long, value_name = "DIR")]
    pub(super) repositories: Option<PathBuf>,
    /// Run the tests of SWE-bench's instances with this command, such as `python -m pytest {tests}`.
    #[arg(long, value_name = "COMMAND")]
    pub(super) test_command: Option<String>,
    /// Play each task's `recording.json` instead of asking a model, which shows that the tasks can be solved.
    #[arg(long, conflicts_with = "record")]
    pub(super) recorded: bool,
    /// Approve every action that is not denied; without it such an action ends the trial.
    #[arg(long)]
    pub(super) auto_approve: bool,
    #[command(flatten)]
    pub(super) record: RecordArgs,
}

/// What takes an agent's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum BaselineArg {
    /// Nothing is done.
    Nothing,
    /// The task's own solution.
    Solution,
}

impl BaselineArg {
    /// The name in the results.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Solution => "solution",
        }
    }
}

/// The subcommands of `hob eval`.
#[derive(Debug, Subcommand)]
pub(super) enum EvalCommand {
    /// Have an agent work on tasks with hidden tests, several at once, and report how many it solves and what that costs.
    ///
    /// PATH is a task's folder in Harbor's format (task.toml, instruction.md, environment/, tests/), a folder of tasks, or a file of SWE-bench's
    /// instances, whose repositories are on this machine. Any agent can be evaluated. The tests run in a box that the agent cannot see. An
    /// interrupted run continues where it stopped. The exit code is 8 if a task was not judged: it cannot be tried here, or did not finish.
    Run(Box<TasksArgs>),
    /// Compare evaluations: a line for each, and for two of them the tasks that only one solved, by pairs.
    Compare(CompareArgs),
    /// Route labelled issues, and report how often the right profile was chosen, how sure the router was, and how long it
    /// took.
    ///
    /// A line of FILE is a JSON object with `title`, `body`, `labels` (a list) and `profile`, which is null where no profile
    /// fits. Invalid lines are reported and skipped.
    Routing(RoutingArgs),
    /// Have the reviewer read changes with known defects, and report what it found, what it missed, and its false alarms.
    ///
    /// A line of FILE is a JSON object with `id`, `language`, `issue`, `patch` and `defect` (`file`, `line`, `kind`, `severity`), which
    /// is null if nothing is wrong. `lab/review/corpus.jsonl` of Hob's repository is such a file. The model is asked at least
    /// once a line, which costs money.
    Review(ReviewArgs),
}

/// `hob eval review`.
#[derive(Debug, Args)]
pub(super) struct ReviewArgs {
    /// The changes, one JSON object a line.
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// The model to ask, such as `anthropic/MODEL` or `cassette/PATH`, in place of the reviewer's own.
    #[arg(long, value_name = "MODEL")]
    pub(super) model: Option<String>,
}

/// `hob eval routing`.
#[derive(Debug, Args)]
pub(super) struct RoutingArgs {
    /// The labelled issues, one JSON object a line.
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// The folder with the profiles, one Markdown file each.
    #[arg(long, value_name = "DIR")]
    pub(super) profiles: PathBuf,
}

/// `hob eval compare`.
#[derive(Debug, Args)]
pub(super) struct CompareArgs {
    /// Folders with the results of evaluations.
    #[arg(value_name = "RESULTS", required = true, num_args = 1..)]
    pub(super) results: Vec<PathBuf>,
}
