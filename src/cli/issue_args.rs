//! The arguments of the commands about issues.

use std::{path::PathBuf, time::Duration};

use clap::{Args, ValueEnum, builder::PossibleValuesParser};
use hob_domain::IssueNumber;

use crate::cli::shard::Shard;

/// The states that `hob status` lists: an issue without a ledger is new.
pub(super) const STATES: [&str; 7] = ["new", "ready", "assigned", "in-progress", "in-review", "blocked", "done"];

/// `hob status`.
#[derive(Debug, Default, Args)]
pub(super) struct StatusArgs {
    /// List only the issues in this state. May be repeated.
    #[arg(long, value_name = "STATE", value_parser = PossibleValuesParser::new(STATES))]
    pub(super) state: Vec<String>,
    /// List only the issues whose ledger has not moved for this long, such as 2d.
    #[arg(long, value_name = "DURATION", value_parser = hob_config::parse_duration)]
    pub(super) since: Option<Duration>,
    /// List only the issues that may be claimed now, for an engine that starts a `hob run ISSUE` for each.
    ///
    /// First does what every poll does: takes answers, finishes merged work and repairs what a dead worker left. Claims nothing.
    /// An empty list is a success. With --json the result is one line, which `fromJSON` of a workflow reads.
    #[arg(long, conflicts_with_all = ["state", "since", "forget_memory"])]
    pub(super) ready: bool,
    #[command(flatten)]
    pub(super) part: PartArgs,
    /// First forget what Hob saw work in the repositories, such as commands of tests and times of checks, and what
    /// maintainers corrected in reviews.
    #[arg(long)]
    pub(super) forget_memory: bool,
    /// Draw it in place on the terminal until Ctrl-C, one line an issue, and look again as often as polls do.
    #[arg(long, conflicts_with_all = ["ready", "forget_memory", "json"])]
    pub(super) watch: bool,
    /// How much is shown beside the issues.
    #[arg(skip)]
    pub(super) shows: Shows,
}

/// What `hob status` shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Shows {
    /// The issues, the day, and what is left of the rate limits.
    #[default]
    Everything,
    /// The issues alone, as `hob run --dry-run` does.
    Queue,
}

/// The part of the issues that may be claimed.
#[derive(Debug, Default, Args)]
pub(super) struct PartArgs {
    /// With `--ready`, list at most this many issues, from the front of the queue.
    #[arg(long, value_name = "N")]
    pub(super) limit: Option<usize>,
    /// With `--ready`, list only this part of all issues, by their numbers: 1/4 to 4/4 are four parts.
    #[arg(long, value_name = "I/N")]
    pub(super) shard: Option<Shard>,
}

/// `hob explain`.
#[derive(Debug, Args)]
pub(super) struct ExplainArgs {
    /// The number of the issue.
    #[arg(value_name = "ISSUE")]
    pub(super) issue: IssueNumber,
    /// Print the issue's ledger instead, one line per step.
    #[arg(long)]
    pub(super) history: bool,
}

/// `hob audit`.
#[derive(Debug, Args)]
pub(super) struct AuditArgs {
    /// The number of the issue [default: all that have a ledger].
    #[arg(value_name = "ISSUE")]
    pub(super) issue: Option<IssueNumber>,
    /// Write the issue's flight record to this file: one HTML page for a bug report.
    ///
    /// It has the issue's life, checks and costs, and from the sessions of this machine what its agents said and did. `-` is standard
    /// output.
    #[arg(long, value_name = "FILE", requires = "issue", conflicts_with = "json")]
    pub(super) html: Option<PathBuf>,
}

/// `hob outcomes`.
#[derive(Debug, Args)]
pub(super) struct OutcomesArgs {
    /// Print a row for each of these.
    #[arg(long, value_name = "GROUP", default_value = "agent")]
    pub(super) by: GroupedBy,
    /// Print CSV instead, a line for each issue.
    #[arg(long, conflicts_with = "json")]
    pub(super) csv: bool,
}

/// What `hob outcomes` groups by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum GroupedBy {
    Agent,
    Model,
    Profile,
    Label,
    Week,
}

/// `hob verify`.
#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// The number of a pull request or of its issue, whose statement is in the ledger; or a file with a statement in its envelope.
    #[arg(value_name = "PULL|FILE")]
    pub(super) target: String,
    /// Make the four runs again, in the same tier of the sandbox, and say what differs.
    #[arg(long)]
    pub(super) rerun: bool,
    /// The public Ed25519 key that has to have signed it: a `.pub` file, or OpenSSH's allowed signers.
    #[arg(long, value_name = "FILE")]
    pub(super) key: Option<PathBuf>,
}

/// `hob answer`.
#[derive(Debug, Args)]
pub(super) struct AnswerArgs {
    /// The number of the issue.
    #[arg(value_name = "ISSUE")]
    pub(super) issue: IssueNumber,
    /// Answer this: the agent's next brief contains it beside the question. Without it, the issue is tried again unchanged, as
    /// by the comment `/hob retry`.
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

#[cfg(test)]
mod tests {
    use hob_domain::State;

    use super::*;

    #[test]
    fn every_state_can_be_asked_for() {
        let states: Vec<String> = State::ALL.iter().map(State::to_string).collect();
        assert_eq!(STATES[1..], states);
    }
}
