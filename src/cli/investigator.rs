//! The investigator without a forge: an agent of the settings, by a profile if one is named.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use hob_agent::{AgentBackend, AgentError, AgentParts, NarrowedAgent, Registry};
use hob_config::AgentSettings;
use hob_domain::{CatalogEntry, Profile, ProfileLimits, ProfileName, ProfileSource, investigation::CaseTemplate};
use hob_forge::fresh_nonce;
use hob_words::profile_brief;

use crate::cli::{
    agent_args::InvestigateArgs,
    agents::catalog_here,
    args::Shared,
    exit::{Exit, fatal},
    output,
    setup::Setup,
};

/// The agent that investigates, with its profile.
pub(super) struct Investigator {
    /// The agent's name in the settings.
    pub(super) name: String,
    pub(super) agent: Arc<dyn AgentBackend>,
    /// The profile's limits on a run.
    pub(super) limits: ProfileLimits,
    /// The agent's instructions beside the case.
    pub(super) brief: String,
    /// The case's template; `None` if there is no profile.
    pub(super) template: Option<CaseTemplate>,
}

/// The profile that a resumed case names.
#[derive(Debug, Default)]
pub(super) struct OfCase {
    /// The profile that it began with.
    pub(super) profile: Option<String>,
    /// The folder of the operator's profiles that was named then.
    pub(super) profiles: Option<PathBuf>,
}

/// Builds the agent, by the profile that is named now, otherwise by the one that the case began with.
pub(super) async fn investigator(
    setup: &Setup,
    shared: &Shared,
    args: &InvestigateArgs,
    agent: &str,
    OfCase { profile: of_case, profiles }: OfCase,
) -> anyhow::Result<Investigator> {
    let settings = &setup.settings;
    let unhealthy = |error: AgentError| fatal(Exit::Unhealthy, error.to_string());
    let mut parts =
        AgentParts { record: setup.record.clone(), ..AgentParts::new(settings, &setup.state_dir, &setup.files) };
    let mut registry = Registry::new(parts.clone()).map_err(unhealthy)?;
    if let Some(iterations) = args.iterations {
        let own = registry.settings(agent).map_err(unhealthy)?.into_owned();
        parts.agents.insert(agent.to_owned(), AgentSettings { max_iterations: Some(iterations), ..own });
        registry = Registry::new(parts).map_err(unhealthy)?;
    }
    let folder = args.profiles.clone().or(profiles);
    let folder = folder.map(|folder| folder.canonicalize().unwrap_or(folder));
    let folder = folder.as_deref();
    let profile = match (&args.profile, of_case) {
        (None, None) => None,
        (Some(name), _) => match find(setup, shared, folder, name).await? {
            ProfileSearch::Found(profile, source) => Some((*profile, source)),
            ProfileSearch::Missing(why) => return Err(fatal(Exit::NotFound, why)),
        },
        (None, Some(name)) => match find(setup, shared, folder, &name).await? {
            ProfileSearch::Found(profile, source) => Some((*profile, source)),
            ProfileSearch::Missing(why) => {
                output::warn(&format!("continuing without the profile: {why}"));
                None
            }
        },
    };
    let Some((profile, source)) = profile else {
        let agent_of = registry.get(agent).map_err(unhealthy)?;
        let (limits, brief) = Default::default();
        return Ok(Investigator { name: agent.to_owned(), agent: agent_of, limits, brief, template: None });
    };
    let narrowed = registry.narrowed(agent, &profile, source, &settings.profiles.models).map_err(unhealthy)?;
    for note in &narrowed.notes {
        output::warn(&format!("the profile `{}`: {note}", profile.name));
    }
    let NarrowedAgent { name, agent, limits, approve, .. } = narrowed;
    let brief = format!("{}\n", profile_brief(&profile.name, &profile.instructions, &fresh_nonce()));
    let profiles = folder.map(|folder| folder.to_string_lossy().into_owned());
    let template = Some(CaseTemplate { profiles, ..CaseTemplate::of_profile(&profile, approve) });
    Ok(Investigator { name, agent, limits, brief, template })
}

/// What a search for a profile found.
enum ProfileSearch {
    Found(Box<Profile>, ProfileSource),
    /// Nothing usable, and why.
    Missing(String),
}

/// The profile of this name: of the clone around the current folder, of the settings' folder or the named one, or Hob's
/// own.
async fn find(setup: &Setup, shared: &Shared, folder: Option<&Path>, name: &str) -> anyhow::Result<ProfileSearch> {
    let missing = match folder {
        Some(folder) => {
            let folder = folder.display();
            format!(
                "there is no profile `{name}` in `{folder}` or here\nhint: `hob agent list --profiles {folder}` lists the profiles"
            )
        }
        None => format!("there is no profile `{name}` here\nhint: `hob agent list` lists the profiles"),
    };
    let Ok(name) = name.parse::<ProfileName>() else { return Ok(ProfileSearch::Missing(missing)) };
    let (catalog, _) = catalog_here(setup, shared, folder).await?;
    catalog.warnings.iter().for_each(|warning| output::warn(warning));
    let fault = catalog.damaged(&name).and_then(CatalogEntry::fault);
    Ok(match (catalog.get(&name), fault) {
        (Some((profile, origin)), fault) => {
            fault.iter().for_each(|fault| output::warn(fault));
            ProfileSearch::Found(Box::new(profile.clone()), origin.source)
        }
        (None, Some(fault)) => ProfileSearch::Missing(fault),
        (None, None) => ProfileSearch::Missing(missing),
    })
}
