//! `hob history ISSUE`.

use hob_domain::{IssueNumber, terminal};
use hob_forge::Access;

use crate::cli::{
    args::Shared,
    exit::{Exit, fatal},
    output,
    progress::state,
    setup::{Listen, Setup},
};

pub(super) async fn history(setup: Setup, shared: Shared, number: IssueNumber) -> anyhow::Result<()> {
    let worker = setup.worker(&shared, Access::ReadOnly, None, Listen::nobody()).await?;
    let entries = worker.forge().ledger().history(number).await?;
    if entries.is_empty() {
        return Err(fatal(Exit::NotFound, format!("issue {number} has no ledger: Hob never claimed it")));
    }
    if shared.json {
        let records: Vec<_> = entries
            .iter()
            .map(|entry| serde_json::json!({ "commit": entry.commit, "sentence": entry.sentence, "record": entry.record }))
            .collect();
        return output::json(&records);
    }
    for entry in entries {
        let at = entry.record.renewed_at.format("%Y-%m-%d %H:%M:%S");
        anstream::println!(
            "{} {} {} {}",
            output::styled(output::DIM, &format!("{at} UTC")),
            output::styled(output::DIM, entry.commit.short()),
            state(entry.record.state),
            terminal(&entry.sentence)
        );
    }
    Ok(())
}
