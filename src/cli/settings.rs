//! `hob settings`.

use crate::cli::{about_args::SettingsArgs, args::Shared, json, output, settings_schema, setup::Setup};

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
