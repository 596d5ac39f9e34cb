//! `hob explain ISSUE`.

use hob_domain::{IssueNumber, terminal};
use hob_forge::Access;
use hob_worker::explain;

use crate::cli::{
    args::Shared,
    exit::{Exit, fatal},
    output,
    setup::{Listen, Setup},
};

pub(super) async fn explain(setup: Setup, shared: Shared, number: IssueNumber) -> anyhow::Result<()> {
    let worker = setup.worker(&shared, Access::ReadOnly, None, Listen::nobody()).await?;
    let listed = explain::all(&worker).await?.into_iter().find(|issue| issue.issue == number);
    let found = match listed {
        Some(issue) => Some(issue),
        None => explain::absent(&worker, number).await?,
    };
    let Some(issue) = found else {
        return Err(fatal(Exit::NotFound, format!("issue {number} does not exist or is a pull request")));
    };
    if shared.json {
        return output::json(&issue);
    }
    let state = match (issue.state, issue.place) {
        (Some(state), _) => format!(" ({state})"),
        (None, Some(_)) => " (new)".to_owned(),
        (None, None) => String::new(),
    };
    anstream::println!("#{number} {}{state}", output::styled(output::BOLD, &terminal(&issue.title)));
    if let Some(place) = issue.place {
        anstream::println!("Position {place} in the queue.");
    }
    anstream::println!("{}", terminal(&issue.why));
    Ok(())
}
