//! `hob audit`: who authorized which text, what it cost and what was published, by the ledgers; and by the file of the audit trail, if
//! there is one, which also has hosts and files, and what a rewritten ledger no longer says.

use std::{
    collections::BTreeSet,
    fs::File,
    io::{BufRead as _, BufReader, ErrorKind},
    path::Path,
};

use anyhow::Context as _;
use hob_config::AuditSink;
use hob_domain::{Audited, Control, Deed, IssueNumber, RepoName, audited};
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

/// A deed, and whether the ledger tells it.
struct Shown {
    audited: Audited,
    is_in_ledger: bool,
}

pub(super) async fn audit(setup: Setup, shared: Shared, args: AuditArgs) -> anyhow::Result<()> {
    let sink = AuditSink::read(&setup.settings.audit)?;
    let worker = setup.worker(&shared, Access::ReadOnly, None, Listen::nobody()).await?;
    let forge = worker.forge();
    let mut told = match &sink {
        Some(AuditSink::File(path)) => told_in(path, forge.repo(), args.issue)?,
        Some(AuditSink::Syslog(_) | AuditSink::Address(_)) | None => Vec::new(),
    };
    let mut issues: BTreeSet<IssueNumber> = match args.issue {
        Some(issue) => BTreeSet::from([issue]),
        None => forge.ledger().tips().await?.issues.into_iter().map(|tip| tip.issue).collect(),
    };
    issues.extend(told.iter().map(|deed| deed.issue));
    let mut count = 0;
    for issue in issues {
        let told = told.extract_if(.., |deed| deed.issue == issue).collect();
        let deeds = together(of_ledger(forge, issue).await?, told);
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

async fn of_ledger(forge: &Forge, issue: IssueNumber) -> anyhow::Result<Vec<Audited>> {
    let entries = forge.ledger().history(issue).await?;
    let before = std::iter::once(None).chain(entries.iter().map(|entry| Some(&entry.record)));
    let steps = before.zip(&entries);
    Ok(steps.flat_map(|(before, entry)| audited(forge.repo(), before, &entry.record, &entry.sentence)).collect())
}

/// The deeds in the file of the audit trail; none if nothing was told yet. A line that cannot be read, such as one that was cut off, is
/// passed over.
fn told_in(path: &Path, repo: &RepoName, issue: Option<IssueNumber>) -> anyhow::Result<Vec<Audited>> {
    let failed = || format!("read the audit trail `{}`", path.display());
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened.with_context(failed)?,
    };
    let mut told = Vec::new();
    for line in BufReader::new(file).lines() {
        let Ok(deed) = serde_json::from_str::<Audited>(&line.with_context(failed)?) else { continue };
        if deed.repo == *repo && issue.is_none_or(|issue| issue == deed.issue) {
            told.push(deed);
        }
    }
    Ok(told)
}

/// The deeds of both, oldest first, each once.
fn together(ledger: Vec<Audited>, told: Vec<Audited>) -> Vec<Shown> {
    let mut ids: BTreeSet<String> = ledger.iter().map(|deed| deed.id.clone()).collect();
    let mut all: Vec<Shown> = ledger.into_iter().map(|audited| Shown { audited, is_in_ledger: true }).collect();
    let told = told.into_iter().filter(|audited| ids.insert(audited.id.clone()));
    all.extend(told.map(|audited| Shown { audited, is_in_ledger: false }));
    all.sort_by_key(|shown| shown.audited.at);
    all
}

fn print(shared: &Shared, Shown { audited, is_in_ledger }: &Shown) -> anyhow::Result<()> {
    if shared.json {
        let mut value = serde_json::to_value(audited)?;
        (value["event"], value["in_ledger"]) = ("deed".into(), (*is_in_ledger).into());
        return Ok(json::event(value)?);
    }
    let at = styled(DIM, &format!("{} UTC", audited.at.format("%Y-%m-%d %H:%M:%S")));
    let is_gone = !is_in_ledger && audited.deed.is_of_ledger();
    let gone = if is_gone { ". The ledger does not say so: it was rewritten or deleted" } else { "" };
    let text = format!("{at}  #{:<8} {}{gone}", audited.issue, terminal(&in_words(&audited.deed)));
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
