//! The report at the end: each issue with its states and times, and its pull request with evidence and diff.

use std::{collections::BTreeMap, sync::PoisonError};

use anyhow::Context;
use hob_domain::{BlockKind, Blocked, ChosenBy, IssueNumber, RouteChoice, State};
use hob_text::{count, terminal};
use hob_worker::WorkEvent;
use serde::Serialize;
use serde_json::Value;

use crate::cli::{
    exit::{Exit, fatal},
    json,
    layout::{width_of, wrapped},
    output::{self, BAD, BOLD, DIM, GOOD, Unwritable, styled},
    progress::{Addresses, Show, Timed},
    rehearsal::stage::{Desk, Stage},
};

/// One issue's part of the account.
#[derive(Debug, Default, Serialize)]
struct Account {
    issue: u64,
    title: String,
    address: Option<String>,
    /// States and refusals, each with the seconds since the start.
    states: Vec<(f64, String)>,
    question: Option<String>,
    answer: Option<String>,
    /// The profile that the router chose, and why.
    routed: Option<String>,
    /// The hand-offs: from whom, to whom, and why.
    handed_over: Vec<String>,
    pull_request: Option<u64>,
    pull_request_address: Option<String>,
    evidence: Option<String>,
    diff: Option<String>,
}

/// The commands to run next, with one's own repository.
const NEXT: [(&str, &str); 4] = [
    ("hob rehearse --folder PATH --task FILE --agent NAME", "the same with a copy of your repository and your agent"),
    ("hob doctor", "in a clone: what is missing for a real run, and how to fix it; needs GITHUB_TOKEN"),
    ("hob run --once --dry-run", "what Hob would do there; writes nothing"),
    ("hob verify PULL", "later: whether a pull request is the one that was proven, and who says so"),
];

/// Prints what happened, from the data on the forge.
pub(in crate::cli) async fn tell(stage: &Stage, desk: &Desk) -> anyhow::Result<()> {
    let mut accounts = collect(stage);
    for account in accounts.values_mut() {
        complete(stage, account).await?;
        if desk.addresses == Addresses::End {
            (account.address, account.pull_request_address) = (None, None);
        }
    }
    let accounts: Vec<_> = accounts.into_values().collect();
    match desk.show {
        Show::Json => json::result(&accounts),
        Show::Lines(_) | Show::Both(_) => {
            accounts.iter().try_for_each(print)?;
            conclude(&accounts)
        }
    }
}

/// Prints the result, and what to do next.
fn conclude(accounts: &[Account]) -> anyhow::Result<()> {
    let of = |is: fn(&Account) -> bool| accounts.iter().filter(|account| is(account)).count();
    let pulls = of(|account| account.pull_request.is_some());
    if pulls == 0 {
        return Ok(());
    }
    let parts = [
        (of(|account| account.states.iter().any(|(_, state)| *state == State::Done.to_string())), "merged"),
        (of(|account| account.answer.is_some()), "after an answer"),
        (of(|account| !account.handed_over.is_empty()), "handed off"),
    ];
    let parts: String =
        parts.iter().filter(|(number, _)| *number > 0).map(|(n, what)| format!(", {n} {what}")).collect();
    let refused = of(|account| account.states.iter().any(|(_, state)| state.starts_with("refused")));
    let refused = if refused > 0 { format!("; {} refused", count(refused, "issue")) } else { String::new() };
    let worked = format!("{}{parts}{refused}.", count(pulls, "pull request"));
    output::line("")?;
    output::line(wrapped(&format!("{} {worked}", styled(GOOD, "It worked:")), width_of(std::io::stdout()), 0))?;
    output::line(format!("\n{}", styled(BOLD, "Next:")))?;
    for (command, what) in NEXT {
        output::line(format!("  {command}"))?;
        output::line(format!("      {}", styled(DIM, what)))?;
    }
    Ok(())
}

/// Checks that a rehearsal with one issue led to a pull request, or to a question that only a person can answer.
pub(in crate::cli) async fn expect_an_end(stage: &Stage) -> anyhow::Result<()> {
    let history = stage.worker.forge().ledger().history(IssueNumber(1)).await?;
    let end = match history.last().map(|entry| &entry.record) {
        None => "the issue was not claimed".to_owned(),
        Some(record) => match (record.state, record.blocked.as_ref()) {
            (State::InReview | State::Done, _) => return Ok(()),
            (State::Blocked, Some(why)) if is_asked(why.reason.kind()) => return Ok(()),
            (State::Blocked, Some(why)) => format!("blocked: {}", why.text.lines().next().unwrap_or_default()),
            (state, _) => format!("{state}: {}", record.failure.text.as_deref().unwrap_or("its attempt did not end")),
        },
    };
    Err(fatal(Exit::Rehearsal, format!("the rehearsal ended without a pull request: {end}")))
}

/// Whether only a person can say how to continue.
fn is_asked(kind: BlockKind) -> bool {
    match kind {
        BlockKind::Question | BlockKind::Approval => true,
        BlockKind::Failed | BlockKind::Limit | BlockKind::Setup | BlockKind::Changed => false,
    }
}

fn collect(stage: &Stage) -> BTreeMap<u64, Account> {
    let mut accounts: BTreeMap<u64, Account> = BTreeMap::new();
    for Timed { seconds, event, .. } in stage.watch.log.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        let (issue, state) = match event {
            WorkEvent::Moved { issue, state, .. } => (issue.0, Some(state.to_string())),
            WorkEvent::Refused { issue, reason } => (issue.0, Some(format!("refused ({reason})"))),
            WorkEvent::Published { issue, pull, url, .. } => {
                let account = accounts.entry(issue.0).or_default();
                account.pull_request = Some(pull.0);
                account.pull_request_address = Some(url.clone());
                (issue.0, None)
            }
            WorkEvent::Failed { issue: Some(issue), reason } => (issue.0, Some(format!("failed ({reason})"))),
            WorkEvent::Failed { issue: None, .. }
            | WorkEvent::Polled { .. }
            | WorkEvent::CreatesLabels { .. }
            | WorkEvent::Progress { .. }
            | WorkEvent::Activity { .. }
            | WorkEvent::AgentStarted { .. }
            | WorkEvent::Checked { .. } => continue,
        };
        let account = accounts.entry(issue).or_default();
        account.issue = issue;
        account.states.extend(state.map(|state| (*seconds, state)));
    }
    accounts
}

async fn complete(stage: &Stage, account: &mut Account) -> anyhow::Result<()> {
    let ann = &stage.maintainer;
    let issue = ann.read(&format!("/issues/{}", account.issue)).await?;
    account.title = issue["title"].as_str().context("an issue has no title")?.to_owned();
    account.address = issue["html_url"].as_str().map(str::to_owned);
    let history = stage.worker.forge().ledger().history(IssueNumber(account.issue)).await?;
    let blocked = history.iter().rev().find_map(|entry| entry.record.blocked.as_ref());
    account.question = blocked.map(Blocked::in_a_line);
    let last = history.last().map(|entry| &entry.record);
    let by_router = last.and_then(|record| record.route.as_ref()).filter(|route| route.by == ChosenBy::Router);
    account.routed = by_router.and_then(routed);
    let links = last.into_iter().flat_map(|record| record.chain.links());
    account.handed_over = links.map(|link| format!("{} → {}: {}", link.from, link.to, link.reason)).collect();
    let answer = history.last().and_then(|entry| entry.record.answer.as_ref());
    account.answer = answer.map(|answer| format!("{}: {}", answer.actor, answer.text));
    if let Some(number) = account.pull_request {
        let pull = ann.read(&format!("/pulls/{number}")).await?;
        account.evidence = pull["body"].as_str().and_then(|body| section(body, "## Evidence"));
        account.diff = Some(diff(&ann.read(&format!("/pulls/{number}/files")).await?));
    }
    Ok(())
}

/// The profile that the router chose, and why.
fn routed(route: &RouteChoice) -> Option<String> {
    let RouteChoice { percent, complexity, .. } = route;
    let name = route.profile.as_ref()?;
    let why = route.reasons.join("; ");
    Some(format!("{name} ({percent}% sure, complexity {complexity} of 10): {why}"))
}

/// The text below a heading of a pull request's body.
fn section(body: &str, heading: &str) -> Option<String> {
    let (_, rest) = body.split_once(heading)?;
    Some(rest.split("\n## ").next().unwrap_or_default().trim().to_owned())
}

fn diff(files: &Value) -> String {
    let mut text = String::new();
    for file in files.as_array().into_iter().flatten() {
        let (name, patch) = (file["filename"].as_str().unwrap_or_default(), file["patch"].as_str().unwrap_or_default());
        text.push_str(&format!("--- {name}\n{patch}\n"));
    }
    text
}

fn print(account: &Account) -> Result<(), Unwritable> {
    let width = width_of(std::io::stdout());
    let title = styled(BOLD, &format!("#{} {}", account.issue, terminal(&account.title)));
    output::line(format!("\n{}", wrapped(&title, width, 0)))?;
    let states: Vec<_> =
        account.states.iter().map(|(seconds, state)| format!("{} {seconds:.1} s", terminal(state))).collect();
    let pull = account.pull_request.map(|number| match &account.pull_request_address {
        Some(address) => format!("pull request #{number}: {address}"),
        None => format!("pull request #{number}"),
    });
    let parts = [
        account.address.as_ref().map(|address| styled(DIM, address)),
        Some(states.join(" → ")),
        account.question.as_ref().map(|question| format!("blocked: {}", terminal(question))),
        account.answer.as_ref().map(|answer| format!("answered by {}", terminal(answer))),
        account.routed.as_ref().map(|routed| format!("routed to {}", terminal(routed))),
        pull,
    ];
    let handed = account.handed_over.iter().map(|link| format!("handed off: {}", terminal(link)));
    for part in parts.into_iter().flatten().chain(handed) {
        output::line(wrapped(&format!("  {part}"), width, 4))?;
    }
    for line in account.evidence.iter().flat_map(|text| text.lines()).filter(|line| !line.is_empty()) {
        output::line(wrapped(&format!("    {}", terminal(&line.replace("**", ""))), width, 4))?;
    }
    for line in account.diff.iter().flat_map(|text| text.lines()) {
        let style = match line.as_bytes().first() {
            _ if line.starts_with("--- ") => BOLD,
            Some(b'+') => GOOD,
            Some(b'-') => BAD,
            _ => DIM,
        };
        output::line(format!("    {}", styled(style, &terminal(line))))?;
    }
    Ok(())
}
