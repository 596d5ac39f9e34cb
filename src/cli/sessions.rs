//! `hob session list` and `hob session show SESSION`: the agent sessions on this machine.

use hob_agent::session::{SessionError, SessionRecord, SessionState, Sessions};
use hob_domain::{
    FailureClass, LastLines, Outcome, RunId, dollars,
    investigation::{CaseStatus, Investigation},
};
use hob_text::{count, terminal};
use serde::Serialize;

use crate::cli::{
    args::Shared,
    exit::{Exit, fatal},
    investigated, json,
    layout::{self, Table, width_of, wrapped},
    local::{command, is_local},
    output,
    session_args::SessionArgs,
    setup::Setup,
    totals::{self, totals},
};

/// A session as programs get it.
#[derive(Debug, Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    record: &'a SessionRecord,
    /// `None` if no case is investigated in it.
    case: Option<Case>,
}

/// The progress of its investigation.
#[derive(Debug, Serialize)]
struct Case {
    status: CaseStatus,
    state: String,
    /// `None` if no profile investigates.
    profile: Option<String>,
    iterations: u32,
    /// `None` if a version of Hob began it that did not note it.
    max_iterations: Option<u32>,
    answered: usize,
    questions: usize,
}

impl Case {
    fn new(record: &Investigation) -> Self {
        Self {
            status: record.status(),
            state: record.state.clone(),
            profile: record.profile.clone(),
            iterations: record.metrics.iterations,
            max_iterations: record.metrics.max_iterations,
            answered: record.answered(),
            questions: record.questions.len(),
        }
    }
}

impl<'a> Shown<'a> {
    /// A damaged record of an investigation must not hide the rest; the next run says what it does about it.
    fn new(store: &Sessions, record: &'a SessionRecord) -> Self {
        let case = store.investigation(&record.id).ok().flatten();
        Self { record, case: case.as_ref().map(Case::new) }
    }

    /// Its cells in the list.
    fn cells(self) -> Vec<String> {
        let Self { record, case } = self;
        let turns = match &case {
            Some(Case { iterations, max_iterations: Some(most), .. }) => format!("{iterations} of {most}"),
            Some(Case { iterations, max_iterations: None, .. }) => iterations.to_string(),
            None => record.metrics.turns.to_string(),
        };
        let (state, questions, profile) = case.map_or_else(Default::default, |case| {
            (case.state, format!("{} of {}", case.answered, case.questions), case.profile.unwrap_or_default())
        });
        let id = record.id.to_string();
        let issue = format!("{}#{}", record.repo, record.issue);
        let (agent, cost) = (record.agent.clone(), record.bill().to_string());
        vec![
            id,
            issue,
            record.state.to_string(),
            turns,
            state,
            questions,
            profile,
            agent,
            cost,
            when(record.updated_ms),
        ]
    }
}

/// The sessions of this machine.
pub(super) fn open(setup: &Setup) -> Sessions {
    Sessions::new(setup.state_dir.join("sessions"), setup.settings.state.clone()).without(setup.secrets.clone())
}

/// The session that `args` means.
pub(super) fn find(setup: &Setup, shared: &Shared, args: &SessionArgs) -> anyhow::Result<SessionRecord> {
    let repo = setup.at_most_one(shared)?;
    open(setup).find(&args.session, repo.as_ref()).map_err(|error| match error {
        SessionError::NotFound(text) => fatal(Exit::NotFound, text),
        other => other.into(),
    })
}

pub(super) fn sessions(setup: &Setup, shared: &Shared) -> anyhow::Result<()> {
    let repo = setup.at_most_one(shared)?;
    let store = open(setup);
    let mut found = store.list();
    // Sessions without an issue have no repository.
    found.retain(|record| repo.as_ref().is_none_or(|repo| record.repo == *repo) || is_local(record));
    let (totals, shown) = (totals(&found), found.iter().map(|record| Shown::new(&store, record)));
    if shared.json {
        let result = shown.map(serde_json::to_value).collect::<Result<Vec<_>, _>>()?;
        return Ok(json::event(serde_json::json!({ "event": "result", "result": result, "totals": totals }))?);
    }
    if found.is_empty() {
        let place = setup.state_dir.join("sessions");
        return Ok(output::line(format!("There are no sessions in `{}`.", place.display()))?);
    }
    let about = ["state", "questions", "profile", "agent", "cost", "updated"];
    let mut table = Table::new(&["session", "issue", "status", "turns"], &about);
    shown.for_each(|session| table.row(session.cells()));
    table.print()?;
    output::line("")?;
    Ok(totals::table(&totals).print()?)
}

pub(super) fn show(setup: &Setup, shared: &Shared, args: &SessionArgs) -> anyhow::Result<()> {
    let record = find(setup, shared, args)?;
    if shared.json {
        return json::result(&Shown::new(&open(setup), &record));
    }
    // A damaged record must not hide the rest; the next run says what it does about it.
    let case = open(setup).investigation(&record.id).ok().flatten();
    let metrics = &record.metrics;
    let limits = [
        Some(format!("{} s", record.limits.seconds)),
        record.limits.usd_micros.map(dollars),
        record.limits.tokens.map(|limit| count(limit, "token")),
    ];
    let ran: Vec<_> = record.runs.iter().map(RunId::to_string).collect();
    let seconds = |ms: u64| format!("{}.{} s", ms / 1_000, ms % 1_000 / 100);
    for (name, value) in [
        ("session", record.id.to_string()),
        ("issue", format!("{}#{}", record.repo, record.issue)),
        ("agent", record.agent.clone()),
        ("state", record.state.to_string()),
        ("started", when(record.started_ms)),
        ("updated", when(record.updated_ms)),
        ("runs", ran.join("\n")),
        ("limits", limits.into_iter().flatten().collect::<Vec<_>>().join(", ")),
        ("turns", metrics.turns.to_string()),
        ("actions", format!("{} ({} failed)", metrics.actions, metrics.errors)),
        ("cost", record.bill().to_string()),
        ("cached", count(metrics.cached_tokens, "token")),
        ("model", seconds(metrics.model_ms)),
        ("tools", seconds(metrics.tools_ms)),
        ("chain", chain(&open(setup).list(), &record)),
        ("case", case.as_ref().map(investigated::figures).unwrap_or_default()),
        // A finished investigation has its report here, which is shown below in the form for people.
        (
            "outcome",
            match &record.outcome {
                Some(Outcome::Done { .. }) if case.is_some() => "done: the investigation is concluded".to_owned(),
                other => other.as_ref().map(outcome).unwrap_or_default(),
            },
        ),
        ("checks", record.failed_checks.iter().map(failed_check).collect::<Vec<_>>().join("\n")),
    ] {
        for (index, line) in terminal(&value).lines().enumerate() {
            let name = if index == 0 { name } else { "|" };
            let text = format!("{} {line}", output::styled(output::DIM, &format!("{name:<8}")));
            output::line(wrapped(&text, width_of(std::io::stdout()), 9))?;
        }
    }
    if let Some(case) = &case {
        output::line("")?;
        investigated::print_case(case)?;
    }
    let id = &record.id;
    match record.state {
        SessionState::Interrupted => {
            let how = match &record.outcome {
                Some(Outcome::Failed { failure: FailureClass::Cancelled, .. }) => "It was stopped.",
                Some(_) | None => "Its process has died.",
            };
            let next = match is_local(&record) {
                true => format!("`{}` resumes it.", command(&record)),
                false => "The next worker on this machine that claims the issue resumes the session.".to_owned(),
            };
            output::line("")?;
            layout::paragraph(&format!("{how} {next}"))?;
        }
        SessionState::Running | SessionState::Pending => {
            output::line(format!("\n`hob session log -f {id}` follows it."))?
        }
        SessionState::Completed | SessionState::Blocked | SessionState::Failed => {}
    }
    Ok(())
}

/// The hand-offs of the issue whose sessions this machine has, oldest first: from whom, to whom, why, and the cost.
fn chain(sessions: &[SessionRecord], shown: &SessionRecord) -> String {
    let of_issue = |record: &&SessionRecord| record.repo == shown.repo && record.issue == shown.issue;
    let mut links: Vec<(u64, String)> = Vec::new();
    for record in sessions.iter().filter(of_issue) {
        if let Some(Outcome::HandOff(given)) = &record.outcome {
            let (from, to, why) = (&record.agent, given.to.trim(), given.short_reason());
            links.push((record.updated_ms, format!("{from} → {to}, after {}: {why}", record.bill())));
        }
    }
    links.sort_unstable();
    links.into_iter().map(|(_, link)| link).collect::<Vec<_>>().join("\n")
}

/// A check that failed on the work of the last run.
fn failed_check(check: &LastLines) -> String {
    format!("failed: {}\n{}", check.command, check.lines)
}

/// The outcome of a run as text.
pub(super) fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Done { summary, title: None } => format!("done: {summary}"),
        Outcome::Done { summary, title: Some(title) } => format!("done: {title}\n{summary}"),
        Outcome::NothingToDo { reason } => format!("nothing to do: {reason}"),
        Outcome::Question { question } => format!("asks: {question}"),
        Outcome::ApprovalNeeded { proposed } => format!("needs approval: {}", proposed.line),
        Outcome::HandOff(given) => format!("hands off to `{}`: {}", given.to, given.reason),
        Outcome::Failed { reason, .. } => format!("failed: {reason}"),
    }
}

/// A moment of this machine's clock.
pub(super) fn when(ms: u64) -> String {
    let at = i64::try_from(ms).ok().and_then(chrono::DateTime::from_timestamp_millis).unwrap_or_default();
    at.format("%Y-%m-%d %H:%M:%S UTC").to_string()
}
