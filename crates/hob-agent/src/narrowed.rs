//! An agent of the settings that works by a profile, never with more rights than the settings give it.

use std::{collections::BTreeSet, sync::Arc};

use hob_config::{AgentSettings, BackendKind, FailedCommands};
use hob_domain::{Bounds, Impact, Narrowed, Profile, ProfileLimits, ProfileSource};

use crate::{
    AgentBackend, AgentError, Registry,
    native::{TURNS, built_in_tools},
};

/// An agent that works by a profile.
pub struct NarrowedAgent {
    /// The agent of the settings that it is.
    pub name: String,
    /// The backend that runs it.
    pub agent: Arc<dyn AgentBackend>,
    /// The limits of its runs, with any backend.
    pub limits: ProfileLimits,
    /// The highest impact of an action that needs no approval.
    pub approve: Impact,
    /// The profile's requests that were not granted, in words.
    pub notes: Vec<String>,
}

impl Registry {
    /// Builds the agent for a profile: the one that it names, otherwise `base`, narrowed to its requests. `models` are
    /// those that a repository's profile may choose.
    ///
    /// # Errors
    /// If the agent's settings, with the profile's model, do not make one.
    pub fn narrowed(
        &self,
        base: &str,
        profile: &Profile,
        source: ProfileSource,
        models: &[String],
    ) -> Result<NarrowedAgent, AgentError> {
        let agents: BTreeSet<String> = self.names().into_iter().collect();
        let name = profile.backend.clone().filter(|name| agents.contains(name)).unwrap_or_else(|| base.to_owned());
        let settings = self.settings(&name)?.into_owned();
        let mut narrowed = bounds(&settings, models, agents).narrowed(profile, source);
        let agent = match settings.backend {
            BackendKind::Native => {
                let own = self.models_of(&settings);
                self.build_of(&name, &native(settings, &narrowed, own))?
            }
            BackendKind::Command | BackendKind::Acp | BackendKind::Recipe | BackendKind::Adapter(_) => {
                if profile.tools.is_some() || !profile.denied.is_empty() {
                    narrowed.notes.push(format!("the tools of the agent `{name}` are its own"));
                }
                let takes_model = matches!(settings.backend, BackendKind::Adapter(_) | BackendKind::Acp);
                let model = narrowed.model.take().filter(|_| takes_model).or(settings.model.clone());
                // The limits and approvals of an investigation are taken from these.
                self.build_of(&name, &AgentSettings { model, ..limited(settings, &narrowed) })?
            }
        };
        let Narrowed { limits, approve, notes, .. } = narrowed;
        Ok(NarrowedAgent { name, agent, limits, approve, notes })
    }
}

/// What the settings allow the agent.
fn bounds(settings: &AgentSettings, models: &[String], agents: BTreeSet<String>) -> Bounds {
    let tools = match settings.tools.as_slice() {
        [] => built_in_tools(settings).into_iter().collect(),
        named => named.iter().cloned().collect(),
    };
    // 0 means no limit, so it is not the lower one of two.
    let number = |limit: u64| (limit > 0).then_some(limit);
    let counted = |limit: u32| number(limit.into());
    let limits = ProfileLimits {
        max_iterations: settings.max_iterations.and_then(counted),
        max_time: settings.max_time.filter(|time| !time.is_zero()),
        max_tokens: number(settings.max_tokens),
        max_output: number(settings.max_output),
        consecutive_errors: counted(settings.consecutive_errors),
        recent_errors: counted(settings.recent_errors),
        failed_commands_in_row: counted(settings.failed_commands.in_row),
        failed_commands_total: counted(settings.failed_commands.total),
        usd_micros: None,
    };
    let (approve, ask, denied) = (settings.approve, settings.ask, settings.denied.clone());
    Bounds { tools, approve, ask, denied, limits, models: models.to_vec(), agents }
}

/// The settings of a native agent, narrowed; `own` are its models without the profile.
fn native(settings: AgentSettings, narrowed: &Narrowed, own: Vec<String>) -> AgentSettings {
    let mut tools: Vec<String> = narrowed.tools.iter().cloned().collect();
    if tools.is_empty() {
        // An empty list would mean all. Every agent has this one.
        tools.push("plan".to_owned());
    }
    let (model, fallback) = match &narrowed.model {
        // If the profile's model cannot answer, the work continues with the agent's own.
        Some(model) => (Some(model.clone()), own.into_iter().filter(|other| other != model).collect()),
        None => (settings.model.clone(), settings.fallback.clone()),
    };
    AgentSettings { tools, model, fallback, ..limited(settings, narrowed) }
}

/// The settings with the limits and approvals that are narrowed.
fn limited(settings: AgentSettings, narrowed: &Narrowed) -> AgentSettings {
    let limits = &narrowed.limits;
    // A profile must not raise a limit that no setting names.
    let most = match settings.max_iterations {
        Some(0) => u32::MAX,
        Some(most) => most,
        None => TURNS,
    };
    let count = |limit: Option<u64>, own: u32| limit.and_then(|limit| limit.try_into().ok()).unwrap_or(own);
    let failed = |limit: Option<u64>| limit.map_or(0, |limit| limit.try_into().unwrap_or(u32::MAX));
    AgentSettings {
        approve: narrowed.approve,
        ask: narrowed.ask,
        denied: narrowed.denied.clone(),
        max_iterations: limits
            .max_iterations
            .map(|asked| count(Some(asked), most).min(most))
            .or(settings.max_iterations),
        consecutive_errors: count(limits.consecutive_errors, settings.consecutive_errors),
        recent_errors: count(limits.recent_errors, settings.recent_errors),
        failed_commands: FailedCommands {
            in_row: failed(limits.failed_commands_in_row),
            total: failed(limits.failed_commands_total),
        },
        max_time: limits.max_time,
        max_tokens: limits.max_tokens.unwrap_or(settings.max_tokens),
        max_output: limits.max_output.unwrap_or(settings.max_output),
        ..settings
    }
}
