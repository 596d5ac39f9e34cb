//! The flags of the commands that tell something of Hob itself.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use clap_complete::Shell;

/// `hob completions`.
#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell.
    #[arg(value_name = "SHELL")]
    pub(super) shell: Shell,
}

/// `hob man`.
#[derive(Debug, Args)]
pub(super) struct ManArgs {
    /// The folder; it is created if it does not exist.
    #[arg(value_name = "DIR")]
    pub(super) folder: PathBuf,
}

/// `hob settings`.
#[derive(Debug, Args)]
pub(super) struct SettingsArgs {
    /// Print the JSON schema of a settings file instead, for editors: of the process's own, or of a repository's `.github/hob.toml`.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "process")]
    pub(super) schema: Option<SettingsFile>,
}

/// A file of settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum SettingsFile {
    /// The file of `--config`.
    Process,
    /// `.github/hob.toml`.
    Repository,
}

/// `hob agents`.
#[derive(Debug, Args)]
pub(super) struct AgentsArgs {
    /// Read the operator's profiles from this folder [default: the setting `profiles.folder`].
    #[arg(long, value_name = "DIR")]
    pub(super) profiles: Option<PathBuf>,
}
