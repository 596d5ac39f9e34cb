//! `hob settings`.

use clap::{Args, ValueEnum};

use crate::cli::{args::Shared, json, output, settings_schema, setup::Setup};

/// `hob settings`.
#[derive(Debug, Args)]
pub(super) struct SettingsArgs {
    /// Print the JSON schema of a settings file instead, for editors: of the process's own, or of a repository's `.github/hob.toml`.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "process")]
    schema: Option<SettingsFile>,
}

/// A file of settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum SettingsFile {
    /// The file of `--config`.
    Process,
    /// `.github/hob.toml`.
    Repository,
}

/// Prints every setting with its effective value, or a schema.
pub(super) fn settings(setup: &Setup, shared: &Shared, args: &SettingsArgs) -> anyhow::Result<()> {
    if let Some(file) = args.schema {
        // The schema is a document of its own, with or without `--json`.
        return Ok(output::line(serde_json::to_string_pretty(&settings_schema::schema(file)?)?)?);
    }
    if shared.json {
        return json::result(&setup.settings);
    }
    Ok(output::line(toml::to_string(&setup.settings)?.trim_end())?)
}
