//! `hob audit`: who authorized which text, what it cost and what was published, by the ledgers.

use hob_domain::{Audited, Control, Deed, IssueNumber, audited};
use hob_forge::{Access, Forge};
use hob_text::terminal;
use serde_json::json;

use crate::cli::{
    args::Shared,
    exit::{Exit, fatal},
    issue_args::AuditArgs,
    json,
    layout::{width_of, wrapped},
    output::{self, DIM, styled},
    setup::{Listen, Setup},
};

/// The width of the columns before a deed: time and issue.
const BEFORE_DEED: usize = 35;

pub(super) async fn audit(setup: Setup, shared: Shared, args: AuditArgs) -> anyhow::Result<()> {
    let worker = setup.worker(&shared, Access::ReadOnly, None, Listen::nobody()).await?;
    let issues = match args.issue {
        Some(issue) => vec![issue],
        None => worker.forge().ledger().tips().await?.issues.into_iter().map(|tip| tip.issue).collect(),
    };
    let mut count = 0;
    for issue in issues {
        let deeds = of_issue(worker.forge(), issue).await?;
        if deeds.is_empty() && args.issue.is_some() {
            return Err(fatal(Exit::NotFound, format!("issue {issue} has no ledger: Hob never claimed it")));
        }
        count += deeds.len();
        for deed in deeds {
            print(&shared, &deed)?;
        }
    }
    if shared.json { json::result(&json!({ "deeds": count })) } else { Ok(()) }
}

async fn of_issue(forge: &Forge, issue: IssueNumber) -> anyhow::Result<Vec<Audited>> {
    let entries = forge.ledger().history(issue).await?;
    let before = std::iter::once(None).chain(entries.iter().map(|entry| Some(&entry.record)));
    let steps = before.zip(&entries);
    Ok(steps.flat_map(|(before, entry)| audited(forge.repo(), before, &entry.record, &entry.sentence)).collect())
}

fn print(shared: &Shared, audited: &Audited) -> anyhow::Result<()> {
    if shared.json {
        let mut value = serde_json::to_value(audited)?;
        value["event"] = "deed".into();
        return Ok(json::event(value)?);
    }
    let at = styled(DIM, &format!("{} UTC", audited.at.format("%Y-%m-%d %H:%M:%S")));
    let text = format!("{at}  #{:<8} {}", audited.issue, terminal(&in_words(&audited.deed)));
    Ok(output::line(wrapped(&text, width_of(std::io::stdout()), BEFORE_DEED))?)
}

fn in_words(deed: &Deed) -> String {
    match deed {
        Deed::Authorized { by, text } => format!("{by} authorized the text {text}"),
        Deed::Answered { by, text } => format!("{by} answered with the text {text}"),
        Deed::Approved { action } => format!("the action {action} was approved"),
        Deed::Controlled { by, what: Control::Pause } => format!("{by} asked to pause the work"),
        Deed::Controlled { by, what: Control::Terminate } => format!("{by} asked to end the work"),
        Deed::Moved { state, why } => format!("{state}: {why}"),
        Deed::Spent { session, profile, usd, input_tokens, output_tokens } => {
            let by = profile.as_ref().map(|profile| format!("the profile {profile}"));
            let session = session.as_ref().map(|session| format!(" in the session {session}")).unwrap_or_default();
            let by = by.unwrap_or_else(|| "an agent".to_owned());
            format!("{by} cost ${usd:.2}{session}: {input_tokens} tokens read, {output_tokens} written")
        }
        Deed::Reached { agent, host, sent_bytes, received_bytes, refused, .. } => {
            format!(
                "{agent} reached {host}: {sent_bytes} bytes sent, {received_bytes} received, {refused} connections refused"
            )
        }
        Deed::Pushed { branch, head, files } => format!("{} files were pushed to {branch} with {head}", files.len()),
        Deed::Published { pull, head, agent, model, statement, .. } => {
            let model = model.as_ref().map(|model| format!(" ({model})")).unwrap_or_default();
            format!("pull request {pull} has the commit {head} of {agent}{model}, by the statement {statement}")
        }
    }
}
