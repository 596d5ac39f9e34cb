//! `hob explain ISSUE`.

use hob_domain::IssueNumber;
use hob_forge::Access;
use hob_text::terminal;
use hob_worker::{Explained, explain};

use crate::cli::{
    args::Shared,
    exit::{Exit, fatal},
    json,
    layout::{width_of, wrapped},
    output::{self, BOLD, WARN, styled},
    setup::{Listen, Setup},
};

/// The width of the column before a text.
const BEFORE_TEXT: usize = 10;

pub(super) async fn explain(setup: Setup, shared: Shared, number: IssueNumber) -> anyhow::Result<()> {
    let worker = setup.worker(&shared, Access::ReadOnly, None, Listen::nobody()).await?;
    let Some(issue) = Box::pin(explain::one(&worker, number)).await? else {
        return Err(fatal(Exit::NotFound, format!("issue {number} does not exist or is a pull request")));
    };
    if shared.json {
        return json::result(&issue);
    }
    Ok(print(&issue)?)
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
    let mut parts = Vec::new();
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
    parts.extend(issue.place.map(|place| ("place", format!("{place} in the queue"))));
    if issue.blocked.is_some() && issue.place.is_none() {
        let how = format!("`/hob unblock TEXT` in a comment on the issue, or `hob unblock {number} -m TEXT`");
        parts.push(("answer", how));
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

/// The next action, or the question of an issue that waits for its answer.
pub(super) fn next_step(issue: &Explained) -> String {
    match &issue.blocked {
        Some(blocked) if issue.place.is_none() => format!("{}: {}", issue.why, blocked.question.trim()),
        Some(_) | None => issue.why.clone(),
    }
}
