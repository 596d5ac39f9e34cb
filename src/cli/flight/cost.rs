//! Tables of what the work cost.

use hob_domain::{Spend, dollars};
use serde::Serialize;

use crate::cli::flight::told::Told;

/// A table.
#[derive(Debug, Serialize)]
pub(super) struct Costs {
    /// What its rows are.
    pub(super) what: &'static str,
    /// What is beside their names.
    pub(super) by: &'static str,
    pub(super) rows: Vec<Cost>,
}

/// A row.
#[derive(Debug, Serialize)]
pub(super) struct Cost {
    name: Told,
    by: Told,
    usd: String,
    input: u64,
    output: u64,
}

impl Cost {
    /// The row of what `name` cost.
    pub(super) fn new(name: Told, by: Told, spend: Spend) -> Self {
        let Spend { usd_micros, input_tokens, output_tokens, wall_seconds: _ } = spend;
        Self { name, by, usd: dollars(usd_micros), input: input_tokens, output: output_tokens }
    }
}
