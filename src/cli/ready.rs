//! `hob status --ready`: the issues that may be claimed now, for an engine that starts a `hob run ISSUE` for each.

use hob_forge::Access;
use hob_text::{count, terminal};
use hob_worker::{Preflight, ReadyIssue, WorkError, Worker, longest_attempt, ready, schedule_trouble};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::cli::{
    args::Shared,
    issue_args::PartArgs,
    json,
    layout::Table,
    output::{self, WARN, styled},
    progress::{self, Addresses, Show, View},
    screen::Screen,
    setup::{Listen, Setup},
    signals::stop_on_signal,
    summary::Report,
};

/// The event of a run that a schedule started.
const SCHEDULE: &str = "schedule";

#[derive(Debug, Serialize)]
struct Listed<'a> {
    issues: &'a [ReadyIssue],
    /// The number of issues beyond `--limit`.
    more: usize,
    /// The longest time in minutes that an attempt takes in any of their repositories, by the settings; `None` if no
    /// issue is listed.
    attempt_minutes: Option<u64>,
    /// The problem with the schedule that starts Hob, if something else started this run.
    schedule: Option<String>,
}

pub(super) async fn run(setup: Setup, shared: Shared, args: PartArgs, screen: Screen) -> anyhow::Result<()> {
    let cancel = CancellationToken::new();
    stop_on_signal(cancel.clone(), screen.clone());
    let report = Report::new(&setup);
    let asks_for_schedule = setup.standard.event.as_deref().is_some_and(|event| event != SCHEDULE);
    // The result is one value at the end, so progress goes to standard error even with `--json`.
    let view = View {
        show: Show::Lines(shared.verbosity()),
        naming: output::Naming::Several,
        addresses: Addresses::Last,
        grouping: report.grouping(1),
        keeps: 0,
    };
    let (events, _watch) = progress::sink(view, &screen, &cancel);
    let approval = hob_agent::Approval::Nobody;
    let pool = setup
        .pool(&shared, Access::ReadWrite, None, Preflight::BeforeWork, |_| Listen {
            events,
            watcher: None,
            cancel,
            approval,
        })
        .await?;
    let (mut issues, mut failed, mut longest, mut schedule) = (Vec::new(), None, None, None);
    for worker in pool.workers().await? {
        if asks_for_schedule && schedule.is_none() {
            schedule = schedule_trouble(&worker).await;
        }
        match found(&worker, &args).await {
            Ok((found, minutes)) => {
                issues.extend(found);
                longest = longest.max(minutes);
            }
            // The failure of one repository does not hide the others.
            Err(error) => {
                failed = failed.or(Some(anyhow::Error::from(error).context(worker.forge().repo().to_string())));
            }
        }
    }
    screen.close();
    let limit = args.limit.unwrap_or(usize::MAX).min(issues.len());
    let more = issues.len() - limit;
    issues.truncate(limit);
    if failed.is_none() || !issues.is_empty() {
        print(&shared, &Listed { issues: &issues, more, attempt_minutes: longest, schedule })?;
    }
    failed.map_or(Ok(()), Err)
}

/// The issues of one repository, and the minutes of its longest attempt, if there are any.
async fn found(worker: &Worker, args: &PartArgs) -> Result<(Vec<ReadyIssue>, Option<u64>), WorkError> {
    let mut issues = ready(worker).await?;
    issues.retain(|one| args.shard.is_none_or(|shard| shard.has(one.issue)));
    if issues.is_empty() {
        return Ok((issues, None));
    }
    let minutes = longest_attempt(worker).await?.as_secs().div_ceil(60);
    Ok((issues, Some(minutes)))
}

fn print(shared: &Shared, listed: &Listed<'_>) -> anyhow::Result<()> {
    if shared.json {
        return json::result(listed);
    }
    if let Some(trouble) = &listed.schedule {
        output::note(styled(WARN, &terminal(trouble)));
    }
    if listed.issues.is_empty() {
        return Ok(output::line("No issue can be claimed now; `hob status` says why.")?);
    }
    let mut table = Table::new(&["repository", "issue"], &["title"]);
    for ReadyIssue { repo, issue, title } in listed.issues {
        table.row(vec![repo.to_string(), format!("#{issue}"), title.clone()]);
    }
    table.print()?;
    if listed.more > 0 {
        output::note(format!("and {}", count(listed.more, "more issue")));
    }
    Ok(())
}
