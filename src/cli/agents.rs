//! `hob agent list`: the configured agents, and the profiles with the origin of each and why one does not count.

use std::path::{Path, PathBuf};

use hob_agent::{AgentParts, Registry};
use hob_config::{AdapterName, BackendKind, ProfileSettings, Settings, child_environment};
use hob_domain::{Catalog, CatalogEntry, Profile, ProfileFiles, ProfileSource, Sha, Standing, allowed_model};
use hob_process::Program;
use hob_text::terminal;
use hob_worker::catalog;
use hob_workspace::commit_profiles;
use serde::Serialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::cli::{
    agent_args::AgentListArgs,
    args::Shared,
    json,
    layout::{self, Table, shortened},
    output,
    remote::origin,
    setup::Setup,
};

/// Characters of a description in the table.
const SHOWN: usize = 160;

/// One agent.
#[derive(Serialize)]
struct Agent {
    name: String,
    backend: BackendKind,
    model: Option<String>,
    is_default: bool,
    /// Its unmet needs here, in a sentence.
    lacks: Option<String>,
}

/// The commit of the clone around the current folder whose profiles are shown.
pub(super) struct Clone {
    objects: PathBuf,
    commit: Sha,
    /// The ref that names it.
    reference: String,
}

pub(super) async fn agents(setup: &Setup, shared: &Shared, args: &AgentListArgs) -> anyhow::Result<()> {
    let settings = &setup.settings;
    let agents = agents_of(setup)?;
    let (catalog, clone) = catalog_here(setup, shared, args.profiles.as_deref()).await?;
    if shared.json {
        let profiles: Vec<Value> = catalog.entries.iter().map(|entry| as_json(entry, settings)).collect();
        return json::result(&json!({
            "agents": agents,
            "known": AdapterName::ALL.map(AdapterName::as_str),
            "commit": clone.as_ref().map(|clone| clone.commit.as_str()),
            "profiles": profiles,
            "warnings": catalog.warnings,
        }));
    }
    print_agents(&agents)?;
    print_profiles(&catalog, settings)?;
    let of_repository = match clone {
        Some(Clone { commit, reference, .. }) => {
            format!("The repository's profiles are those of `{reference}` in this clone, commit {}.", commit.short())
        }
        None => "To see a repository's profiles, run this in a clone of it.".to_owned(),
    };
    output::line("")?;
    Ok(layout::paragraph(&of_repository)?)
}

/// The profiles that count here, with the operator's from `folder` if one is named, and the clone that some of them are
/// from.
pub(super) async fn catalog_here(
    setup: &Setup,
    shared: &Shared,
    folder: Option<&Path>,
) -> anyhow::Result<(Catalog, Option<Clone>)> {
    let of_settings = setup.settings.profiles.clone();
    let folder = folder.map(|folder| folder.to_string_lossy().into_owned());
    let settings = &ProfileSettings { folder: folder.unwrap_or(of_settings.folder), ..of_settings };
    let clone = clone_here(setup, shared).await?;
    let files = match &clone {
        Some(clone) => commit_profiles(&clone.objects, &clone.commit, settings.max).await,
        None => Ok(ProfileFiles::default()),
    };
    Ok((catalog(files, settings).await, clone))
}

fn agents_of(setup: &Setup) -> anyhow::Result<Vec<Agent>> {
    let settings = &setup.settings;
    let registry = Registry::new(AgentParts::new(settings, &setup.state_dir, &setup.files))?;
    let mut names = registry.names();
    if !names.contains(&settings.agent) {
        names.push(settings.agent.clone());
    }
    let agent = |name: String| {
        // A missing default agent is reported by `hob doctor`.
        let made_of = registry.settings(&name).ok()?;
        let backend = made_of.backend;
        let of_all = settings.model.default.clone().filter(|_| backend == BackendKind::Native);
        let model = made_of.model.clone().or(of_all);
        let lacks = registry.lacks(&name, &settings.sandbox);
        Some(Agent { is_default: name == settings.agent, name, backend, model, lacks })
    };
    Ok(names.into_iter().filter_map(agent).collect())
}

/// The base branch of the clone, as of its last fetch; `None` if this is not a clone, or one of another repository than
/// the named one.
async fn clone_here(setup: &Setup, shared: &Shared) -> anyhow::Result<Option<Clone>> {
    if let Some(named) = setup.at_most_one(shared)?
        && origin().await.is_none_or(|found| !found.repo.is(&named))
    {
        return Ok(None);
    }
    let Some(objects) = git(&["rev-parse", "--path-format=absolute", "--git-path", "objects"]).await else {
        return Ok(None);
    };
    let base = &setup.settings.publish.base;
    let of_settings = (!base.is_empty()).then(|| format!("origin/{base}"));
    for reference in of_settings.into_iter().chain(["origin/HEAD", "HEAD"].map(str::to_owned)) {
        let full = if reference == "HEAD" { reference.clone() } else { format!("refs/remotes/{reference}") };
        if let Some(commit) = git(&["rev-parse", "--verify", "--quiet", &format!("{full}^{{commit}}")]).await {
            return Ok(Some(Clone { objects: objects.into(), commit: commit.into(), reference }));
        }
    }
    Ok(None)
}

/// Git's output in the current folder; `None` if it fails.
async fn git(args: &[&str]) -> Option<String> {
    let finished = Program::of_hob("git", &child_environment()).args(args).run(&CancellationToken::new()).await.ok()?;
    let text = finished.stdout.text().trim().to_owned();
    (finished.exit.is_success() && !text.is_empty()).then_some(text)
}

fn as_json(entry: &CatalogEntry, settings: &Settings) -> Value {
    let profile = entry.profile();
    let (standing, hidden_by) = match &entry.standing {
        Standing::InUse(_) => ("in-use", None),
        Standing::Hidden { by, profile: _ } => ("hidden", Some(by.to_string())),
        Standing::Unusable { .. } => ("unusable", None),
    };
    json!({
        "name": profile.map(|profile| &profile.name),
        "source": entry.origin.source,
        "file": entry.origin.file,
        "standing": standing,
        "hidden_by": hidden_by,
        "description": profile.map(|profile| &profile.description),
        "deliverable": profile.map(|profile| profile.deliverable),
        "model": profile.and_then(|profile| profile.model.as_ref()),
        "model_allowed": is_model_allowed(entry, settings),
        "problems": entry.problems,
    })
}

/// Whether the profile gets the model that it names, if it names one.
fn is_model_allowed(entry: &CatalogEntry, settings: &Settings) -> bool {
    entry
        .profile()
        .and_then(|profile| profile.model.as_ref())
        .is_none_or(|model| allowed_model(model, entry.origin.source, &settings.profiles.models).is_some())
}

fn print_agents(agents: &[Agent]) -> anyhow::Result<()> {
    let mut table = Table::new(&["agent", "backend"], &["model", ""]);
    for agent in agents {
        let model = agent.model.clone().unwrap_or_else(|| "-".to_owned());
        let default = agent.is_default.then(|| "the default".to_owned());
        let note = default.into_iter().chain(agent.lacks.clone()).collect::<Vec<_>>().join("; ");
        table.row(vec![agent.name.clone(), String::from(agent.backend), model, note]);
    }
    if agents.is_empty() {
        layout::paragraph("No agent is set up: `hob doctor` says what is missing.")?;
    } else {
        table.print()?;
    }
    let known = AdapterName::ALL.map(AdapterName::as_str).join(", ");
    output::line("")?;
    Ok(layout::paragraph(&format!("Available without settings: {known}."))?)
}

/// A table of those that count, and below it why the others do not, and their problems.
fn print_profiles(catalog: &Catalog, settings: &Settings) -> anyhow::Result<()> {
    let mut table = Table::new(&["profile", "brings", "from"], &["about"]);
    for entry in &catalog.entries {
        let Standing::InUse(profile) = &entry.standing else { continue };
        let (name, source) = (profile.name.to_string(), entry.origin.source.to_string());
        let about = shortened(&about(profile, entry, settings), SHOWN);
        table.row(vec![name, profile.deliverable.to_string(), source, about]);
    }
    output::line("")?;
    table.print()?;
    for note in notes(catalog) {
        output::line("")?;
        layout::paragraph(&terminal(&note).replace('\n', " "))?;
    }
    Ok(())
}

/// Why files of profiles do not count, and the problems of those that do, a sentence each.
pub(super) fn notes(catalog: &Catalog) -> Vec<String> {
    let mut notes = catalog.warnings.clone();
    for entry in &catalog.entries {
        let (origin, problems) = (&entry.origin, entry.problems.iter());
        match &entry.standing {
            Standing::InUse(_) => notes.extend(problems.map(|problem| format!("{origin}: {problem}"))),
            Standing::Hidden { profile, by } if origin.source == ProfileSource::Ready => {
                notes.push(format!("Hob's own `{}` is hidden by {by}", profile.name));
            }
            Standing::Hidden { profile, by } => {
                notes.push(format!("{origin}: `{}` is hidden by {by}", profile.name));
            }
            Standing::Unusable { .. } => notes.extend(entry.fault()),
        }
    }
    notes
}

/// The purpose of a profile, after the model that it names.
fn about(profile: &Profile, entry: &CatalogEntry, settings: &Settings) -> String {
    let description = &profile.description;
    match &profile.model {
        Some(model) if is_model_allowed(entry, settings) => format!("model {model}. {description}"),
        Some(model) => {
            format!("model {model}, which is not in `profiles.models`; the agent's own model is used. {description}")
        }
        None => description.clone(),
    }
}
