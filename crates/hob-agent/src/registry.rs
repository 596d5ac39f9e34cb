//! Agents by name: builds runnable agents from the settings.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    ffi::OsStr,
    path::{Path, PathBuf},
    sync::Arc,
};

use hob_config::{
    AdapterName, AgentSettings, BackendKind, McpSettings, ModelAccess, ModelName, ModelSettings, PriceSettings,
    RecipeSettings, SandboxSettings, SecretFiles, Settings, ToolSettings, is_ready_agent, model_access,
    named_environment, secrets_among,
};
use hob_domain::Spend;
use hob_egress::ServiceTier;
use hob_process::Environment;
use hob_text::KnownSecrets;

use secrecy::{ExposeSecret, SecretString};

use crate::{
    AgentBackend, AgentError, CommandAgent, NativeAgent, RecipeAgent,
    acp::AcpAgent,
    adapter_variables,
    adapters::{AdapterAgent, Made},
    egress::{EgressRules, Services},
    model::{Conversation, FallbackChain, ModelClient, ModelError, Models, Usage},
    native::{Helps, McpServers, Needs, OpenWays},
};

/// What a native agent may be allowed: the slow tier of its models' service.
const FLEX: &str = "flex";

/// The agent that exists without its own settings, as soon as a model is set.
const NATIVE: &str = "native";

/// The parameters of all agents, as values: nothing is read from the environment later.
#[derive(Debug, Default, Clone)]
pub struct AgentParts {
    /// `[agents.NAME]`.
    pub agents: BTreeMap<String, AgentSettings>,
    /// `[recipes.NAME]`, from Hob's settings and the repository's.
    pub recipes: BTreeMap<String, RecipeSettings>,
    /// `[tools.NAME]`.
    pub tools: BTreeMap<String, ToolSettings>,
    /// `[mcp.NAME]`, of the operator alone.
    pub mcp: BTreeMap<String, McpSettings>,
    /// `[model]`.
    pub model: ModelSettings,
    /// Keys and addresses of the models' services.
    pub access: ModelAccess,
    /// The folder for recordings of the native agents' models, a cassette a session; `None` if nothing is recorded.
    pub record: Option<PathBuf>,
    /// The folder for homes of other agents' command lines, outside what an agent can write; `None` means the system's
    /// temporary folder.
    pub homes: Option<PathBuf>,
    /// Values of the variables that any agent's or MCP server's settings name, and of those that known command lines get,
    /// see [`adapter_variables`]; each gets only its own.
    pub variables: Environment,
    /// The secrets that recordings must not contain.
    pub secrets: KnownSecrets,
}

impl AgentParts {
    /// The parts of the settings, with the variables of this process that they name, some of them given by `files`;
    /// homes are below `state_dir`.
    pub fn new(settings: &Settings, state_dir: &Path, files: &SecretFiles) -> Self {
        Self {
            agents: settings.agents.clone(),
            recipes: settings.recipes.clone(),
            tools: settings.tools.clone(),
            mcp: settings.mcp.clone(),
            model: settings.model.clone(),
            access: model_access(files),
            record: None,
            homes: Some(state_dir.join("homes")),
            variables: named_environment(variables_of_agents(settings), files),
            secrets: KnownSecrets::default(),
        }
    }

    /// The secrets that agents may get, or that are sent in their name: they must not appear in any text.
    pub fn given_secrets(&self) -> Vec<SecretString> {
        let tokens = self.mcp.values().filter_map(|server| server.token.as_deref());
        let tokens = tokens.filter_map(|name| self.variables.get(OsStr::new(name))?.to_str());
        let tokens =
            tokens.map(|token| SecretString::from(token.trim())).filter(|token| !token.expose_secret().is_empty());
        self.access.secrets().into_iter().chain(secrets_among(&self.variables)).chain(tokens).collect()
    }
}

/// The variables that any agent may get: those that its `env` names, those of known command lines, and those of MCP servers.
pub fn variables_of_agents(settings: &Settings) -> impl Iterator<Item = &str> {
    let named = settings.agents.values().flat_map(|agent| agent.env.iter().map(String::as_str));
    let servers = settings.mcp.values().flat_map(|server| server.env.iter().chain(&server.token).map(String::as_str));
    named.chain(adapter_variables()).chain(servers)
}

/// The agents that can be run.
pub struct Registry {
    parts: AgentParts,
    models: Models,
    model: Arc<ModelSettings>,
    helps: Helps,
    servers: McpServers,
    added: BTreeMap<String, Arc<dyn AgentBackend>>,
}

impl Registry {
    /// Takes the settings. An agent is built when it is asked for, so that one bad entry stops only itself.
    ///
    /// # Errors
    /// When an agent's name does not match `^[a-z][a-z0-9_-]*$`.
    pub fn new(parts: AgentParts) -> Result<Self, AgentError> {
        match parts.agents.keys().find(|name| !is_name(name)) {
            Some(bad) => {
                Err(AgentError::setup(format!("`{bad}` is not an agent name: use a-z, 0-9, `_`, `-`, a letter first")))
            }
            None => {
                let models = Models::new(parts.model.clone(), parts.access.clone())
                    .recording(parts.record.clone(), parts.secrets.clone());
                let model = Arc::new(parts.model.clone());
                let servers = McpServers::new(parts.mcp.clone(), &parts.variables);
                let (helps, added) = (Helps::default(), BTreeMap::new());
                Ok(Self { parts, models, model, helps, servers, added })
            }
        }
    }

    /// Adds an agent that is built already; it hides one of the same name.
    #[must_use]
    pub fn with(mut self, name: &str, agent: Arc<dyn AgentBackend>) -> Self {
        self.added.insert(name.to_owned(), agent);
        self
    }

    /// The names of configured agents, in order; of ready agents those that have a model. [`Registry::get`] also knows
    /// the command lines of [`AdapterName`].
    pub fn names(&self) -> Vec<String> {
        let is_set_up = |name: &str, agent: &AgentSettings| {
            agent.backend != BackendKind::Native || !is_ready_agent(name) || !self.models_of(agent).is_empty()
        };
        let set_up =
            self.parts.agents.iter().filter(|(name, agent)| is_set_up(name, agent)).map(|(name, _)| name.clone());
        let native = self.parts.model.default.as_ref().map(|_model| NATIVE.to_owned());
        let mut names: Vec<_> = set_up.chain(self.added.keys().cloned()).chain(native).collect();
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
        self.build_of(name, self.settings(name)?.as_ref())
    }

    /// The settings of the agent `name`.
    ///
    /// # Errors
    /// If it does not exist, with the names that do.
    pub fn settings(&self, name: &str) -> Result<Cow<'_, AgentSettings>, AgentError> {
        let backend = name.parse().map(BackendKind::Adapter).unwrap_or_default();
        match self.parts.agents.get(name) {
            Some(settings) => Ok(Cow::Borrowed(settings)),
            // Without a model the error names the missing setting.
            None if name == NATIVE || backend != BackendKind::Native => {
                Ok(Cow::Owned(AgentSettings { backend, ..AgentSettings::default() }))
            }
            None => Err(AgentError::setup(format!("no agent `{name}`: {}", self.known()))),
        }
    }

    /// The unmet needs of the native agent `name` with these settings of the sandbox; `None` if none are known.
    pub fn lacks(&self, name: &str, sandbox: &SandboxSettings) -> Option<String> {
        let settings = self.settings(name).ok().filter(|settings| settings.backend == BackendKind::Native)?;
        let lack = Needs::new(name, &settings, &self.parts.tools).lack(&OpenWays::by_settings(sandbox));
        lack.map(|lack| lack.sentence)
    }

    /// Builds an agent from settings that are those of `name`, changed.
    pub(super) fn build_of(&self, name: &str, settings: &AgentSettings) -> Result<Arc<dyn AgentBackend>, AgentError> {
        self.build(name, settings).map_err(|error| error.during(format_args!("agent `{name}`")))
    }

    fn build(&self, name: &str, settings: &AgentSettings) -> Result<Arc<dyn AgentBackend>, AgentError> {
        match settings.backend {
            BackendKind::Command => {
                let egress = EgressRules::new(settings, &self.parts.variables)?;
                Ok(Arc::new(CommandAgent::new(settings, egress.asking(self.services(), Arc::clone(&self.model)))?))
            }
            BackendKind::Acp => {
                let egress = EgressRules::new(settings, &self.parts.variables)?;
                Ok(Arc::new(AcpAgent::new(settings, egress.asking(self.services(), Arc::clone(&self.model)))?))
            }
            BackendKind::Recipe => self.recipe(settings),
            BackendKind::Native => self.native(name, settings),
            BackendKind::Adapter(program) => self.adapter(program, settings),
        }
    }

    /// The addresses of the models' services, as far as they are set.
    fn services(&self) -> Services {
        let parts = &self.parts;
        let address = |first: &Option<String>, second: &Option<String>| first.clone().or_else(|| second.clone());
        let gemini = parts.variables.get(OsStr::new("GOOGLE_GEMINI_BASE_URL"));
        Services {
            openai: address(&parts.access.openai_base_url, &parts.model.openai_base_url),
            anthropic: address(&parts.access.anthropic_base_url, &parts.model.anthropic_base_url),
            gemini: gemini.and_then(|address| address.to_str()).map(str::to_owned),
        }
    }

    fn adapter(&self, name: AdapterName, settings: &AgentSettings) -> Result<Arc<dyn AgentBackend>, AgentError> {
        let parts = &self.parts;
        let prefixed = |model: &String| parts.model.price_of(&format!("{}{model}", AdapterAgent::prices(name)));
        let price = settings.model.as_ref().and_then(prefixed);
        let egress = EgressRules::new(settings, &parts.variables)?;
        let egress = egress.asking(self.services(), Arc::clone(&self.model));
        let made = Made { variables: &parts.variables, egress, price, homes: parts.homes.clone() };
        Ok(Arc::new(AdapterAgent::new(name, settings, made)))
    }

    fn recipe(&self, settings: &AgentSettings) -> Result<Arc<dyn AgentBackend>, AgentError> {
        let name = settings.recipe.as_deref().unwrap_or_default();
        let recipes = &self.parts.recipes;
        let Some(recipe) = recipes.get(name) else {
            let known: Vec<_> = recipes.keys().map(String::as_str).collect();
            let known =
                if known.is_empty() { "none is set up".into() } else { format!("there are {}", known.join(", ")) };
            return Err(AgentError::setup(format!("no recipe `{name}`: {known}")));
        };
        Ok(Arc::new(RecipeAgent::new(name, recipe.clone(), settings, &self.parts.variables)?))
    }

    /// Builds the native agent `name` with `model` instead of its own.
    ///
    /// # Errors
    /// When it is not set up, or not native.
    pub fn native_with(&self, name: &str, model: Arc<dyn ModelClient>) -> Result<NativeAgent, AgentError> {
        let settings = self.settings(name)?;
        if settings.backend != BackendKind::Native {
            return Err(AgentError::setup(format!("agent `{name}` is not native")));
        }
        let alone = FallbackChain::one(name, model, PriceSettings::default());
        self.outfit(NativeAgent::new(alone, settings.into_owned()))
    }

    fn outfit(&self, agent: NativeAgent) -> Result<NativeAgent, AgentError> {
        let agent = agent.variables(&self.parts.variables)?.programs(self.parts.tools.clone(), self.helps.clone());
        Ok(agent.servers(self.servers.clone()).showing(self.model.images))
    }

    /// The models of a native agent with these settings, in order; empty if it has none.
    pub(super) fn models_of(&self, settings: &AgentSettings) -> Vec<String> {
        let shared = &self.parts.model;
        let (model, fallback) = match (&settings.model, settings.fallback.as_slice()) {
            (Some(model), own) => (Some(model), own),
            // The fallbacks of the shared model are shared too.
            (None, []) => (shared.default.as_ref(), shared.fallback.as_slice()),
            (None, own) => (shared.default.as_ref(), own),
        };
        model.into_iter().flat_map(|model| std::iter::once(model).chain(fallback)).cloned().collect()
    }

    fn native(&self, name: &str, settings: &AgentSettings) -> Result<Arc<dyn AgentBackend>, AgentError> {
        self.servers.know(&settings.mcp).map_err(AgentError::misconfigured)?;
        let models = self.models_of(settings);
        let Some((model, fallback)) = models.split_first() else {
            return Err(AgentError::setup("it has no model: set its `model`, or `model.default`"));
        };
        let named = |model: &String| model.parse::<ModelName>().map_err(AgentError::misconfigured);
        let fallback = fallback.iter().map(named).collect::<Result<Vec<ModelName>, _>>()?;
        let broken = |error: ModelError| AgentError::caused_by(error.failure(), error);
        if let Some(other) = settings.allow.iter().find(|name| *name != FLEX) {
            let why = format!("`allow = [\"{other}\"]` has no meaning for a native agent; `{FLEX}` has");
            return Err(AgentError::setup(why));
        }
        let tier = if settings.allow.is_empty() { ServiceTier::Standard } else { ServiceTier::Flex };
        let chain = self.models.fallback_chain(&named(model)?, &fallback, settings.effort, tier).map_err(broken)?;
        let agent = NativeAgent::new(chain, settings.clone()).needing(Needs::new(name, settings, &self.parts.tools));
        Ok(Arc::new(self.outfit(agent)?))
    }

    /// Asks the model `name` one question, after the text `system`, without tools. `costs_count` refuses a model without a
    /// known price.
    ///
    /// # Errors
    /// If there is no such model, or it does not answer.
    pub async fn ask(
        &self,
        name: &str,
        system: &str,
        question: &str,
        costs_count: bool,
    ) -> Result<(String, Spend), AgentError> {
        let model: ModelName = name.parse().map_err(AgentError::misconfigured)?;
        let broken = |error: ModelError| AgentError::caused_by(error.failure(), error);
        let chain = self.models.fallback_chain(&model, &[], None, ServiceTier::Standard).map_err(broken)?;
        if costs_count && chain.unpriced().is_some() {
            return Err(AgentError::setup(format!(
                "the price of `{name}` is not known: add `[model.prices.\"{name}\"]`"
            )));
        }
        let answer = Conversation::ask_once(&chain, "question", system, question).await.map_err(broken)?;
        let Usage { input, output, .. } = answer.reply.usage;
        let spend =
            Spend { usd_micros: answer.usd_micros, input_tokens: input, output_tokens: output, wall_seconds: 0 };
        Ok((answer.reply.text, spend))
    }

    fn known(&self) -> String {
        let ready = AdapterName::ALL.map(AdapterName::as_str).join(", ");
        match self.names().as_slice() {
            [] => format!("none is set up; add `[agents.NAME]`, or set `model.default`; ready by name are {ready}"),
            names => format!("there are {}; ready by name are {ready}", names.join(", ")),
        }
    }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-'))
}
