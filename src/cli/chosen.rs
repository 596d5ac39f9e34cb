//! `hob run ISSUE…`: one attempt at each of the given issues.

use std::collections::BTreeMap;

use hob_agent::session::{SessionRecord, Sessions};
use hob_domain::{IssueNumber, RepoName, RunId, Spend, investigation::Confidence};
use hob_forge::Access;
use hob_text::count;
use hob_worker::{Concurrency, WorkedOn, explain, work_on};
use serde::Serialize;

use crate::cli::{
    alone,
    args::Shared,
    around::{Around, tell_people},
    exit::{Exit, fatal},
    explain::next_step,
    json,
    layout::Table,
    output::{self, Unwritable},
    progress::{Show, Verbosity, Watch},
    run_args::RunArgs,
    screen::Screen,
    sessions,
    setup::{Listen, Setup},
};

pub(super) async fn work(mut setup: Setup, shared: Shared, args: RunArgs, screen: Screen) -> anyhow::Result<()> {
    let numbers = each_once(&args.issues);
    // This may be the job of such an executor, with the same settings.
    setup.settings.executor.clear();
    let around = Around::begin(&setup, args.metrics, args.auto_approve.into(), screen)?;
    let show = if shared.json { Show::Both(shared.verbosity()) } else { Show::Lines(shared.verbosity()) };
    let jobs = if args.sequential { 1 } else { setup.settings.jobs.min(numbers.len()) };
    let (listen, watch) = around.listen(show, output::Naming::One, jobs);
    let sessions = sessions::open(&setup);
    let before = bills(&sessions);
    let worker = setup.worker(&shared, Access::ReadWrite, args.agent, listen).await?;
    let concurrency = if args.sequential { Concurrency::Sequential } else { Concurrency::Parallel };
    let done = work_on(&worker, &numbers, concurrency).await;
    around.end(&watch, done.as_ref().ok().map(|(_, summary)| summary)).await?;
    let (issues, summary) = done?;
    let repo = worker.forge().repo();
    let worked: Vec<Worked> = issues.iter().map(|one| worked(one, repo, &sessions, &before, &watch)).collect();
    if shared.verbosity() != Verbosity::Quiet {
        tell_people(&summary);
    }
    if shared.json {
        json::result(&worked)?;
    } else {
        print(&worked)?;
    }
    let short = issues.iter().filter(|issue| !issue.state.is_success()).count();
    if short > 0 {
        let reason = format!("{short} of {} did not get a pull request", count(issues.len(), "issue"));
        return Err(fatal(Exit::Unfinished, reason));
    }
    Ok(())
}

/// The numbers in the given order, without duplicates.
fn each_once(given: &[IssueNumber]) -> Vec<IssueNumber> {
    let mut numbers: Vec<IssueNumber> = Vec::new();
    for number in given {
        if !numbers.contains(number) {
            numbers.push(*number);
        }
    }
    numbers
}

/// An issue at the end of the run, for programs: its result, and the work of its agents on this machine.
#[derive(Debug, Serialize)]
struct Worked<'a> {
    #[serde(flatten)]
    one: &'a WorkedOn,
    /// The attempt of this run; `None` if no agent began.
    run_id: Option<RunId>,
    /// The final text of its last run's agent.
    summary: Option<String>,
    /// The confidence of an investigation's result.
    confidence: Option<Confidence>,
    usd: f64,
    /// The cost of this run.
    spend: Spend,
}

/// The cost of each session.
fn bills(sessions: &Sessions) -> BTreeMap<RunId, Spend> {
    sessions.list().into_iter().map(|record| (record.id.clone(), record.bill())).collect()
}

fn worked<'a>(
    one: &'a WorkedOn,
    repo: &RepoName,
    sessions: &Sessions,
    before: &BTreeMap<RunId, Spend>,
    watch: &Watch,
) -> Worked<'a> {
    let of_issue = |record: &SessionRecord| record.issue == one.issue && record.repo == *repo;
    let bills = sessions.list().into_iter().filter(of_issue);
    let spend = bills.fold(Spend::default(), |sum, record| {
        sum + record.bill().since(before.get(&record.id).copied().unwrap_or_default())
    });
    let last = one.session.as_ref();
    let outcome = last.and_then(|id| sessions.record(id)).and_then(|record| record.outcome);
    let case = last.and_then(|id| sessions.investigation(id).ok().flatten());
    Worked {
        one,
        run_id: watch.run_on(one.issue),
        summary: outcome.map(|outcome| alone::said(&outcome).1),
        confidence: case.and_then(|case| case.confidence()),
        usd: spend.usd(),
        spend,
    }
}

fn print(issues: &[Worked<'_>]) -> Result<(), Unwritable> {
    let mut table = Table::new(&["issue", "state", "pull request"], &["cost", "why"]);
    for Worked { one, spend, .. } in issues {
        let pull = one.pull_request.map_or_else(|| "-".to_owned(), |pull| format!("#{pull}"));
        let cost = if *spend == Spend::default() { "-".to_owned() } else { spend.to_string() };
        table.row(vec![format!("#{}", one.issue), one.state.to_string(), pull, cost, one.why.clone()]);
    }
    table.print()
}

/// Prints the next action on each issue.
pub(super) async fn look(setup: Setup, shared: &Shared, given: &[IssueNumber]) -> anyhow::Result<()> {
    let numbers = each_once(given);
    let worker = setup.worker(shared, Access::ReadOnly, None, Listen::nobody()).await?;
    let found = explain::selected(&worker, &numbers).await?;
    if shared.json {
        let absent = |number| serde_json::json!({ "issue": number, "why": "it does not exist or is a pull request" });
        let values = numbers.iter().zip(&found).map(|(number, found)| match found {
            Some(found) => serde_json::to_value(found),
            None => Ok(absent(number)),
        });
        return json::result(&values.collect::<Result<Vec<_>, _>>()?);
    }
    let mut table = Table::new(&["issue", "state"], &["title", "next step"]);
    for (number, found) in numbers.iter().zip(found) {
        let (state, title, step) = match found {
            Some(found) => {
                let state = found.state.map_or_else(|| "new".to_owned(), |state| state.to_string());
                (state, found.title.clone(), next_step(&found))
            }
            None => ("-".to_owned(), "-".to_owned(), "it does not exist or is a pull request".to_owned()),
        };
        table.row(vec![format!("#{number}"), state, title, step]);
    }
    Ok(table.print()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_given_twice_counts_once() {
        assert_eq!(each_once(&[3, 1, 3, 1].map(IssueNumber)), [3, 1].map(IssueNumber));
    }
}
