//! `hob config`.

use crate::cli::{about_args::ConfigCommand, args::Shared, json, output, settings_schema, setup::Setup};

/// Prints every setting with its effective value, or a schema.
pub(super) fn config(setup: &Setup, shared: &Shared, command: &ConfigCommand) -> anyhow::Result<()> {
    match command {
        // The schema is a document of its own, with or without `--json`.
        ConfigCommand::Schema { file } => {
            Ok(output::line(serde_json::to_string_pretty(&settings_schema::schema(*file)?)?)?)
        }
        ConfigCommand::Show if shared.json => json::result(&setup.settings),
        ConfigCommand::Show => Ok(output::line(toml::to_string(&setup.settings)?.trim_end())?),
    }
}
