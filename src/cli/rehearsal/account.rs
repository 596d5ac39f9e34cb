//! The report at the end: each issue with its states and times, and its pull request with evidence and diff.

use std::{collections::BTreeMap, sync::PoisonError};

use anyhow::Context;
use hob_domain::{IssueNumber, terminal};
use hob_worker::WorkEvent;
use serde::Serialize;
use serde_json::Value;

use crate::cli::{
    output::{self, BAD, BOLD, DIM, GOOD, styled},
    progress::{Show, Timed},
    rehearsal::stage::Stage,
};

/// One issue's part of the account.
#[derive(Debug, Default, Serialize)]
struct Account {
    issue: u64,
    title: String,
    address: String,
    /// States and refusals, each with the seconds since the start.
    states: Vec<(f64, String)>,
    question: Option<String>,
    answer: Option<String>,
    pull_request: Option<u64>,
    pull_request_address: Option<String>,
    evidence: Option<String>,
    diff: Option<String>,
}

/// Prints what happened, from the data on the forge.
pub(in crate::cli) async fn tell(stage: &Stage, show: Show) -> anyhow::Result<()> {
    let mut accounts = collect(stage);
    for account in accounts.values_mut() {
        complete(stage, account).await?;
    }
    let accounts: Vec<_> = accounts.into_values().collect();
    match show {
        Show::Json => output::json(&accounts),
        Show::Lines => {
            accounts.iter().for_each(print);
            let calls = stage.worker.forge().connection().call_counts();
            anstream::println!(
                "API calls: {} reads, {} not modified, {} writes",
                calls.reads,
                calls.unchanged,
                calls.writes
            );
            Ok(())
        }
    }
}

fn collect(stage: &Stage) -> BTreeMap<u64, Account> {
    let mut accounts: BTreeMap<u64, Account> = BTreeMap::new();
    for Timed { seconds, event, .. } in stage.log.lock().unwrap_or_else(PoisonError::into_inner).iter() {
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
            WorkEvent::Failed { issue: None, .. } | WorkEvent::Polled { .. } | WorkEvent::Progress { .. } => continue,
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
    account.address = issue["html_url"].as_str().unwrap_or_default().to_owned();
    let history = stage.worker.forge().ledger().history(IssueNumber(account.issue)).await?;
    let blocked = history.iter().rev().find_map(|entry| entry.record.blocked.as_ref());
    account.question = blocked.map(|blocked| format!("{} {}", blocked.text.trim(), blocked.question));
    let answer = history.last().and_then(|entry| entry.record.answer.as_ref());
    account.answer = answer.map(|answer| format!("{}: {}", answer.actor, answer.text));
    if let Some(number) = account.pull_request {
        let pull = ann.read(&format!("/pulls/{number}")).await?;
        account.evidence = pull["body"].as_str().and_then(|body| section(body, "## Evidence"));
        account.diff = Some(diff(&ann.read(&format!("/pulls/{number}/files")).await?));
    }
    Ok(())
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

fn print(account: &Account) {
    anstream::println!("\n{}", styled(BOLD, &format!("#{} {}", account.issue, terminal(&account.title))));
    anstream::println!("  {}", styled(DIM, &account.address));
    let states: Vec<_> =
        account.states.iter().map(|(seconds, state)| format!("{} {seconds:.1} s", terminal(state))).collect();
    anstream::println!("  {}", states.join(" → "));
    if let Some(question) = &account.question {
        anstream::println!("  blocked: {}", terminal(question));
    }
    if let Some(answer) = &account.answer {
        anstream::println!("  answered by {}", terminal(answer));
    }
    if let (Some(number), Some(address)) = (account.pull_request, &account.pull_request_address) {
        anstream::println!("  pull request #{number}: {address}");
    }
    for line in account.evidence.iter().flat_map(|text| text.lines()).filter(|line| !line.is_empty()) {
        anstream::println!("    {}", terminal(&line.replace("**", "")));
    }
    for line in account.diff.iter().flat_map(|text| text.lines()) {
        let style = match line.as_bytes().first() {
            _ if line.starts_with("--- ") => BOLD,
            Some(b'+') => GOOD,
            Some(b'-') => BAD,
            _ => DIM,
        };
        anstream::println!("    {}", styled(style, &terminal(line)));
    }
}
