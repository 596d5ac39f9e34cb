//! `hob status`.

use crate::{
    cli::{
        args::Shared,
        output,
        setup::{Listen, Setup},
    },
    domain::remaining,
    forge::Access,
};

pub(super) async fn status(setup: Setup, shared: Shared) -> anyhow::Result<()> {
    let worker = setup.worker(&shared, Access::ReadOnly, None, Listen::nobody()).await?;
    let found = worker.status().await?;
    if shared.json {
        return output::json(&found.into_iter().map(|(_, record)| record).collect::<Vec<_>>());
    }
    if found.is_empty() {
        anstream::println!("Nothing goes on in {}.", worker.forge().repo());
        return Ok(());
    }
    let now = worker.forge().now();
    let rows: Vec<_> = found
        .into_iter()
        .map(|(title, record)| {
            let lease = record.holder.as_ref().map_or_else(
                || "-".to_owned(),
                |holder| format!("{} ({} s left)", holder.worker, remaining(&record, now).as_secs()),
            );
            let pull = record.pull_request.map_or_else(|| "-".to_owned(), |pull| format!("#{pull}"));
            vec![
                format!("#{}", record.issue),
                record.state.to_string(),
                record.attempt.to_string(),
                pull,
                record.spend.to_string(),
                lease,
                title.chars().take(40).collect(),
            ]
        })
        .collect();
    output::table(&["issue", "state", "attempt", "pull request", "spent", "lease", "title"], &rows);
    Ok(())
}
