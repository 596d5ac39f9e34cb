//! `hob agent routing`: the choice for each issue, the choices that people changed, and how often the router was right.

use hob_domain::{AutoChoice, ChosenBy, RepoName, RouteChoice, RoutingOverview, RoutingRules, routing_overview};
use hob_forge::Access;
use hob_text::{count, terminal};
use hob_worker::{Preflight, Routed, routes};
use serde_json::{Value, json};

use crate::cli::{
    args::Shared,
    json,
    layout::{self, Table, shortened},
    output::{self, Naming},
    setup::{Listen, Setup},
};

/// Characters of a reason in the table.
const SHOWN: usize = 160;

pub(super) async fn routing(setup: Setup, shared: Shared) -> anyhow::Result<()> {
    let rules = setup.settings.routing.rules();
    let pool = setup.pool(&shared, Access::ReadOnly, None, Preflight::BeforeWork, |_| Listen::nobody()).await?;
    let workers = pool.workers().await?;
    let naming = Naming::new(workers.len());
    let (mut routed, mut unreadable, mut failed) = (Vec::new(), Vec::new(), None);
    for worker in &workers {
        let repo = worker.forge().repo();
        match routes(worker).await {
            Ok(found) => {
                routed.extend(found.routed.into_iter().map(|one| (repo.clone(), one)));
                let bad = found.unreadable.into_iter();
                let told = |(issue, why)| format!("the ledger of issue {issue} of {repo} is left out: {why}");
                unreadable.extend(bad.map(told));
            }
            // The failure of one repository does not hide the others.
            Err(error) => failed = failed.or(Some(anyhow::Error::from(error).context(repo.to_string()))),
        }
    }
    unreadable.iter().for_each(|bad| output::note(terminal(bad)));
    if failed.is_none() || !routed.is_empty() {
        show(&shared, &routed, &unreadable, rules, naming)?;
    }
    failed.map_or(Ok(()), Err)
}

fn show(
    shared: &Shared,
    routed: &[(RepoName, Routed)],
    unreadable: &[String],
    rules: RoutingRules,
    naming: Naming,
) -> anyhow::Result<()> {
    let overview = routing_overview(routed.iter().map(|(_, one)| &one.choice), rules);
    if shared.json {
        return json::result(&as_json(routed, unreadable, &overview)?);
    }
    if routed.is_empty() {
        return Ok(layout::paragraph("No issue was routed yet: the first attempt at an issue does that.")?);
    }
    let mut table = Table::new(&["issue", "profile", "by", "sure", "size"], &["why"]);
    for (repo, Routed { issue, choice, auto, .. }) in routed {
        let issue = match naming {
            Naming::One => format!("#{issue}"),
            Naming::Several => format!("{repo}#{issue}"),
        };
        table.row(vec![
            issue,
            choice.profile.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string),
            chosen_by(choice.by).to_owned(),
            format!("{}%", choice.percent),
            choice.complexity.to_string(),
            shortened(&why(choice, auto.as_ref()), SHOWN),
        ]);
    }
    table.print()?;
    print(&overview)
}

fn chosen_by(by: ChosenBy) -> &'static str {
    match by {
        ChosenBy::Command => "command",
        ChosenBy::Label => "label",
        ChosenBy::Repository => "hob.toml",
        ChosenBy::Router => "router",
        ChosenBy::Base => "nobody",
    }
}

/// The strongest reason, after the choice that it replaced, and the agent that outcomes chose.
fn why(choice: &RouteChoice, auto: Option<&AutoChoice>) -> String {
    let reason = choice.reasons.first().map(String::as_str).unwrap_or_default();
    let why = match &choice.overridden {
        Some(overridden) => format!("instead of {overridden}: {reason}"),
        None => reason.to_owned(),
    };
    let by = auto.map(|auto| format!("; agent {}: {}", auto.agent, auto.why)).unwrap_or_default();
    format!("{why}{by}")
}

fn print(overview: &RoutingOverview) -> anyhow::Result<()> {
    let RoutingOverview { routed, overridden, missed, accuracy, confusion } = overview;
    let accuracy = match accuracy {
        Some(part) => format!("{:.1}% of them were kept", 100.0 * part),
        None => "so its accuracy is unknown".to_owned(),
    };
    output::line("")?;
    layout::paragraph(&format!(
        "The router chose a profile for {}, {accuracy}: people overrode {overridden}, and chose one for {missed} more where \
         it had none.",
        count(*routed, "issue")
    ))?;
    output::line("")?;
    let mut table = Table::new(&["the router said"], &["chosen"]);
    for (routed, chosen) in confusion {
        let chosen: Vec<String> = chosen.iter().map(|(name, count)| format!("{name} {count}")).collect();
        table.row(vec![routed.clone(), chosen.join(", ")]);
    }
    Ok(table.print()?)
}

fn as_json(routed: &[(RepoName, Routed)], unreadable: &[String], overview: &RoutingOverview) -> anyhow::Result<Value> {
    let choices = routed.iter().map(|(repo, Routed { issue, state, choice, auto })| {
        json!({
            "repo": repo.to_string(),
            "issue": issue,
            "state": state,
            "profile": choice.profile,
            "by": choice.by,
            "percent": choice.percent,
            "complexity": choice.complexity,
            "reasons": choice.reasons,
            "overridden": choice.overridden,
            "auto": auto,
        })
    });
    let mut value = serde_json::to_value(overview)?;
    value["choices"] = choices.collect();
    value["unreadable"] = unreadable.into();
    Ok(value)
}
