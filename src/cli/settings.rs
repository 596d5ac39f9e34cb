//! `hob settings`.

use crate::cli::{args::Shared, json, output, setup::Setup};

/// Prints every setting with its effective value.
pub(super) fn settings(setup: &Setup, shared: &Shared) -> anyhow::Result<()> {
    if shared.json {
        return json::result(&setup.settings);
    }
    Ok(output::line(toml::to_string(&setup.settings)?.trim_end())?)
}
