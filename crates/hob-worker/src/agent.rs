//! Which agent works on an issue, and what it is made from.

use std::sync::Arc;

use hob_agent::{AgentBackend, AgentError, Registry};
use hob_config::RepositorySettings;
use hob_domain::FailureClass;

use crate::Worker;

/// The agent that works: the flag's, else the label's, else the repository's, else the process's.
pub(super) fn agent_name<'a>(worker: &'a Worker, label: Option<&'a str>, rules: &'a RepositorySettings) -> &'a str {
    let chosen = worker.agent.as_deref().or(label).or(rules.agent.as_deref());
    chosen.unwrap_or(&worker.settings.agent.default)
}

/// Builds the agent `name` from the settings of whoever runs Hob and of the repository.
///
/// # Errors
/// [`AgentError`] when there is none of that name, or its settings do not make one.
pub(super) async fn build_agent(
    worker: &Worker,
    rules: &RepositorySettings,
    name: String,
) -> Result<Arc<dyn AgentBackend>, AgentError> {
    let mut parts = worker.agents.clone();
    // What whoever runs Hob calls by a name stays what it is, whatever a repository calls so.
    for (name, settings) in &rules.agents {
        parts.agents.entry(name.clone()).or_insert_with(|| settings.clone());
    }
    for (name, recipe) in &rules.recipes {
        parts.recipes.entry(name.clone()).or_insert_with(|| recipe.clone());
    }
    // It looks programs up and reads recordings.
    let built = tokio::task::spawn_blocking(move || Registry::new(parts)?.get(&name)).await;
    built.unwrap_or_else(|error| {
        let reason = format!("the agent could not be built: {error}");
        Err(AgentError { reason, failure: FailureClass::Transient { retry_after: None } })
    })
}
