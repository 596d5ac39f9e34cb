//! `hob explain ISSUE`, and with `--history` its ledger.

use hob_domain::{BlockKind, IssueNumber};
use hob_forge::Access;
use hob_text::terminal;
use hob_worker::{Explained, Worker, explain};

use crate::cli::{
    args::Shared,
    exit::{Exit, fatal},
    issue_args::ExplainArgs,
    json,
    layout::{width_of, wrapped},
    output::{self, BOLD, DIM, WARN, styled},
    progress,
    setup::{Listen, Setup},
    words::because,
};

/// The width of the column before a text.
const BEFORE_TEXT: usize = 10;
/// The width of the columns before a sentence of the ledger: time, commit and state.
const BEFORE_SENTENCE: usize = 47;

pub(super) async fn explain(setup: Setup, shared: Shared, args: ExplainArgs) -> anyhow::Result<()> {
    let (number, worker) = (args.issue, setup.worker(&shared, Access::ReadOnly, None, Listen::nobody()).await?);
    if args.history {
        return history(&worker, &shared, number).await;
    }
    let Some(issue) = Box::pin(explain::one(&worker, number)).await? else {
        return Err(fatal(Exit::NotFound, format!("issue {number} does not exist or is a pull request")));
    };
    if shared.json {
        return json::result(&issue);
    }
    Ok(print(&issue)?)
}

/// Prints the ledger.
async fn history(worker: &Worker, shared: &Shared, number: IssueNumber) -> anyhow::Result<()> {
    let entries = worker.forge().ledger().history(number).await?;
    if entries.is_empty() {
        return Err(fatal(Exit::NotFound, format!("issue {number} has no ledger: Hob never claimed it")));
    }
    if shared.json {
        let records: Vec<_> = entries
            .iter()
            .map(|entry| serde_json::json!({ "commit": entry.commit, "sentence": entry.sentence, "record": entry.record }))
            .collect();
        return json::result(&records);
    }
    for entry in entries {
        let at = entry.record.renewed_at.format("%Y-%m-%d %H:%M:%S");
        let (at, commit) = (styled(DIM, &format!("{at} UTC")), styled(DIM, entry.commit.short()));
        let why = because(entry.record.state, &entry.sentence);
        let text = format!("{at} {commit} {} {}", progress::state(entry.record.state), terminal(&why));
        output::line(wrapped(&text, width_of(std::io::stdout()), BEFORE_SENTENCE))?;
    }
    Ok(())
}

fn print(issue: &Explained) -> Result<(), output::Unwritable> {
    let (number, width) = (issue.issue, width_of(std::io::stdout()));
    let state = match (issue.state, issue.place) {
        (Some(state), _) => format!(" ({state})"),
        (None, Some(_)) => " (new)".to_owned(),
        (None, None) => String::new(),
    };
    let title = terminal(&issue.title).replace('\n', " ");
    let title = format!("#{number} {}{state}", styled(BOLD, &title));
    output::line(wrapped(&title, width, 0))?;
    let mut parts = vec![("page", terminal(&issue.url))];
    if let Some(blocked) = &issue.blocked {
        parts.push(("blocked", terminal(blocked.text.trim())));
        for last in &blocked.last {
            let command = last.command.replace('\n', " ");
            parts.push(("output", terminal(&format!("last lines of `{command}`:\n{}", last.lines))));
        }
        parts.push(("question", styled(WARN, &terminal(blocked.question.trim()))));
    }
    parts.push(("now", terminal(&issue.why)));
    parts.extend(issue.profile.as_ref().map(|why| ("profile", styled(WARN, &terminal(why)))));
    parts.extend(issue.agent.as_ref().map(|agent| ("agent", terminal(agent))));
    parts.extend(issue.cost.as_ref().map(|cost| ("cost", cost.clone())));
    parts.extend(issue.place.map(|place| ("place", format!("{place} in the queue"))));
    if let (Some(blocked), Some(answer), None) = (&issue.blocked, &issue.answer, issue.place) {
        let here = match blocked.reason.kind() {
            BlockKind::Approval => format!("hob approve {number}"),
            BlockKind::Question | BlockKind::Failed | BlockKind::Limit | BlockKind::Setup | BlockKind::Changed => {
                format!("hob answer {number} -m TEXT")
            }
        };
        parts.push(("answer", format!("{answer} From this terminal: `{here}`.")));
    }
    for (name, text) in parts {
        for (at, line) in text.lines().filter(|line| !line.trim().is_empty()).enumerate() {
            // A line never begins with text from an issue: a job's log could take it for a command.
            let name = if at == 0 { name } else { "|" };
            output::line(wrapped(&format!("{name:<8}  {line}"), width, BEFORE_TEXT))?;
        }
    }
    Ok(())
}

/// The next action, or why an issue is blocked, what is asked and how to answer.
pub(super) fn next_step(issue: &Explained) -> String {
    match &issue.blocked {
        Some(blocked) if issue.place.is_none() => {
            let answer = issue.answer.as_deref().unwrap_or_default();
            format!("{}: {} {answer}", issue.why, blocked.in_a_line()).trim_end().to_owned()
        }
        Some(_) | None => issue.why.clone(),
    }
}
