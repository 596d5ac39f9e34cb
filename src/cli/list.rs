//! `hob list` and `hob run --dry-run`, which are the same: the queue in its order, and why the other issues wait.

use hob_forge::Access;
use hob_worker::{Explained, Worker, explain};

use crate::cli::{
    args::Shared,
    output,
    setup::{Listen, Setup},
};

pub(super) async fn list(setup: Setup, shared: Shared) -> anyhow::Result<()> {
    let trigger = setup.settings.labels.trigger.clone();
    let pool = setup.pool(&shared, Access::ReadOnly, None, |_| Listen::nobody()).await?;
    let workers = pool.workers().await?;
    let naming = output::Naming::of(workers.len());
    let (mut values, mut failed) = (Vec::new(), None);
    for worker in &workers {
        let repo = worker.forge().repo();
        match explain::all(worker).await {
            Ok(found) if shared.json => {
                for issue in &found {
                    values.push(output::with_repo(repo, issue)?);
                }
            }
            Ok(found) => {
                output::heading(repo, naming);
                print(worker, &found, &trigger);
            }
            // The failure of one repository does not hide the others.
            Err(error) => failed = failed.or(Some(anyhow::Error::from(error).context(repo.to_string()))),
        }
    }
    if shared.json && (failed.is_none() || !values.is_empty()) {
        output::json(&values)?;
    }
    failed.map_or(Ok(()), Err)
}

fn print(worker: &Worker, found: &[Explained], trigger: &str) {
    if found.is_empty() {
        anstream::println!("No open issue of {} has the label `{trigger}`.", worker.forge().repo());
        return;
    }
    let rows: Vec<_> = found
        .iter()
        .map(|issue| {
            let place = issue.place.map_or_else(|| "-".to_owned(), |place| place.to_string());
            let state = issue.state.map_or_else(|| "new".to_owned(), |state| state.to_string());
            vec![place, format!("#{}", issue.issue), state, issue.title.chars().take(40).collect(), issue.why.clone()]
        })
        .collect();
    output::table(&["order", "issue", "state", "title", "next step"], &rows);
}
