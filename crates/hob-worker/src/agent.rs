//! The agent that works on an issue, and the parts that it is made from.

use std::sync::Arc;

use hob_agent::{AgentBackend, AgentError, AgentParts, NarrowedAgent, Registry};
use hob_config::{AdapterName, BackendKind, RepositorySettings, Settings};
use hob_domain::{AUTO_AGENT, FailureClass, Profile, ProfileSource, Spend};
use tokio::task::JoinError;

use crate::Worker;

/// The agent that is Hob's own.
const NATIVE: &str = "native";

/// The name of the agent that works: the flag's, otherwise the issue's choice, otherwise the repository's, otherwise
/// the process's.
pub(super) fn agent_name(worker: &Worker, of_issue: Option<&str>, rules: &RepositorySettings) -> String {
    let of_repository = rules.agent.as_deref().filter(|name| *name != AUTO_AGENT);
    let chosen = worker.children.named_agent.as_deref().or(of_issue).or(of_repository);
    chosen.map_or_else(|| default_agent(worker, rules), str::to_owned)
}

/// The agent that works if nothing names one. Where outcomes choose, it is the one that works before there are any.
pub(super) fn default_agent(worker: &Worker, rules: &RepositorySettings) -> String {
    let of_settings = &worker.settings.agent;
    let first = || agents_for_auto(worker, rules).into_iter().next();
    let auto = if of_settings == AUTO_AGENT || is_auto(worker, rules) { first() } else { None };
    auto.unwrap_or_else(|| of_settings.clone())
}

/// Whether the repository's settings, or where they name no agent those of the process, leave the choice to what came of earlier work.
pub(super) fn is_auto(worker: &Worker, rules: &RepositorySettings) -> bool {
    let named =
        rules.agent.as_deref().filter(|name| is_agent(&agent_names(worker, rules), name) || *name == AUTO_AGENT);
    worker.children.named_agent.is_none() && named.unwrap_or(&worker.settings.agent) == AUTO_AGENT
}

/// The agents that outcomes can choose among, the native one first. Recipes are left out: what they do says nothing about an agent.
pub(super) fn agents_for_auto(worker: &Worker, rules: &RepositorySettings) -> Vec<String> {
    let Ok(registry) = Registry::new(parts(worker, rules)) else { return Vec::new() };
    let is_recipe = |name: &str| registry.settings(name).is_ok_and(|agent| agent.backend == BackendKind::Recipe);
    let mut names: Vec<String> = registry.names().into_iter().filter(|name| !is_recipe(name)).collect();
    names.sort_by_key(|name| name != NATIVE);
    names
}

/// The names of the agents that are set up, in Hob's settings or the repository's.
pub(super) fn agent_names(worker: &Worker, rules: &RepositorySettings) -> Vec<String> {
    Registry::new(parts(worker, rules)).map(|registry| registry.names()).unwrap_or_default()
}

/// The repository's rules, without its agent if that names a profile and not an agent of the settings.
pub(super) fn without_profile(worker: &Worker, rules: &RepositorySettings) -> RepositorySettings {
    let agent = rules.agent.clone().filter(|name| is_agent(&agent_names(worker, rules), name));
    RepositorySettings { agent, ..rules.clone() }
}

/// Whether `name` is an agent: one of those that are set up, or a known command line.
pub(super) fn is_agent(names: &[String], name: &str) -> bool {
    names.iter().any(|agent| agent == name) || name.parse::<AdapterName>().is_ok()
}

/// The parts that agents are made from.
fn parts(worker: &Worker, rules: &RepositorySettings) -> AgentParts {
    let secrets = worker.forge.connection().secrets().clone();
    let mut parts = AgentParts { secrets, ..AgentParts::clone(&worker.children.agents) };
    // A repository cannot redefine an agent of the operator's by using its name.
    for (name, settings) in &rules.agents {
        let ready = parts.agents.get(name);
        if ready.is_some() && !worker.settings.untouched.contains(name) {
            continue;
        }
        let mut settings = settings.clone();
        // A repository does not decide which pages an agent reads: with the ready agent's tools it gets that agent's
        // pages, otherwise none.
        let same_tools = ready.filter(|ready| ready.tools == settings.tools);
        settings.fetch_hosts = same_tools.map(|ready| ready.fetch_hosts.clone()).unwrap_or_default();
        parts.agents.insert(name.clone(), settings);
    }
    for (name, recipe) in &rules.recipes {
        parts.recipes.entry(name.clone()).or_insert_with(|| recipe.clone());
    }
    parts
}

/// Builds the agent that works by a profile, `base` unless the profile names another one.
///
/// # Errors
/// [`AgentError`] if settings and profile together do not make one.
pub(super) async fn build_narrowed(
    worker: &Worker,
    rules: &RepositorySettings,
    base: String,
    profile: Profile,
    source: ProfileSource,
) -> Result<NarrowedAgent, AgentError> {
    let (parts, models) = (parts(worker, rules), worker.settings.profiles.models.clone());
    let built =
        tokio::task::spawn_blocking(move || Registry::new(parts)?.narrowed(&base, &profile, source, &models)).await;
    built.unwrap_or_else(not_built)
}

/// Builds the agent `name` from the settings of the operator and of the repository.
///
/// # Errors
/// [`AgentError`] if there is none of that name, or its settings do not make one.
pub(super) async fn build_agent(
    worker: &Worker,
    rules: &RepositorySettings,
    name: String,
) -> Result<Arc<dyn AgentBackend>, AgentError> {
    let parts = parts(worker, rules);
    // It looks programs up and reads recordings.
    let built = tokio::task::spawn_blocking(move || Registry::new(parts)?.get(&name)).await;
    built.unwrap_or_else(not_built)
}

/// Asks a model one question, in Hob's own process.
///
/// # Errors
/// If there is no such model, or it does not answer.
pub(super) async fn ask_model(
    worker: &Worker,
    rules: &RepositorySettings,
    model: &str,
    system: &str,
    question: &str,
) -> Result<(String, Spend), AgentError> {
    let parts = parts(worker, rules);
    let registry = tokio::task::spawn_blocking(move || Registry::new(parts)).await.unwrap_or_else(not_built)?;
    registry.ask(model, system, question, counts_money(&worker.settings)).await
}

/// Whether a limit of money is set and none of tokens, so that a model's price has to be known.
pub(super) fn counts_money(settings: &Settings) -> bool {
    let budgets = settings.budgets();
    budgets.issue.tokens.is_none()
        && [budgets.attempt, budgets.issue, budgets.day].iter().any(|budget| budget.usd_micros.is_some())
}

fn not_built<T>(error: JoinError) -> Result<T, AgentError> {
    Err(AgentError::new(FailureClass::Unfinished, format!("the agent could not be built: {error}")))
}
