//! Results for programs.

use serde::Serialize;

/// One JSON value on standard output.
pub(super) fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    anstream::println!("{}", serde_json::to_string_pretty(value)?);
    Ok(())
}
