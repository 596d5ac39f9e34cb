//! `hob status`.

use hob_domain::{Full, Record, RepositoryRecord, remaining, terminal};
use hob_forge::Access;
use hob_worker::{Worker, explain, repository_record};

use crate::cli::{
    args::Shared,
    output,
    setup::{Listen, Setup},
};

pub(super) async fn status(setup: Setup, shared: Shared) -> anyhow::Result<()> {
    let pool = setup.pool(&shared, Access::ReadOnly, None, |_| Listen::nobody()).await?;
    let workers = pool.workers().await?;
    let naming = output::Naming::of(workers.len());
    let (mut values, mut failed) = (Vec::new(), None);
    for worker in &workers {
        let repo = worker.forge().repo();
        match explain::unfinished(worker).await {
            Ok(found) if shared.json => {
                for (_, record) in &found {
                    values.push(output::with_repo(repo, record)?);
                }
            }
            Ok(found) => {
                output::heading(repo, naming);
                print(worker, found);
                if let Some(record) = repository_record(worker).await? {
                    print_day(worker, &record);
                }
            }
            // The failure of one repository does not hide the others.
            Err(error) => failed = failed.or(Some(anyhow::Error::from(error).context(repo.to_string()))),
        }
    }
    if shared.json && (failed.is_none() || !values.is_empty()) {
        output::json(&values)?;
    }
    // On standard error, because it is not part of the result.
    for rate in pool.rates() {
        anstream::eprintln!("{}", output::styled(output::DIM, &output::rate(&rate)));
    }
    failed.map_or(Ok(()), Err)
}

fn print(worker: &Worker, found: Vec<(String, Record)>) {
    if found.is_empty() {
        anstream::println!("No issue is in progress in {}.", worker.forge().repo());
        return;
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
}

/// The kill switch and today's spend.
fn print_day(worker: &Worker, record: &RepositoryRecord) {
    if let Some(pause) = &record.paused {
        let paused = Full::Paused(pause.clone()).to_string();
        anstream::println!("{}", output::styled(output::BOLD, &terminal(&paused)));
    }
    let bill = record.day_bill(worker.forge().now());
    anstream::println!("Today: {bill}, including the reservations of running attempts.");
}
