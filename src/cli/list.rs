//! `hob list`, and `hob run --dry-run`, which is the same: what would be taken, in order, and why the rest is not.

use crate::{
    cli::{
        args::Shared,
        output,
        setup::{Listen, Setup},
    },
    forge::Access,
};

pub(super) async fn list(setup: Setup, shared: Shared) -> anyhow::Result<()> {
    let trigger = setup.settings.labels.trigger.clone();
    let worker = setup.worker(&shared, Access::ReadOnly, None, Listen::nobody()).await?;
    let found = worker.explain_all().await?;
    if shared.json {
        return output::json(&found);
    }
    if found.is_empty() {
        anstream::println!("No open issue of {} has the label `{trigger}`.", worker.forge().repo());
        return Ok(());
    }
    let rows: Vec<_> = found
        .iter()
        .map(|issue| {
            let place = issue.place.map_or_else(|| "-".to_owned(), |place| place.to_string());
            let state = issue.state.map_or_else(|| "new".to_owned(), |state| state.to_string());
            vec![place, format!("#{}", issue.issue), state, issue.title.chars().take(40).collect(), issue.why.clone()]
        })
        .collect();
    output::table(&["order", "issue", "state", "title", "what Hob would do"], &rows);
    Ok(())
}
