//! `hob audit`: who authorized which text, what it cost and what was published, by the ledgers; and by the file of the audit trail, if
//! there is one, which also has hosts and files, and what a rewritten ledger no longer says. With `--html`, one issue's flight record.

use std::{
    collections::BTreeSet,
    fs::File,
    io::{BufRead as _, BufReader, ErrorKind},
    path::Path,
};

use anyhow::Context as _;
use hob_agent::session::Sessions;
use hob_config::AuditSink;
use hob_domain::{Audited, Budgets, Control, Deed, IssueNumber, RepoName, audited};
use hob_forge::{Access, Forge, LedgerEntry};
use hob_text::{KnownSecrets, terminal};
use serde_json::json;

use crate::cli::{
    args::Shared,
    exit::{Exit, fatal},
    flight::{self, Gathered},
    issue_args::AuditArgs,
    json,
    layout::{width_of, wrapped},
    output::{self, DIM, styled},
    sessions,
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
    let here = Here::of(&setup);
    let worker = setup.worker(&shared, Access::ReadOnly, None, Listen::nobody()).await?;
    let forge = worker.forge();
    let mut told = match &sink {
        Some(AuditSink::File(path)) => told_in(path, forge.repo(), args.issue)?,
        Some(AuditSink::Syslog(_) | AuditSink::Address(_)) | None => Vec::new(),
    };
    if let (Some(to), Some(issue)) = (&args.html, args.issue) {
        return Box::pin(flight_record(here, forge, issue, told, to)).await;
    }
    let mut issues: BTreeSet<IssueNumber> = match args.issue {
        Some(issue) => BTreeSet::from([issue]),
        None => forge.ledger().tips().await?.issues.into_iter().map(|tip| tip.issue).collect(),
    };
    issues.extend(told.iter().map(|deed| deed.issue));
    let mut count = 0;
    for issue in issues {
        let told = told.extract_if(.., |deed| deed.issue == issue).collect();
        let deeds = together(of_ledger(forge.repo(), &forge.ledger().history(issue).await?), told);
        if deeds.is_empty() && args.issue.is_some() {
            return Err(no_ledger(issue));
        }
        count += deeds.len();
        for deed in deeds {
            print(&shared, &deed)?;
        }
    }
    if shared.json { json::result(&json!({ "deeds": count })) } else { Ok(()) }
}

fn no_ledger(issue: IssueNumber) -> anyhow::Error {
    fatal(Exit::NotFound, format!("issue {issue} has no ledger: Hob never claimed it"))
}

/// What a flight record needs of this machine.
struct Here {
    sessions: Sessions,
    budgets: Budgets,
    secrets: KnownSecrets,
}

impl Here {
    fn of(setup: &Setup) -> Self {
        let (budgets, secrets) = (setup.settings.budgets(), setup.secrets.clone());
        Self { sessions: sessions::open(setup), budgets, secrets }
    }
}

/// Writes one issue's flight record.
async fn flight_record(
    here: Here,
    forge: &Forge,
    issue: IssueNumber,
    told: Vec<Audited>,
    to: &Path,
) -> anyhow::Result<()> {
    let entries = forge.ledger().history(issue).await?;
    let deeds = together(of_ledger(forge.repo(), &entries), told);
    if deeds.is_empty() {
        return Err(no_ledger(issue));
    }
    let deed = |shown: &Shown| format!("{} {}{}", stamp(&shown.audited), in_words(&shown.audited.deed), gone(shown));
    let html = flight::record(Gathered {
        repo: forge.repo(),
        issue,
        title: forge.issues().get(issue).await?.map(|issue| issue.title),
        entries: &entries,
        deeds: deeds.iter().map(deed).collect(),
        sessions: &here.sessions,
        budgets: &here.budgets,
        secrets: &here.secrets,
        now: forge.now(),
    })?;
    flight::written(&html, to)?;
    if to == Path::new("-") {
        return Ok(());
    }
    let (to, kilobytes) = (terminal(&to.display().to_string()), html.len().div_ceil(1_000));
    Ok(output::line(format!("wrote the flight record of issue {issue} to `{to}` ({kilobytes} kB)"))?)
}

fn of_ledger(repo: &RepoName, entries: &[LedgerEntry]) -> Vec<Audited> {
    let before = std::iter::once(None).chain(entries.iter().map(|entry| Some(&entry.record)));
    let steps = before.zip(entries);
    steps.flat_map(|(before, entry)| audited(repo, before, &entry.record, &entry.sentence)).collect()
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

fn print(shared: &Shared, shown: &Shown) -> anyhow::Result<()> {
    let Shown { audited, is_in_ledger } = shown;
    if shared.json {
        let mut value = serde_json::to_value(audited)?;
        (value["event"], value["in_ledger"]) = ("deed".into(), (*is_in_ledger).into());
        return Ok(json::event(value)?);
    }
    let at = styled(DIM, &stamp(audited));
    let text = format!("{at}  #{:<8} {}{}", audited.issue, terminal(&in_words(&audited.deed)), gone(shown));
    Ok(output::line(wrapped(&text, width_of(std::io::stdout()), BEFORE_DEED))?)
}

fn stamp(audited: &Audited) -> String {
    format!("{} UTC", audited.at.format("%Y-%m-%d %H:%M:%S"))
}

/// What is said of a deed that a ledger should tell and does not.
fn gone(shown: &Shown) -> &'static str {
    let is_gone = !shown.is_in_ledger && shown.audited.deed.is_of_ledger();
    if is_gone { ". The ledger does not say so: it was rewritten or deleted" } else { "" }
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
