//! `hob work ISSUE…`: one attempt at each of the given issues.

use hob_domain::IssueNumber;
use hob_forge::Access;
use hob_worker::{Concurrency, IssueResult, WorkedOn, explain, work_on};
use tokio_util::sync::CancellationToken;

use crate::cli::{
    args::{Shared, WorkArgs},
    ask,
    exit::{Exit, fatal},
    output,
    progress::{self, Show},
    run::{stop_on_signal, tell_people},
    screen::Screen,
    setup::{Listen, Setup},
    summary,
};

pub(super) async fn work(mut setup: Setup, shared: Shared, args: WorkArgs) -> anyhow::Result<()> {
    if let Some(jobs) = args.parallel {
        setup.settings.limits.jobs = jobs.into();
    }
    setup.record = args.record.folder()?;
    let numbers = each_once(&args.issues);
    if args.dry_run {
        return look(setup, &shared, &numbers).await;
    }
    let step_summary = setup.standard.step_summary.clone();
    let cancel = CancellationToken::new();
    stop_on_signal(cancel.clone());
    // The result is one value at the end, so progress goes to standard error even with `--json`.
    let screen = Screen::default();
    let keeps = if step_summary.is_some() { progress::SUMMARY } else { 0 };
    let (events, log) = progress::sink(Show::Lines, output::Naming::One, keeps, &screen);
    let approval = ask::approval(args.auto_approve.into(), setup.settings.limits.approval_time, &screen);
    let listen = Listen { events, cancel, approval };
    let worker = setup.worker(&shared, Access::ReadWrite, args.agent, listen).await?;
    let concurrency = if args.sequential { Concurrency::Sequential } else { Concurrency::Parallel };
    let done = work_on(&worker, &numbers, concurrency).await;
    if let Some(path) = step_summary {
        summary::append(&path, &log, done.as_ref().ok().map(|(_, summary)| summary))?;
    }
    let (issues, summary) = done?;
    tell_people(&summary);
    if shared.json {
        output::json(&issues)?;
    } else {
        print(&issues);
    }
    let short = issues.iter().filter(|issue| issue.state != IssueResult::Completed).count();
    if short > 0 {
        let reason = format!("{short} of {} issue(s) did not get a pull request", issues.len());
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

fn print(issues: &[WorkedOn]) {
    let rows: Vec<_> = issues
        .iter()
        .map(|one| {
            let pull = one.pull_request.map_or_else(|| "-".to_owned(), |pull| format!("#{pull}"));
            vec![format!("#{}", one.issue), one.state.to_string(), pull, one.why.clone()]
        })
        .collect();
    output::table(&["issue", "state", "pull request", "why"], &rows);
}

/// Prints what would be done about each issue.
async fn look(setup: Setup, shared: &Shared, numbers: &[IssueNumber]) -> anyhow::Result<()> {
    let worker = setup.worker(shared, Access::ReadOnly, None, Listen::nobody()).await?;
    let found = explain::selected(&worker, numbers).await?;
    if shared.json {
        let absent = |number| serde_json::json!({ "issue": number, "why": "it does not exist or is a pull request" });
        let values = numbers.iter().zip(&found).map(|(number, found)| match found {
            Some(found) => serde_json::to_value(found),
            None => Ok(absent(number)),
        });
        return output::json(&values.collect::<Result<Vec<_>, _>>()?);
    }
    let rows: Vec<_> = numbers
        .iter()
        .zip(found)
        .map(|(number, found)| match found {
            Some(found) => {
                let state = found.state.map_or_else(|| "new".to_owned(), |state| state.to_string());
                vec![format!("#{number}"), state, found.title.chars().take(40).collect(), found.why]
            }
            None => {
                let why = "it does not exist or is a pull request";
                vec![format!("#{number}"), "-".to_owned(), "-".to_owned(), why.to_owned()]
            }
        })
        .collect();
    output::table(&["issue", "state", "title", "next step"], &rows);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_given_twice_counts_once() {
        assert_eq!(each_once(&[3, 1, 3, 1].map(IssueNumber)), [3, 1].map(IssueNumber));
    }
}
