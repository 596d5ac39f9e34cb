//! The arguments of `hob status`.

use clap::Args;

/// `hob status`.
#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    /// First forget what Hob saw work in the repositories, such as commands of tests and times of checks, and what
    /// maintainers corrected in reviews.
    #[arg(long)]
    pub(super) forget_memory: bool,
}
