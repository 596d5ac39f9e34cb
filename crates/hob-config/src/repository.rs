//! The repository's own settings, `.github/hob.toml`, always read from the base branch.
//!
//! They say how the repository is checked and what must not be touched. They cannot pass variables to an agent or set a
//! model's address: those belong to the operator.

use std::{
    collections::BTreeMap,
    path::{Component, Path},
};

use serde::{Deserialize, Serialize};

use crate::{AgentSettings, BackendKind, RecipeSettings, Settings, ready::agents_over_ready, toml_sentence};

/// The path of the repository's settings.
pub const REPOSITORY_SETTINGS_PATH: &str = ".github/hob.toml";

/// Keys of an agent that only the operator may set: what its programs are handed, and where they reach.
pub const OPERATOR_ONLY: [&str; 4] = ["env", "hosts", "fetch_hosts", "mcp"];

/// `.github/hob.toml`.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RepositorySettings {
    /// Shell commands that prove the work; Hob runs each on the base and on the head.
    pub checks: Vec<String>,
    /// Shell commands that fetch what checks and agents need, since these have no network.
    pub setup: Vec<String>,
    /// Files whose contents decide whether the steps run again.
    pub setup_key: Vec<String>,
    /// Hosts that the checks need; they reach those that the operator's `sandbox.check_hosts` lists, too.
    pub check_hosts: Vec<String>,
    /// The agent that works here. `None` for the process's own choice.
    pub agent: Option<String>,
    /// Agents of this repository.
    pub agents: BTreeMap<String, AgentSettings>,
    /// Recipes of this repository.
    pub recipes: BTreeMap<String, RecipeSettings>,
    /// Paths, as globs, that Hob's work must not touch.
    pub protected: Vec<String>,
}

/// A `.github/hob.toml` that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("`{REPOSITORY_SETTINGS_PATH}` on the base branch cannot be used: {0}")]
pub struct RepositorySettingsError(String);

impl RepositorySettings {
    /// Reads the file's text, beside the operator's `settings`.
    ///
    /// # Errors
    /// [`RepositorySettingsError`] with the line of the mistake, or the name of an agent or a recipe that both files have: neither
    /// of their owners could tell which one works.
    pub fn beside(settings: &Settings, text: &str) -> Result<Self, RepositorySettingsError> {
        let own = Self::parse(text)?;
        let agent = |name: &&String| settings.agents.contains_key(*name) && !settings.untouched.contains(*name);
        let agent = own.agents.keys().find(agent).map(|name| ("agent", name));
        let recipe = || Some(("recipe", own.recipes.keys().find(|name| settings.recipes.contains_key(*name))?));
        if let Some((kind, name)) = agent.or_else(recipe) {
            let reason =
                format!("its {kind} `{name}` is in the operator's file, too: give one of the two another name");
            return Err(RepositorySettingsError(reason));
        }
        Ok(own)
    }

    /// Reads the file's text.
    ///
    /// # Errors
    /// [`RepositorySettingsError`] with the line of the mistake.
    pub fn parse(text: &str) -> Result<Self, RepositorySettingsError> {
        let settings: Self =
            toml::from_str(text).map_err(|error| RepositorySettingsError(toml_sentence(text, &error)))?;
        let named = |agent: &AgentSettings| {
            let lists = [&agent.env, &agent.hosts, &agent.fetch_hosts, &agent.mcp];
            OPERATOR_ONLY.into_iter().zip(lists).find(|(_, list)| !list.is_empty()).map(|(key, _)| key)
        };
        if let Some((name, key)) = settings.agents.iter().find_map(|(name, agent)| Some((name, named(agent)?))) {
            let reason = format!("`agents.{name}.{key}` is allowed only in the settings of Hob's operator");
            return Err(RepositorySettingsError(reason));
        }
        // A known program gets a key, so the repository must not choose its file or insert arguments before Hob's.
        let placed =
            |agent: &AgentSettings| matches!(agent.backend, BackendKind::Adapter(_)) && !agent.command.is_empty();
        if let Some((name, agent)) = settings.agents.iter().find(|(_, agent)| placed(agent)) {
            let backend = String::from(agent.backend);
            let reason = format!(
                "`agents.{name}.command` with `backend = \"{backend}\"` is allowed only in the settings of Hob's operator"
            );
            return Err(RepositorySettingsError(reason));
        }
        for (name, commands) in [("check", &settings.checks), ("set-up step", &settings.setup)] {
            if commands.iter().any(|command| command.trim().is_empty()) {
                return Err(RepositorySettingsError(format!("a {name} is empty: write a shell command")));
            }
        }
        let plain = |path: &String| Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        if let Some(bad) = settings.setup_key.iter().find(|path| path.is_empty() || !plain(path)) {
            let reason = format!("`{bad}` in `setup_key` is not a path within the repository");
            return Err(RepositorySettingsError(reason));
        }
        let agents = agents_over_ready(text).map_err(|error| RepositorySettingsError(error.to_string()))?;
        Ok(Self { agents, ..settings })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_agents_and_recipes_are_read() {
        let settings = RepositorySettings::parse(
            "checks = ['./test.sh']\nagent = 'fixer'\nprotected = ['deploy/**']\n\
             [agents.fixer]\nbackend = 'command'\ncommand = ['sh', '-c', 'true']",
        );
        assert_eq!(settings.unwrap().checks, ["./test.sh"]);
    }

    /// Attack corpus F76, J130: a repository cannot name a host, a key, or a program that gets a key.
    #[test]
    fn a_repository_leads_no_key_elsewhere() {
        let unknown =
            |line: usize, key: &str| format!("line {line} (`{key}`): unknown field `{}`", key.trim_matches(['[', ']']));
        let mine = |key: &str| format!("`agents.a.{key}` is allowed only in the settings of Hob's operator");
        let placed = "`agents.a.command` with `backend = \"codex\"` is allowed only in the settings of Hob's operator";
        for (text, says) in [
            ("[model]\nbase_url = 'http://evil.example'", unknown(1, "[model]")),
            ("model.endpoints.openai.base_url = 'http://evil.example'", "unknown field `model`".to_owned()),
            ("[agents.a]\nbase_url = 'http://evil.example'", unknown(2, "base_url")),
            ("[agents.a]\napi_key = 'OPENAI_API_KEY'", unknown(2, "api_key")),
            ("[agents.a]\nenv = ['OPENAI_BASE_URL']", mine("env")),
            ("[agents.a]\nhosts = ['evil.example']", mine("hosts")),
            ("[agents.a]\nfetch_hosts = ['evil.example']", mine("fetch_hosts")),
            ("[agents.a]\nmcp = ['./server']", mine("mcp")),
            (
                "[agents.a]\nbackend = 'codex'\ncommand = ['codex', '--config', 'model_provider=evil']",
                placed.to_owned(),
            ),
            ("[mcp.a]\ncommand = ['./server']", "unknown field `mcp`".to_owned()),
            ("[tools.a]\ncommand = ['./tool']", "unknown field `tools`".to_owned()),
            ("[egress]\nallow = ['evil.example']", unknown(1, "[egress]")),
            ("[sandbox]\ntier = 'none'", unknown(1, "[sandbox]")),
            ("sandbox.setup_hosts = ['evil.example']", "unknown field `sandbox`".to_owned()),
            ("[forge]\napi_url = 'http://evil.example'", unknown(1, "[forge]")),
            ("[trust]\npermission = 'read'", unknown(1, "[trust]")),
            ("[secrets]\nenv = ['GITHUB_TOKEN']", unknown(1, "[secrets]")),
            // A step is only a command, without variables or hosts.
            (
                "setup = [{ run = './fetch', env = ['OPENAI_API_KEY'] }]",
                "line 1 (`setup`): invalid type: map".to_owned(),
            ),
            ("setup = ['./fetch']\nsetup_hosts = ['evil.example']", unknown(2, "setup_hosts")),
            ("[setup]\nrun = './fetch'\nenv = ['OPENAI_API_KEY']", "line 1 (`[setup]`): invalid type: map".to_owned()),
        ] {
            let error = RepositorySettings::parse(text).expect_err(text).to_string();
            let begins = "`.github/hob.toml` on the base branch cannot be used: ";
            assert!(error.strip_prefix(begins).is_some_and(|why| why.contains(&says)), "{text}: {error}");
        }
    }

    #[test]
    fn a_name_that_both_files_have_is_refused() {
        let flags =
            [("agents.fixer.backend", "command"), ("recipes.year.description", "x"), ("agents.file.model", "openai/m")];
        let flags: Vec<_> = flags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let operator = Settings::load(None, std::collections::HashMap::new(), &flags).unwrap();
        for (text, says) in [
            ("[agents.fixer]\nbackend = 'command'", Some("its agent `fixer` is in the operator's file, too")),
            ("[recipes.year]\nsteps = []", Some("its recipe `year` is in the operator's file, too")),
            ("[agents.file]\nmax_iterations = 3", Some("its agent `file` is in the operator's file, too")),
            ("[agents.git]\nmax_iterations = 3", None),
            ("[agents.mine]\nbackend = 'command'", None),
        ] {
            let read = RepositorySettings::beside(&operator, text);
            assert_eq!(
                read.as_ref().err().map(|error| error.to_string().contains(says.unwrap_or("?"))),
                says.map(|_| true),
                "{text}"
            );
        }
    }

    #[test]
    fn a_file_that_cannot_be_used_says_why() {
        for (text, says) in [
            ("checks = 'x'", "line 1"),
            ("cheks = []", "cheks"),
            ("checks = ['']", "empty"),
            ("[agents.a]\nenv = ['AWS_SECRET_ACCESS_KEY']", "agents.a.env"),
            ("setup = ['']", "a set-up step is empty"),
            ("setup_key = ['../x']", "not a path within the repository"),
            ("[agents.a]\nhosts = ['example.org']", "agents.a.hosts"),
            ("[agents.a]\nfetch_hosts = ['example.org']", "agents.a.fetch_hosts"),
            ("[agents.a]\nmcp = ['docs']", "agents.a.mcp"),
            ("[agents.a]\nbackend = 'claude'\ncommand = ['./mine']", "agents.a.command"),
        ] {
            let error = RepositorySettings::parse(text).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
