//! The flags of the commands that tell something of Hob itself.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use clap_complete::Shell;

/// `hob completions`.
#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell.
    #[arg(value_name = "SHELL")]
    pub(super) shell: Shell,
}

/// `hob models`.
#[derive(Debug, Args)]
pub(super) struct ModelsArgs {
    /// List only models whose names hold this text, or else what is known of a model of this name.
    #[arg(value_name = "NAME")]
    pub(super) name: Option<String>,
}

/// `hob man`.
#[derive(Debug, Args)]
pub(super) struct ManArgs {
    /// The folder; it is created if it does not exist.
    #[arg(value_name = "DIR")]
    pub(super) folder: PathBuf,
}

/// The subcommands of `hob config`.
#[derive(Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// Print what differs from the defaults, and where each value comes from.
    Show {
        /// Print every setting with its effective value instead.
        #[arg(long)]
        all: bool,
    },
    /// Print the JSON schema of a settings file, for editors.
    Schema {
        /// Whose file: the operator's, or a repository's `.github/hob.toml`.
        #[arg(value_name = "FILE", default_value = "operator")]
        file: SettingsFile,
    },
}

/// A file of settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum SettingsFile {
    /// The operator's, with Hob's settings.
    #[value(alias = "process")]
    Operator,
    /// `.github/hob.toml`.
    Repository,
}
