//! The scripts of the rehearsals: the bundled one with five issues, and one with the user's own repository.

use std::{collections::BTreeMap, path::Path};

use anyhow::Context;
use github_emulator::SeedFile;
use hob_agent::AgentParts;
use hob_config::{AgentSettings, BackendKind, Settings, TierSetting, child_environment};
use hob_domain::{RepoName, State};
use hob_sandbox::Tier;
use hob_worker::{RunLimits, WorkError, WorkEvent, run_once, try_sandbox};
use include_dir::{Dir, DirEntry, include_dir};

use crate::cli::{
    exit::{Exit, fatal},
    layout::{width_of, wrapped},
    output::{BOLD, styled},
    progress::{Show, Timed, Verbosity},
    rehearsal::stage::{Desk, Source, Stage},
    setup::{Setup, sandbox_of},
};

static BUNDLE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/config/rehearsal");

/// The bundled rehearsal: a merged fix, a recipe, a question with its answer, an issue that is routed and handed off, a refusal.
pub(in crate::cli) async fn bundled(setup: Setup, desk: &Desk) -> anyhow::Result<Stage> {
    let texts = tempfile::tempdir()?;
    let cassette = texts.path().join("cassette.json");
    std::fs::write(&cassette, text("cassette.json")?)?;
    let mut settings = *setup.settings;
    let native = AgentSettings { model: Some(format!("cassette/{}", cassette.display())), ..AgentSettings::default() };
    settings.agents = BTreeMap::from([("native".to_owned(), native)]);
    for name in ["asker", "hardener", "scribe"] {
        let command = ["sh", "-c", text(&format!("{name}.sh"))?].map(str::to_owned).to_vec();
        let agent = AgentSettings { backend: BackendKind::Command, command, ..AgentSettings::default() };
        settings.agents.insert(name.to_owned(), agent);
    }
    settings.agent = "native".to_owned();
    settings.sandbox.tier = tier_of(&settings, texts.path(), desk).await;
    let agents = AgentParts { agents: settings.agents.clone(), record: setup.record, ..AgentParts::default() };
    let files = bundled_files();
    let repo: RepoName = "hob/pace".parse()?;
    let stage = Stage::set(settings, repo, Source::Files(&files), agents, None, desk).await?;
    play(&stage, desk).await?;
    stage.watch.written()?;
    verify(&stage)?;
    Ok(stage)
}

/// The tier of the settings, if the machine has it. Only Hob's own agents run in this rehearsal, so it also works
/// without one.
async fn tier_of(settings: &Settings, folder: &Path, desk: &Desk) -> TierSetting {
    let sandbox = sandbox_of(settings, folder).await;
    let (tier, said) = match (sandbox.tier(), try_sandbox(&sandbox, &child_environment()).await) {
        (Tier::None, _) => (TierSetting::None, "without a sandbox: the setting `sandbox.tier` says so".to_owned()),
        (_, Err(why)) => (TierSetting::None, format!("without a sandbox: {why}")),
        (tier, Ok(_holds)) => {
            let better = match sandbox.lacks() {
                Some(why) => format!("; {why}"),
                None if settings.sandbox.tier == TierSetting::Auto => ", the best of this machine".to_owned(),
                None => String::new(),
            };
            let setting = if tier == Tier::Box { TierSetting::Box } else { TierSetting::Fence };
            (setting, format!("in a sandbox of the tier `{tier}`{better}"))
        }
    };
    say(desk, &format!("agents and checks run {said}"));
    tier
}

async fn play(stage: &Stage, desk: &Desk) -> anyhow::Result<()> {
    let (ann, otto) = (&stage.maintainer, &stage.outsider);
    say(desk, "ann opens issues and labels the first one; the model's replies are recorded, everything else is real");
    ann.make_label("code").await?;
    for n in 1..=4 {
        let (title, body) = issue(n)?;
        ann.open_issue(title, body).await?;
    }
    let (title, body) = issue(5)?;
    otto.open_issue(title, body).await?;
    ann.label(1, &["code"]).await?;
    run_once(&stage.worker, RunLimits::default()).await?;
    if let Some(pull) = published(stage).first() {
        say(
            desk,
            "ann merges the pull request and labels three more issues; otto, who has no write permission, labels his own",
        );
        ann.merge(*pull).await?;
    }
    ann.label(2, &["code", "agent:notice"]).await?;
    ann.label(3, &["code", "agent:asker"]).await?;
    ann.label(4, &["code"]).await?;
    otto.label(5, &["code"]).await?;
    run_once(&stage.worker, RunLimits::default()).await?;
    say(desk, "ann answers the question in a comment");
    ann.comment(3, text("answer.md")?.trim()).await?;
    run_once(&stage.worker, RunLimits::default()).await?;
    Ok(())
}

/// A rehearsal with a repository, an issue and an agent of the user's own.
pub(in crate::cli) async fn own(
    setup: Setup,
    folder: &Path,
    issue: &Path,
    agent: Option<String>,
    desk: &Desk,
) -> anyhow::Result<Stage> {
    let written = std::fs::read_to_string(issue)
        .map_err(|error| fatal(Exit::Usage, format!("the issue `{}` cannot be read: {error}", issue.display())))?;
    let (title, body) = titled(&written);
    if title.is_empty() {
        return Err(fatal(Exit::Usage, format!("the first line of `{}` must be the issue's title", issue.display())));
    }
    let name =
        folder.canonicalize().ok().and_then(|path| path.file_name().map(|name| name.to_string_lossy().into_owned()));
    let name: String =
        name.unwrap_or_default().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let repo: RepoName = format!("rehearsal/{}", if name.is_empty() { "repository" } else { &name }).parse()?;
    let agents =
        AgentParts { record: setup.record, ..AgentParts::new(&setup.settings, &setup.state_dir, &setup.files) };
    let stage = Stage::set(*setup.settings, repo, Source::Folder(folder), agents, agent, desk).await?;
    let ann = &stage.maintainer;
    ann.make_label("code").await?;
    let number = ann.open_issue(title, body).await?;
    ann.label(number, &["code"]).await?;
    match run_once(&stage.worker, RunLimits::default()).await?.lacks {
        Some(lacks) => Err(WorkError::Shared(lacks).into()),
        None => Ok(stage),
    }
}

/// Checks the end of the bundled rehearsal; a difference is a bug in Hob or a problem of this machine.
fn verify(stage: &Stage) -> anyhow::Result<()> {
    let mut ends: BTreeMap<u64, String> = BTreeMap::new();
    for Timed { event, .. } in stage.watch.log.lock().unwrap_or_else(std::sync::PoisonError::into_inner).iter() {
        match event {
            WorkEvent::Moved { issue, state, .. } => drop(ends.insert(issue.0, state.to_string())),
            WorkEvent::Refused { issue, .. } => drop(ends.insert(issue.0, "refused".to_owned())),
            WorkEvent::Polled { .. }
            | WorkEvent::CreatesLabels { .. }
            | WorkEvent::Progress { .. }
            | WorkEvent::Activity { .. }
            | WorkEvent::AgentStarted { .. }
            | WorkEvent::Checked { .. }
            | WorkEvent::Published { .. }
            | WorkEvent::Failed { .. } => {}
        }
    }
    let review = State::InReview.to_string();
    let done = State::Done.to_string();
    let wanted = [(1, done), (2, review.clone()), (3, review.clone()), (4, review), (5, "refused".to_owned())];
    let wrong: Vec<_> = wanted
        .iter()
        .filter(|(issue, end)| ends.get(issue) != Some(end))
        .map(|(issue, end)| {
            format!(
                "issue {issue} should end as {end}, but ended as {}",
                ends.get(issue).map_or("untouched", |end| end)
            )
        })
        .collect();
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(fatal(Exit::Rehearsal, format!("the rehearsal failed: {}", wrong.join("; "))))
    }
}

/// The pull requests that were opened so far.
fn published(stage: &Stage) -> Vec<u64> {
    let log = stage.watch.log.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let number = |Timed { event, .. }: &Timed| match event {
        WorkEvent::Published { pull, .. } => Some(pull.0),
        WorkEvent::Polled { .. }
        | WorkEvent::CreatesLabels { .. }
        | WorkEvent::Moved { .. }
        | WorkEvent::Refused { .. }
        | WorkEvent::Progress { .. }
        | WorkEvent::Activity { .. }
        | WorkEvent::AgentStarted { .. }
        | WorkEvent::Checked { .. }
        | WorkEvent::Failed { .. } => None,
    };
    log.iter().filter_map(number).collect()
}

fn issue(n: u64) -> anyhow::Result<(&'static str, &'static str)> {
    Ok(titled(text(&format!("issues/{n}.md"))?))
}

/// The first line, without the heading's `#`, and the rest.
fn titled(text: &str) -> (&str, &str) {
    let (title, body) = text.trim_start().split_once('\n').unwrap_or((text, ""));
    (title.trim_start_matches('#').trim(), body.trim())
}

fn text(path: &str) -> anyhow::Result<&'static str> {
    BUNDLE.get_file(path).and_then(|file| file.contents_utf8()).with_context(|| format!("the rehearsal lacks `{path}`"))
}

fn bundled_files() -> Vec<SeedFile<'static>> {
    let mut found = Vec::new();
    if let Some(root) = BUNDLE.get_dir("repository") {
        collect(root, &mut found);
    }
    found
}

fn collect(dir: &'static Dir<'static>, found: &mut Vec<SeedFile<'static>>) {
    for entry in dir.entries() {
        match entry {
            DirEntry::Dir(below) => collect(below, found),
            DirEntry::File(file) => {
                let path = file.path().strip_prefix("repository").unwrap_or_else(|_| file.path());
                if let Some(path) = path.to_str() {
                    found.push((path, file.contents(), false));
                }
            }
        }
    }
}

fn say(desk: &Desk, text: &str) {
    match desk.show {
        Show::Lines(Verbosity::Stages | Verbosity::Everything)
        | Show::Both(Verbosity::Stages | Verbosity::Everything) => {
            let text = wrapped(&styled(BOLD, text), width_of(std::io::stderr()), 0);
            desk.screen.line(format!("\n{text}"));
        }
        Show::Lines(Verbosity::Quiet) | Show::Both(Verbosity::Quiet) | Show::Json => {}
    }
}
