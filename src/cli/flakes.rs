//! `hob flakes`: the checks and tests that fail on unchanged code at times, as the repository's record knows them.

use hob_domain::{Flake, FlakeName, Rate, Timestamp};
use hob_forge::Access;
use hob_text::terminal;
use serde::Serialize;

use crate::cli::{
    args::Shared,
    json, layout,
    setup::{Listen, Setup},
};

/// What is known of a repository.
#[derive(Debug, Serialize)]
struct Known {
    repository: String,
    flakes: Vec<Shown>,
}

/// One flake.
#[derive(Debug, Serialize)]
struct Shown {
    check: String,
    test: Option<String>,
    failed: u32,
    runs: u32,
    last_failed: Timestamp,
}

impl From<&Flake> for Shown {
    fn from(flake: &Flake) -> Self {
        let Flake { name: FlakeName { check, test }, rate: Rate { failed, runs }, at } = flake.clone();
        Self { check, test, failed, runs, last_failed: at }
    }
}

pub(super) async fn flakes(setup: Setup, shared: Shared) -> anyhow::Result<()> {
    let label = setup.settings.labels.trigger.clone();
    let worker = setup.worker(&shared, Access::ReadOnly, None, Listen::nobody()).await?;
    let flakes = worker.forge().repository_ledger().latest().await?.map(|record| record.flakes).unwrap_or_default();
    if shared.json {
        let flakes = flakes.iter().map(Shown::from).collect();
        return json::result(&Known { repository: worker.forge().repo().to_string(), flakes });
    }
    if flakes.is_empty() {
        return Ok(layout::paragraph("No check was seen to fail and pass on the same base.")?);
    }
    let mut table = layout::Table::new(&["failed", "last"], &["check", "test"]);
    for Flake { name: FlakeName { check, test }, rate, at } in flakes.iter() {
        let test = test.as_deref().map(terminal).unwrap_or_default().to_string();
        table.row(vec![rate.to_string(), at.format("%Y-%m-%d").to_string(), terminal(check).to_string(), test]);
    }
    table.print()?;
    let repair = format!("To have one repaired, open an issue that names it, with the label `{}`.", terminal(&label));
    Ok(layout::paragraph(&repair)?)
}
