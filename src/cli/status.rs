//! `hob status`.

use hob_domain::{
    Corrections, Durations, Full, LineProposal, Memory, Record, RepositoryRecord, remaining, routing_is_off,
};
use hob_forge::Access;
use hob_text::{count, terminal};
use hob_worker::{Worker, explain, repository_record};
use serde_json::{Value, json};

use crate::cli::{
    args::Shared,
    json,
    layout::{self, Table},
    output::{self, BOLD, DIM, Unwritable, styled},
    setup::{Listen, Setup},
    status_args::StatusArgs,
};

pub(super) async fn status(setup: Setup, shared: Shared, args: &StatusArgs) -> anyhow::Result<()> {
    let access = if args.forget_memory { Access::ReadWrite } else { Access::ReadOnly };
    let pool = setup.pool(&shared, access, None, |_| Listen::nobody()).await?;
    let workers = pool.workers().await?;
    let naming = output::Naming::new(workers.len());
    let (mut issues, mut repositories, mut failed) = (Vec::new(), Vec::new(), None);
    for worker in &workers {
        let repo = worker.forge().repo();
        match look(worker, args).await {
            Ok((found, record)) if shared.json => {
                for (title, record) in &found {
                    let mut issue = json::with_repo(repo, record)?;
                    issue["title"] = title.as_str().into();
                    issues.push(issue);
                }
                repositories.push(json::with_repo(repo, &day(worker, record.as_ref()))?);
            }
            Ok((found, record)) => {
                output::heading(repo, naming)?;
                print(worker, found)?;
                print_day(worker, record.as_ref())?;
            }
            // The failure of one repository does not hide the others.
            Err(error) => failed = failed.or(Some(anyhow::Error::from(error).context(repo.to_string()))),
        }
    }
    if shared.json && (failed.is_none() || !repositories.is_empty()) {
        json::result(&json!({ "issues": issues, "repositories": repositories, "rates": pool.rates() }))?;
    }
    if !shared.json {
        // On standard error, because it is not part of the result.
        pool.rates().iter().for_each(|rate| output::note(styled(DIM, &output::rate(rate))));
    }
    failed.map_or(Ok(()), Err)
}

/// The issues in progress with their titles, and the repository's own record.
type Found = (Vec<(String, Record)>, Option<RepositoryRecord>);

async fn look(worker: &Worker, args: &StatusArgs) -> Result<Found, hob_worker::WorkError> {
    if args.forget_memory {
        hob_worker::forget(worker).await?;
    }
    Ok((explain::unfinished(worker).await?, repository_record(worker).await?))
}

fn print(worker: &Worker, found: Vec<(String, Record)>) -> Result<(), Unwritable> {
    if found.is_empty() {
        return layout::paragraph(&format!("No issue is in progress in {}.", worker.forge().repo()));
    }
    let now = worker.forge().now();
    let mut table = Table::new(&["issue", "state", "attempt", "pull"], &["spent", "lease", "title"]);
    for (title, record) in found {
        let lease = record.lease.as_ref().map_or_else(
            || "-".to_owned(),
            |lease| format!("{} ({} s left)", lease.worker, remaining(&record, now).as_secs()),
        );
        let pull = record.pull.number.map_or_else(|| "-".to_owned(), |pull| format!("#{pull}"));
        table.row(vec![
            format!("#{}", record.issue),
            record.state.to_string(),
            record.attempts.now.to_string(),
            pull,
            record.spend.to_string(),
            lease,
            title,
        ]);
    }
    table.print()
}

/// The kill switch, the day's spend, the circuit breakers, how long things took, the memory and the corrections, for programs.
fn day(worker: &Worker, record: Option<&RepositoryRecord>) -> Value {
    let bill = record.map(|record| record.day_bill(worker.forge().now()).total()).unwrap_or_default();
    json!({
        "paused": record.and_then(|record| record.paused.as_ref()),
        "today": bill,
        "down": record.map(|record| record.outages.open().collect::<Vec<_>>()).unwrap_or_default(),
        "times": times(&record.map(|record| record.durations.clone()).unwrap_or_default()),
        "routing_off_until": record.and_then(|record| record.failed_loads.off_until(worker.forge().now())),
        "memory": record.map(|record| facts(&record.memory)).unwrap_or_default(),
        "corrections": record.map(|record| corrections(&record.corrections)).unwrap_or_default(),
    })
}

fn times(durations: &Durations) -> Value {
    let Durations { loads, hand_offs, pull_requests } = durations;
    json!({
        "loads": loads.percentiles(), "hand_offs": hand_offs.percentiles(), "pull_requests": pull_requests.percentiles(),
    })
}

fn corrections(corrections: &Corrections) -> Vec<Value> {
    let correction = |one: &hob_domain::Correction| {
        let said: Vec<Value> = [Some(&one.first), one.again.as_ref()]
            .into_iter()
            .flatten()
            .map(|remark| json!({ "by": remark.by, "pull_request": remark.pull }))
            .collect();
        let opened = match one.proposal {
            Some(LineProposal::Opened(pull)) => Some(pull),
            Some(LineProposal::Begun(_) | LineProposal::Dropped) | None => None,
        };
        let is_dropped = one.proposal == Some(LineProposal::Dropped);
        json!({ "text": one.first.text, "said": said, "proposed": opened, "dropped": is_dropped, "at": one.at })
    };
    corrections.iter().map(correction).collect()
}

fn facts(memory: &Memory) -> Vec<Value> {
    let fact = |fact: &hob_domain::Fact| {
        json!({
            "kind": fact.kind, "command": fact.command, "seconds": fact.seconds(), "days": fact.days, "issue": fact.issue,
            "at": fact.at,
        })
    };
    memory.facts().map(fact).collect()
}

/// The kill switch, the circuit breakers, the day's spend, and the number of remembered facts.
fn print_day(worker: &Worker, record: Option<&RepositoryRecord>) -> Result<(), Unwritable> {
    let Some(record) = record else { return Ok(()) };
    if let Some(pause) = &record.paused {
        layout::paragraph(&styled(BOLD, &terminal(&Full::Paused(pause.clone()).to_string())))?;
    }
    let now = worker.forge().now();
    if let Some(until) = record.failed_loads.off_until(now) {
        layout::paragraph(&styled(BOLD, &routing_is_off(until)))?;
    }
    for down in record.outages.open() {
        layout::paragraph(&styled(BOLD, &terminal(&down.to_string())))?;
    }
    let bill = record.day_bill(now);
    layout::paragraph(&format!("Today: {bill}."))?;
    let lists = "`hob status --json` lists them, `hob status --forget-memory` forgets them.";
    match record.memory.facts().count() {
        0 => {}
        facts => {
            layout::paragraph(&format!("Agents are told {} from merged work: {lists}", count(facts, "fact")))?;
        }
    }
    match record.corrections.iter().count() {
        0 => Ok(()),
        all => layout::paragraph(&format!("Reviews of merged work had {}: {lists}", count(all, "correction"))),
    }
}
