//! `hob agent investigate`: an investigation of files, without a forge.

use std::path::{Path, PathBuf};

use hob_agent::Executor;
use hob_domain::{
    FailureClass, Outcome, RepoName, RunId, RunReport, RunRequest, Strain,
    investigation::{Case, CaseTemplate, EvidenceKind, Given, Investigation, IssueForm},
};
use hob_text::clip;

use crate::cli::{
    agent_args::InvestigateArgs,
    alone::{self, NamedAgent},
    args::Shared,
    exit::{Exit, fatal},
    investigated::{self, Ended},
    investigator::{Investigator, OfCase, investigator},
    json,
    local::{INVESTIGATIONS, fresh, may_go_on},
    output,
    progress::Verbosity,
    screen::Screen,
    sessions,
    setup::Setup,
};

/// Bytes of one file.
const FILE_MAX: usize = 2 << 20;

/// The case of a run: a new one, or a resumed one.
struct Begun {
    session: RunId,
    run: RunId,
    agent: String,
    case: Case,
    /// The profile that the case began with, and its origin.
    by: OfCase,
}

pub(super) async fn investigate(
    mut setup: Setup,
    shared: Shared,
    mut args: InvestigateArgs,
    screen: Screen,
) -> anyhow::Result<()> {
    setup.record = std::mem::take(&mut args.record).folder()?;
    let mut begun = begin(&setup, &args).await?;
    let who = investigator(&setup, &shared, &args, &begun.agent, std::mem::take(&mut begun.by)).await?;
    if let Some(template) = who.template.clone() {
        begun.case.template = template.with_questions(&begun.case.template.questions);
    }
    let scratch = tempfile::tempdir()?;
    let folder = match &args.folder {
        Some(folder) if folder.is_dir() => folder.canonicalize()?,
        Some(folder) => return Err(fatal(Exit::Usage, format!("`{}` is not a folder", folder.display()))),
        None => scratch.path().to_owned(),
    };
    if shared.verbosity() != Verbosity::Quiet {
        screen.line(format!("The session is {}.", begun.session));
    }
    let request = request(&setup, &args, &begun, &who, folder)?;
    let agent = NamedAgent { name: &who.name, agent: who.agent.as_ref() };
    let report = alone::run(&setup, &shared, agent, args.auto_approve.into(), &request, &screen).await?;
    let record = sessions::open(&setup).investigation(&begun.session)?;
    let Some(record) = record else {
        let why = sessions::outcome(&report.outcome);
        return Err(fatal(Exit::Failure, format!("no record of the investigation was kept: {why}")));
    };
    tell(&shared, &args, &record, &report)
}

/// Prints the result; without a conclusion it is also an error that says how to continue.
fn tell(shared: &Shared, args: &InvestigateArgs, record: &Investigation, report: &RunReport) -> anyhow::Result<()> {
    let ended = Ended::new(record, report);
    if let Some(path) = &args.out {
        std::fs::write(path, output::redacted(&ended.report))
            .map_err(|error| fatal(Exit::Failure, format!("cannot write `{}`: {error}", path.display())))?;
    }
    if shared.json {
        json::result(&ended)?;
    } else {
        investigated::print(record, report)?;
    }
    let id = &record.id;
    match &report.outcome {
        Outcome::Done { .. } | Outcome::NothingToDo { .. } if record.conclusion.is_some() => Ok(()),
        Outcome::Question { question } => {
            let how = format!("answer with `hob agent investigate --resume {id} -m TEXT` or `--evidence FILE`");
            Err(fatal(Exit::Unfinished, format!("it asks for evidence: {}\nhint: {how}", one_line(question))))
        }
        Outcome::ApprovalNeeded { proposed } => {
            let how = format!(
                "`hob agent investigate --resume {id}` on a terminal asks for it, and with `--auto-approve` it is given"
            );
            Err(fatal(Exit::Unfinished, format!("`{}` needs approval\nhint: {how}", one_line(&proposed.line))))
        }
        Outcome::Failed { failure: FailureClass::Cancelled, .. } => {
            let how = format!("`hob agent investigate --resume {id}` continues it");
            Err(fatal(Exit::Unfinished, format!("stopped before it reached a conclusion\nhint: {how}")))
        }
        Outcome::Failed { reason, .. } => {
            let how = format!("`hob agent investigate --resume {id}` continues it");
            Err(fatal(Exit::Unfinished, format!("there is no conclusion: {reason}\nhint: {how}")))
        }
        Outcome::Done { .. } | Outcome::NothingToDo { .. } | Outcome::HandOff(_) => {
            Err(fatal(Exit::Unfinished, "there is no conclusion".to_owned()))
        }
    }
}

fn one_line(text: &str) -> String {
    clip(text, 1_000).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn request(
    setup: &Setup,
    args: &InvestigateArgs,
    begun: &Begun,
    who: &Investigator,
    folder: PathBuf,
) -> anyhow::Result<RunRequest> {
    let budgets = setup.settings.budgets();
    let (time, time_setting) = match (args.time, who.limits.max_time) {
        (Some(time), _) => (time, "--time"),
        (None, Some(most)) if most < setup.settings.limits.attempt_time => (most, "the profile's `max_time`"),
        (None, _) => (setup.settings.limits.attempt_time, "limits.attempt_time"),
    };
    let least = |a: Option<u64>, b: Option<u64>| a.into_iter().chain(b).min();
    Ok(RunRequest {
        run: begun.run.clone(),
        purpose: hob_domain::RunPurpose::Investigate,
        session: begun.session.clone(),
        repo: INVESTIGATIONS.parse::<RepoName>()?,
        issue: 0.into(),
        title: begun.case.title.clone(),
        body: String::new(),
        brief: who.brief.clone(),
        folder,
        checks: Vec::new(),
        time,
        time_setting,
        usd_micros: least(who.limits.usd_micros, least(budgets.attempt.usd_micros, budgets.issue.usd_micros)),
        tokens: least(who.limits.max_tokens, least(budgets.attempt.tokens, budgets.issue.tokens)),
        approved: Vec::new(),
        investigation: Some(begun.case.clone()),
        hand_off_to: Vec::new(),
        images: Vec::new(),
        strain: Strain::Usual,
        checks_took: Default::default(),
        candidate: 0,
    })
}

/// The case of the given files, or the resumed one.
async fn begin(setup: &Setup, args: &InvestigateArgs) -> anyhow::Result<Begun> {
    let Some(text) = &args.resume else {
        let id = fresh("case");
        let agent = args.agent.clone().unwrap_or_else(|| setup.settings.local_agent().to_owned());
        return Ok(Begun { session: id.clone(), run: id, agent, case: case(args)?, by: OfCase::default() });
    };
    let store = sessions::open(setup);
    let found =
        store.find(text, Some(&INVESTIGATIONS.parse()?)).map_err(|error| fatal(Exit::NotFound, error.to_string()))?;
    may_go_on(&found)?;
    Executor::new(store.clone(), setup.settings.runs.clone()).end_leftovers(&found).await;
    let mut evidence = files(&args.evidence)?;
    if let Some(said) = args.message.as_ref().filter(|said| !said.trim().is_empty()) {
        evidence.push(Given { kind: EvidenceKind::Comment, source: "the terminal".into(), text: said.clone() });
    }
    let case = Case { evidence, ..Case::default() };
    let agent = args.agent.clone().unwrap_or(found.agent);
    // A damaged one is started over.
    let kept = store.investigation(&found.id).ok().flatten();
    let by = kept.map_or_else(OfCase::default, |record| OfCase {
        profile: record.profile,
        profiles: record.profiles.map(PathBuf::from),
    });
    Ok(Begun { run: fresh(found.id.as_str()), session: found.id, agent, case, by })
}

fn case(args: &InvestigateArgs) -> anyhow::Result<Case> {
    let text = args.task.as_deref().map(read).transpose()?.unwrap_or_default();
    let Some(text) = text else { return Err(fatal(Exit::Usage, "the file of `--task` is not text".to_owned())) };
    let (title, body) = text.trim_start().split_once('\n').unwrap_or((text.trim(), ""));
    let title = title.trim_start_matches('#').trim();
    if title.is_empty() {
        return Err(fatal(Exit::Usage, "the file of `--task` is empty".to_owned()));
    }
    let form = args.form.as_deref().and_then(form);
    let mut case = Case::of_issue(title, body, &[], form.as_ref(), CaseTemplate::default());
    case.evidence.extend(files(&args.evidence)?);
    Ok(case)
}

/// The form in a file. An unusable one is a warning: the case can be investigated without.
fn form(path: &Path) -> Option<IssueForm> {
    let read = std::fs::read_to_string(path).map_err(|error| error.to_string());
    match read.and_then(|text| IssueForm::parse(&text).map_err(|error| error.to_string())) {
        Ok(form) => {
            for passed_over in &form.passed_over {
                output::warn(&format!("`{}`: {passed_over}", path.display()));
            }
            Some(form)
        }
        Err(error) => {
            output::warn(&format!("`{}` is not used: {error}", path.display()));
            None
        }
    }
}

/// The files that are text; the others are left out with a warning. A missing one is an error: nothing has begun.
fn files(paths: &[PathBuf]) -> anyhow::Result<Vec<Given>> {
    let mut given = Vec::new();
    for path in paths {
        if let Some(text) = read(path)? {
            let source = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
            given.push(Given { kind: EvidenceKind::File, source, text });
        }
    }
    Ok(given)
}

/// A file's text; `None`, with a warning, if it is not text. Of a long one the beginning and the end count.
fn read(path: &Path) -> anyhow::Result<Option<String>> {
    let bytes = std::fs::read(path)
        .map_err(|error| fatal(Exit::NotFound, format!("cannot read `{}`: {error}", path.display())))?;
    let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    if text.is_none() {
        output::warn(&format!("`{}` is left out: it is not text", path.display()));
    }
    Ok(text.map(|text| {
        if text.len() > FILE_MAX {
            output::warn(&format!("`{}` has {} bytes: only the first {FILE_MAX} are used", path.display(), text.len()));
        }
        clip(&text, FILE_MAX)
    }))
}
