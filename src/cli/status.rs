//! `hob status` and `hob run --dry-run`: the issues in the order of the queue, what runs, what waits for whom, what was spent.

use std::collections::BTreeMap;

use hob_domain::{DayBill, IssueNumber, Record, RepoName, RepositoryRecord, Spend, State, Timestamp, dollars};
use hob_forge::Access;
use hob_text::{count, terminal};
use hob_words::age;
use hob_worker::{
    Explained, Preflight, WorkError, Worker,
    explain::{self, Overview},
};
use serde_json::{Value, json};

use crate::cli::{
    args::Shared,
    explain::next_step,
    issue_args::{Shows, StatusArgs},
    json,
    layout::{self, Table, width_of, wrapped},
    output::{self, DIM, styled},
    ready, repository_day,
    screen::Screen,
    setup::{Listen, Setup},
};

/// The length from which a sentence that several issues share is printed once, below the table.
const SHARED_MIN: usize = 40;
/// A cell without a value.
const NOTHING: &str = "-";
/// The column of the issues' numbers.
const ISSUE: usize = 1;

pub(super) async fn status(setup: Setup, shared: Shared, args: StatusArgs, screen: Screen) -> anyhow::Result<()> {
    if args.ready {
        return Box::pin(ready::run(setup, shared, args.part, screen)).await;
    }
    let access = if args.forget_memory { Access::ReadWrite } else { Access::ReadOnly };
    let pool = setup.pool(&shared, access, None, Preflight::BeforeWork, |_| Listen::nobody()).await?;
    let workers = pool.workers().await?;
    let naming = output::Naming::new(workers.len());
    let (mut told, mut all, mut failed) = (Told::default(), Vec::new(), None);
    for worker in &workers {
        match look(worker, &args).await {
            Ok(seen) if shared.json => told.add(worker, &seen)?,
            Ok(seen) => all.push((worker, seen)),
            // The failure of one repository does not hide the others.
            Err(error) => {
                failed = failed.or(Some(anyhow::Error::from(error).context(worker.forge().repo().to_string())))
            }
        }
    }
    if naming == output::Naming::Several && !shared.json {
        layout::paragraph(&overview(&all))?;
        all.retain(|(worker, seen)| {
            !seen.queue.is_empty() || repository_day::is_noteworthy(worker, seen.repository.as_ref())
        });
    }
    for (worker, seen) in &all {
        let repo = worker.forge().repo();
        output::heading(repo, naming)?;
        print(repo, seen, &args)?;
        repository_day::print(worker, seen.repository.as_ref())?;
    }
    let rates = match args.shows {
        // What is left tells nothing beside an error alone.
        Shows::Everything if failed.is_none() || !all.is_empty() || !told.days.is_empty() => pool.rates(),
        Shows::Everything | Shows::Queue => Vec::new(),
    };
    if !shared.json {
        // On standard error, because it is not part of the result.
        rates.iter().for_each(|rate| output::note(styled(DIM, &output::rate(rate))));
    } else if failed.is_none() || !told.days.is_empty() {
        match args.shows {
            Shows::Everything => json::result(&json!({
                "issues": told.issues, "queue": told.queue, "repositories": told.days, "rates": rates,
            }))?,
            Shows::Queue => json::result(&told.queue)?,
        }
    }
    failed.map_or(Ok(()), Err)
}

/// A repository, as far as it is shown.
pub(super) struct Seen {
    /// When it was looked at.
    pub(super) now: Timestamp,
    /// The label that hands an issue to Hob.
    trigger: String,
    pub(super) queue: Vec<Explained>,
    /// The issues in progress, with their titles.
    pub(super) unfinished: Vec<(String, Record)>,
    /// The repository's own record; `None` if it has none, or if it is not shown.
    pub(super) repository: Option<RepositoryRecord>,
}

/// Everything that programs are told.
#[derive(Default)]
struct Told {
    issues: Vec<Value>,
    queue: Vec<Value>,
    days: Vec<Value>,
}

impl Told {
    fn add(&mut self, worker: &Worker, seen: &Seen) -> anyhow::Result<()> {
        let repo = worker.forge().repo();
        for (title, record) in &seen.unfinished {
            let mut issue = json::with_repo(repo, record)?;
            issue["title"] = title.as_str().into();
            self.issues.push(issue);
        }
        for issue in &seen.queue {
            self.queue.push(json::with_repo(repo, issue)?);
        }
        self.days.push(json::with_repo(repo, &repository_day::as_json(worker, seen.repository.as_ref()))?);
        Ok(())
    }
}

pub(super) async fn look(worker: &Worker, args: &StatusArgs) -> Result<Seen, WorkError> {
    if args.forget_memory {
        hob_worker::forget(worker).await?;
    }
    let Overview { trigger, mut queue, mut unfinished, repository } = explain::overview(worker).await?;
    let now = worker.forge().now();
    let is_asked_for = |state: &str, since: Option<Timestamp>| {
        (args.state.is_empty() || args.state.iter().any(|asked| asked == state))
            && args
                .since
                .is_none_or(|least| since.is_some_and(|since| (now - since).to_std().is_ok_and(|age| age >= least)))
    };
    queue.retain(|issue| is_asked_for(&state(issue), issue.since));
    unfinished.retain(|(_, record)| is_asked_for(&record.state.to_string(), Some(record.renewed_at)));
    let repository = repository.filter(|_| args.shows == Shows::Everything);
    Ok(Seen { now, trigger, queue, unfinished, repository })
}

/// One line about several repositories: their issues by state, and the day's bill.
fn overview(all: &[(&Worker, Seen)]) -> String {
    let mut states: BTreeMap<String, usize> = BTreeMap::new();
    let mut asked = None;
    for (seen, issue) in all.iter().flat_map(|(_, seen)| seen.queue.iter().map(move |issue| (seen, issue))) {
        *states.entry(state(issue)).or_default() += 1;
        let waits = issue.since.filter(|_| issue.state == Some(State::Blocked)).map(|since| seen.now - since);
        asked = asked.max(waits);
    }
    let issues: Vec<_> = states.iter().map(|(state, count)| format!("{count} {state}")).collect();
    let issues = if issues.is_empty() { "no issues".to_owned() } else { issues.join(", ") };
    let asked = asked.map(|waits| format!("; the oldest question waits for {}", age(waits))).unwrap_or_default();
    let bills = all.iter().filter_map(|(worker, seen)| Some(seen.repository.as_ref()?.day_bill(worker.forge().now())));
    let (spent, reserved) =
        bills.fold(Default::default(), |(spent, reserved), bill| (spent + bill.spent, reserved + bill.reserved));
    format!("{} repositories: {issues}{asked}. Today: {}.", all.len(), DayBill { spent, reserved })
}

pub(super) fn state(issue: &Explained) -> String {
    issue.state.map_or_else(|| "new".to_owned(), |state| state.to_string())
}

fn print(repo: &RepoName, seen: &Seen, args: &StatusArgs) -> anyhow::Result<()> {
    if seen.queue.is_empty() {
        let what = match args.state.as_slice() {
            [] if args.since.is_some() => format!("No issue of {repo} has waited for that long."),
            [] => format!("No open issue of {repo} has the label `{}`.", seen.trigger),
            states => format!("No issue of {repo} is {}.", states.join(" or ")),
        };
        return Ok(layout::paragraph(&what)?);
    }
    let records: BTreeMap<IssueNumber, &Record> =
        seen.unfinished.iter().map(|(_, record)| (record.issue, record)).collect();
    let steps: Vec<String> = seen.queue.iter().map(next_step).collect();
    let notes = repeated(&steps);
    let rows = seen.queue.iter().zip(&steps).map(|(issue, step)| {
        let record = records.get(&issue.issue);
        let or_nothing = |text: Option<String>| text.unwrap_or_else(|| NOTHING.to_owned());
        let note = notes.iter().position(|note| note == step);
        [
            or_nothing(issue.place.map(|place| place.to_string())),
            format!("#{}", issue.issue),
            state(issue),
            or_nothing(issue.since.map(|since| age(seen.now - since))),
            or_nothing(record.and_then(|record| record.pull.number).map(|pull| format!("#{pull}"))),
            or_nothing(record.and_then(|record| cost(record.spend))),
            issue.title.clone(),
            note.map_or_else(|| step.clone(), |at| format!("({})", at + 1)),
        ]
    });
    let links = seen.queue.iter().map(|issue| issue.url.as_str());
    table(rows.collect(), links).print()?;
    for (at, note) in notes.iter().enumerate() {
        if at == 0 {
            output::line("")?;
        }
        let text = format!("({}) {}", at + 1, terminal(note).replace('\n', " "));
        output::line(wrapped(&text, width_of(std::io::stdout()), 4))?;
    }
    if seen.repository.is_some() {
        output::line("")?;
    }
    Ok(())
}

/// The table of these rows. Ages, pull requests and spend are columns only where there are any.
fn table<'a>(rows: Vec<[String; 8]>, links: impl Iterator<Item = &'a str>) -> Table {
    const FIXED: [&str; 6] = ["order", "issue", "state", "since", "pull", "spent"];
    const OPTIONAL: std::ops::Range<usize> = 3..6;
    let is_shown = |at: &usize| !OPTIONAL.contains(at) || rows.iter().any(|row| row[*at] != NOTHING);
    let shown: Vec<usize> = (0..8).filter(is_shown).collect();
    let fixed: Vec<&str> = shown.iter().filter_map(|at| FIXED.get(*at).copied()).collect();
    let mut table = Table::new(&fixed, &["title", "next step"]);
    for (row, link) in rows.into_iter().zip(links) {
        table.link(ISSUE, link);
        table.row(shown.iter().map(|at| row[*at].clone()).collect());
    }
    table
}

/// What was spent: money, else tokens. `None` if that is unknown or nothing.
pub(super) fn cost(spend: Spend) -> Option<String> {
    match (spend.usd_micros, spend.tokens()) {
        (0, 0) => None,
        (0, tokens) => Some(count(tokens, "token")),
        (usd, _) => Some(dollars(usd)),
    }
}

/// The long sentences that several issues have, in the order of the queue.
fn repeated(steps: &[String]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for step in steps {
        let several = steps.iter().filter(|other| *other == step).count() > 1;
        if several && step.chars().count() >= SHARED_MIN && !notes.contains(step) {
            notes.push(step.clone());
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_sentence_that_several_issues_share_is_a_note() {
        let paused = "ann paused the repository (too dear); `hob resume --all` resumes it";
        let steps = [paused, "it would be claimed", "it would be claimed", paused].map(str::to_owned);
        assert_eq!(repeated(&steps), [paused]);
        assert!(repeated(&steps[..2]).is_empty());
    }
}
