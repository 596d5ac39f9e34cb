//! `hob config`.

use hob_config::{Given, Settings};
use hob_text::terminal;
use serde_json::json;

use crate::cli::{
    about_args::ConfigCommand,
    args::Shared,
    json,
    output::{self, DIM, styled},
    settings_schema,
    setup::Setup,
};

/// Prints settings, or a schema.
pub(super) fn config(setup: &Setup, shared: &Shared, command: &ConfigCommand) -> anyhow::Result<()> {
    let settings = &setup.settings;
    match command {
        // The schema is a document of its own, with or without `--json`.
        ConfigCommand::Schema { file } => {
            Ok(output::line(serde_json::to_string_pretty(&settings_schema::schema(*file)?)?)?)
        }
        ConfigCommand::Show { all: true } if shared.json => json::result(&settings.to_table()?),
        ConfigCommand::Show { all: true } => Ok(output::line(settings.to_table()?.to_string().trim_end())?),
        ConfigCommand::Show { all: false } if shared.json => json::result(&given(settings)),
        ConfigCommand::Show { all: false } => print(settings),
    }
}

fn given(settings: &Settings) -> serde_json::Value {
    let one = |given: &Given| json!({ "key": given.key, "value": given.value, "default": given.default, "origin": given.origin });
    json!({ "file": settings.file, "given": settings.given.iter().map(one).collect::<Vec<_>>() })
}

/// What the sources give, as a settings file would have it, with the source and the default of each.
fn print(settings: &Settings) -> anyhow::Result<()> {
    let file = match &settings.file {
        Some(file) => format!("# The operator's file is {}.", terminal(&file.display().to_string())),
        None => "# There is no operator's file: docs/settings.md says where it is found.".to_owned(),
    };
    output::line(styled(DIM, &file))?;
    if settings.given.is_empty() {
        return Ok(output::line("# No setting is given: `hob config show --all` prints the defaults.")?);
    }
    for Given { key, value, default, origin } in &settings.given {
        let default = default.as_ref().map(|default| format!("; by default {default}")).unwrap_or_default();
        let from = terminal(&format!("{}{default}", origin.as_deref().unwrap_or("given")));
        output::line(format!("{} {}", terminal(&format!("{key} = {value}")), styled(DIM, &format!("# {from}"))))?;
    }
    Ok(())
}
