//! `hob explain ISSUE`.

use crate::{
    cli::{
        args::Shared,
        exit::{Exit, fatal},
        output,
        setup::{Listen, Setup},
    },
    domain::{IssueNumber, terminal},
    forge::Access,
};

pub(super) async fn explain(setup: Setup, shared: Shared, number: IssueNumber) -> anyhow::Result<()> {
    let trigger = setup.settings.labels.trigger.clone();
    let worker = setup.worker(&shared, Access::ReadOnly, None, Listen::nobody()).await?;
    let found = worker.explain_all().await?;
    if let Some(issue) = found.into_iter().find(|issue| issue.issue == number) {
        if shared.json {
            return output::json(&issue);
        }
        let state = issue.state.map_or_else(|| "new".to_owned(), |state| state.to_string());
        anstream::println!("#{number} {} ({state})", output::styled(output::BOLD, &terminal(&issue.title)));
        if let Some(place) = issue.place {
            anstream::println!("Place {place} in the order.");
        }
        anstream::println!("{}", terminal(&issue.why));
        return Ok(());
    }
    let Some(issue) = worker.forge().issue(number).await? else {
        return Err(fatal(Exit::NotFound, format!("issue {number} is not there, or is a pull request")));
    };
    let why = format!("it is closed, or does not have the label `{trigger}` (it has: {})", issue.labels.join(", "));
    if shared.json {
        return output::json(&serde_json::json!({ "issue": number, "title": issue.title, "why": why }));
    }
    anstream::println!("#{number} {}\n{}", output::styled(output::BOLD, &terminal(&issue.title)), terminal(&why));
    Ok(())
}
