//! The arguments of `hob pause`, `hob resume` and `hob cancel`.

use clap::Args;
use hob_domain::IssueNumber;

/// `hob pause`.
#[derive(Debug, Args)]
pub(super) struct PauseArgs {
    #[command(flatten)]
    pub(super) what: Paused,
    /// Give a reason, shown on the issue and by `hob explain`.
    #[arg(short, long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(super) message: String,
}

/// What is paused.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(super) struct Paused {
    /// The number of the issue, or a session on this machine of `hob agent investigate` or `hob agent run`.
    #[arg(value_name = "ISSUE|SESSION")]
    pub(super) target: Option<Target>,
    /// Pause the repository: no worker claims an issue until it is resumed.
    #[arg(long)]
    pub(super) all: bool,
}

/// `hob cancel`.
#[derive(Debug, Args)]
pub(super) struct CancelArgs {
    /// The number of the issue, or a session on this machine of `hob agent investigate` or `hob agent run`.
    #[arg(value_name = "ISSUE|SESSION")]
    pub(super) target: Target,
}

/// What is paused, resumed or ended.
#[derive(Debug, Clone)]
pub(super) enum Target {
    /// An issue.
    Issue(IssueNumber),
    /// A session: an id, or how one begins.
    Session(String),
}

impl std::str::FromStr for Target {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(text.parse().map_or_else(|_| Self::Session(text.to_owned()), Self::Issue))
    }
}

/// `hob resume`.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(super) struct ResumeArgs {
    /// The number of the issue, or a session on this machine of `hob agent investigate` or `hob agent run`.
    #[arg(value_name = "ISSUE|SESSION")]
    pub(super) target: Option<Target>,
    /// Resume the repository: workers claim issues again. Issues that were paused by their number stay paused.
    #[arg(long)]
    pub(super) all: bool,
}
