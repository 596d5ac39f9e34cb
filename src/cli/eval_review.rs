//! `hob eval review`: the quality of a reviewer, on changes with known defects. It asks the model of the settings, or
//! the one that is named, once a change.

use std::{path::Path, time::Duration};

use hob_agent::{AgentParts, Executor, NarrowedAgent, Registry, RunContext, session::Sessions};
use hob_config::child_environment;
use hob_domain::{
    CatalogEntry, IssueNumber, Outcome, Profile, ProfileFiles, ProfileName, ProfileSource, RepoName, RunId, RunPurpose,
    RunRequest, Spend, Strain,
};
use hob_forge::fresh_nonce;
use hob_text::terminal;
use hob_words::{Findings, Judgement, ReviewCase, ReviewScore, ReviewerParts, reviewer_brief};
use hob_worker::catalog;
use serde::Serialize;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::cli::{
    args::Shared,
    eval::{BadLine, lines_of},
    eval_args::ReviewArgs,
    exit::{Exit, fatal},
    json,
    layout::Table,
    output,
    setup::{Setup, sandbox_of},
};

/// Bytes of a file of changes that are read.
const CASES_MAX: u64 = 64 << 20;
/// The time limit of one review.
const TIME: Duration = Duration::from_secs(600);
/// Bytes of an issue that are passed on.
const TEXT_MAX: usize = 64 * 1024;

/// The reviewer's answer for one change.
#[derive(Debug, Serialize)]
struct Case {
    id: String,
    language: String,
    /// The kind of its defect; `None` if nothing is wrong with it.
    kind: Option<String>,
    judgement: Judgement,
    findings: Option<Findings>,
    /// Why there is no answer.
    why: Option<String>,
}

#[derive(Debug, Serialize)]
struct Report {
    #[serde(flatten)]
    score: ReviewScore,
    usd: f64,
    tokens: u64,
    bad_lines: Vec<BadLine>,
    cases: Vec<Case>,
}

/// The parts that all reviews need.
struct Reviewer {
    profile: Profile,
    agent: NarrowedAgent,
    executor: Executor,
    repo: RepoName,
}

pub(super) async fn review(setup: Setup, shared: &Shared, args: &ReviewArgs) -> anyhow::Result<()> {
    let (cases, bad_lines) = read(&args.file)?;
    let scratch = tempfile::tempdir()?;
    let sessions = Sessions::new(scratch.path().join("sessions"), setup.settings.state.clone());
    let executor = Executor::new(sessions.without(setup.secrets.clone()), setup.settings.runs.clone());
    let (profile, agent) = reviewer(&setup, args.model.clone()).await?;
    let reviewer = Reviewer { profile, agent, executor, repo: "review/corpus".parse()? };
    let (mut judged, mut spent) = (Vec::new(), Spend::default());
    for (number, case) in cases.iter().enumerate() {
        let (reviewed, spend) = look(&setup, &reviewer, number + 1, case, scratch.path()).await?;
        spent = spent + spend;
        let (findings, why) = match reviewed {
            Reviewed::With(findings) => (Some(findings), None),
            Reviewed::Not(why) => (None, Some(why)),
        };
        let judgement = case.judge(findings.as_ref());
        output::note(format!("{}: {}", terminal(&case.id), word(judgement)));
        judged.push(Case {
            id: case.id.clone(),
            language: case.language.clone(),
            kind: case.defect.as_ref().map(|defect| defect.kind.clone()),
            judgement,
            why,
            findings,
        });
    }
    let score: ReviewScore = judged.iter().map(|case| case.judgement).collect();
    if shared.json {
        let usd = spent.usd_micros as f64 / 1e6;
        return json::result(&Report { score, usd, tokens: spent.tokens(), bad_lines, cases: judged });
    }
    print(&score, spent)
}

fn read(file: &Path) -> anyhow::Result<(Vec<ReviewCase>, Vec<BadLine>)> {
    let read = |_number, bytes: &[u8]| Ok(serde_json::from_slice(bytes)?);
    let (cases, bad_lines) = lines_of(file, CASES_MAX, read)?;
    if cases.is_empty() {
        return Err(fatal(Exit::Usage, format!("`{}` has no line with a change", file.display())));
    }
    Ok((cases, bad_lines))
}

/// The reviewer of the settings, or Hob's own, with the requested model.
async fn reviewer(setup: &Setup, model: Option<String>) -> anyhow::Result<(Profile, NarrowedAgent)> {
    let settings = &setup.settings;
    let name = match settings.review.reviewer.as_str() {
        "" => "reviewer",
        name => name,
    };
    let name: ProfileName = name.parse()?;
    let catalog = catalog(Ok(ProfileFiles::default()), &settings.profiles).await;
    let Some((profile, origin)) = catalog.get(&name) else {
        let missing = || format!("there is no profile `{name}`\nhint: `hob agent list` lists the profiles");
        return Err(fatal(Exit::Usage, catalog.damaged(&name).and_then(CatalogEntry::fault).unwrap_or_else(missing)));
    };
    let mut profile = profile.clone();
    // The operator names it here, as in a profile of their own.
    let source = if model.is_some() { ProfileSource::Settings } else { origin.source };
    profile.model = model.or(profile.model);
    let registry = Registry::new(AgentParts::new(settings, &setup.state_dir, &setup.files))?;
    let agent = registry.narrowed(settings.local_agent(), &profile, source, &settings.profiles.models)?;
    Ok((profile, agent))
}

/// The result of a review.
enum Reviewed {
    With(Findings),
    /// There are no findings, for this reason.
    Not(String),
}

/// Has one change reviewed; returns the findings, or why there are none, and the cost.
async fn look(
    setup: &Setup,
    reviewer: &Reviewer,
    number: usize,
    case: &ReviewCase,
    scratch: &Path,
) -> anyhow::Result<(Reviewed, Spend)> {
    let folder = tempfile::tempdir_in(scratch)?;
    for (path, text) in case.files() {
        if !path.split('/').all(|part| !matches!(part, "" | "." | "..")) {
            return Ok((Reviewed::Not(format!("`{path}` is not a path within a repository")), Spend::default()));
        }
        let path = folder.path().join(path);
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::write(path, text)?;
    }
    let request = request(reviewer, number, case, folder.path());
    let (sender, mut lines) = mpsc::channel(64);
    let sandbox = sandbox_of(&setup.settings, &setup.state_dir).await;
    let context = RunContext::new(CancellationToken::new(), sender, child_environment(), sandbox);
    let run = async {
        let name = reviewer.profile.name.as_str();
        let report = reviewer.executor.run(name, reviewer.agent.agent.as_ref(), &request, &context).await;
        drop(context);
        report
    };
    let (report, ()) = tokio::join!(run, async { while lines.recv().await.is_some() {} });
    // A problem with the settings is the same for each of them.
    let report = report?;
    let found = match report.outcome {
        Outcome::Done { summary: said, .. } | Outcome::NothingToDo { reason: said } => {
            match Findings::read(&said, &case.diff()) {
                Ok(findings) => Reviewed::With(findings),
                Err(error) => Reviewed::Not(error.to_string()),
            }
        }
        Outcome::Failed { reason, .. } => Reviewed::Not(reason),
        Outcome::Question { .. } | Outcome::ApprovalNeeded { .. } => Reviewed::Not("it asked a person".to_owned()),
        Outcome::HandOff(_) => Reviewed::Not("it tried to hand off the work".to_owned()),
    };
    Ok((found, report.spend))
}

fn request(reviewer: &Reviewer, number: usize, case: &ReviewCase, folder: &Path) -> RunRequest {
    let issue = IssueNumber(number as u64);
    let brief = reviewer_brief(&ReviewerParts {
        repo: &reviewer.repo,
        issue,
        title: &case.issue,
        body: "",
        comments: &[],
        profile: (&reviewer.profile.name, &reviewer.profile.instructions),
        patch: &case.patch,
        evidence: "No checks were run.",
        text_bytes: TEXT_MAX,
        fence: &fresh_nonce(),
    });
    let (run, limits) = (RunId(format!("review-corpus-{number}")), &reviewer.agent.limits);
    RunRequest {
        session: run.clone(),
        run,
        purpose: RunPurpose::Review,
        repo: reviewer.repo.clone(),
        issue,
        title: case.issue.clone(),
        body: String::new(),
        brief,
        folder: folder.to_owned(),
        checks: Vec::new(),
        time: limits.max_time.map_or(TIME, |time| time.min(TIME)),
        time_setting: "a reviewer's time",
        usd_micros: limits.usd_micros,
        tokens: limits.max_tokens,
        approved: Vec::new(),
        investigation: None,
        hand_off_to: Vec::new(),
        images: Vec::new(),
        strain: Strain::Usual,
        checks_took: Default::default(),
        candidate: 0,
    }
}

fn word(judgement: Judgement) -> &'static str {
    match judgement {
        Judgement::Found => "found",
        Judgement::Missed => "missed",
        Judgement::FalseAlarm => "a false alarm",
        Judgement::Clean => "rightly left alone",
        Judgement::NoAnswer => "no answer",
    }
}

fn print(score: &ReviewScore, spent: Spend) -> anyhow::Result<()> {
    let mut table = Table::new(&["figure", "value"], &["what it says"]);
    let mut row = |figure: &str, value: String, says: &str| table.row(vec![figure.to_owned(), value, says.to_owned()]);
    row("changes", score.changes.to_string(), "reviewed");
    row("found", score.found.to_string(), "defects found");
    row("missed", score.missed.to_string(), "defects not found");
    row("false alarms", score.false_alarms.to_string(), "changes without a defect where the reviewer found one");
    row("clean", score.clean.to_string(), "changes without a defect where it found none");
    row("no answers", score.no_answers.to_string(), "answers that could not be used");
    row("cost", spent.to_string(), "of all reviews");
    Ok(table.print()?)
}
