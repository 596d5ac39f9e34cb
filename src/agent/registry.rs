//! Agents by name: what the settings describe becomes something that runs.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    agent::{AgentBackend, AgentError, CommandAgent},
    config::{AgentSettings, BackendKind, ModelAccess, ModelSettings, RecipeSettings},
    domain::FailureClass,
    process::Environment,
};

/// The agent that exists without settings of its own, as soon as a model is set.
const NATIVE: &str = "native";

/// All that agents are made from, as values: nothing is read from the environment later.
#[derive(Debug, Default, Clone)]
pub struct AgentParts {
    /// `[agents.NAME]`.
    pub agents: BTreeMap<String, AgentSettings>,
    /// `[recipes.NAME]`, from Hob's settings and the repository's.
    pub recipes: BTreeMap<String, RecipeSettings>,
    /// `[model]`.
    pub model: ModelSettings,
    /// Keys and addresses of the models' services.
    pub access: ModelAccess,
    /// Values of the variables that any agent's `env` names; each agent gets only those it names itself.
    pub variables: Environment,
}

/// The agents that can be run.
#[derive(Default)]
pub struct Registry {
    parts: AgentParts,
    added: BTreeMap<String, Arc<dyn AgentBackend>>,
}

impl Registry {
    /// Takes the settings. An agent is built when it is asked for, so that one bad entry stops only itself.
    ///
    /// # Errors
    /// When an agent's name does not match `^[a-z][a-z0-9_-]*$`.
    pub fn new(parts: AgentParts) -> Result<Self, AgentError> {
        match parts.agents.keys().find(|name| !is_name(name)) {
            Some(bad) => Err(setup(format!("`{bad}` is no name for an agent: use a-z, 0-9, `_`, `-`, a letter first"))),
            None => Ok(Self { parts, added: BTreeMap::new() }),
        }
    }

    /// Adds an agent that is built already; it hides one of the same name.
    #[must_use]
    pub fn with(mut self, name: &str, agent: Arc<dyn AgentBackend>) -> Self {
        self.added.insert(name.to_owned(), agent);
        self
    }

    /// The names that [`Registry::get`] knows, in order.
    pub fn names(&self) -> Vec<String> {
        let native = self.parts.model.default.is_some().then(|| NATIVE.to_owned());
        let mut names: Vec<_> = self.parts.agents.keys().chain(self.added.keys()).cloned().chain(native).collect();
        names.sort();
        names.dedup();
        names
    }

    /// Builds the agent `name`.
    ///
    /// # Errors
    /// When there is none, with the names there are; when its settings do not make an agent.
    pub fn get(&self, name: &str) -> Result<Arc<dyn AgentBackend>, AgentError> {
        if let Some(agent) = self.added.get(name) {
            return Ok(Arc::clone(agent));
        }
        let built_in = AgentSettings::default();
        let settings = match self.parts.agents.get(name) {
            Some(settings) => settings,
            None if name == NATIVE => &built_in,
            None => return Err(setup(format!("no agent `{name}`: {}", self.known()))),
        };
        self.build(settings)
            .map_err(|error| AgentError { reason: format!("agent `{name}`: {}", error.reason), ..error })
    }

    fn build(&self, settings: &AgentSettings) -> Result<Arc<dyn AgentBackend>, AgentError> {
        match settings.backend {
            BackendKind::Command => Ok(Arc::new(CommandAgent::new(settings, &self.parts.variables)?)),
            BackendKind::Recipe => Err(setup("recipes are not part of this build".into())),
            BackendKind::Native => Err(setup("the native loop is not part of this build".into())),
        }
    }

    fn known(&self) -> String {
        match self.names().as_slice() {
            [] => "none is set up; add `[agents.NAME]`, or set `model.default`".to_owned(),
            names => format!("there are {}", names.join(", ")),
        }
    }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-'))
}

fn setup(reason: String) -> AgentError {
    AgentError { reason, failure: FailureClass::NeedsHuman }
}
