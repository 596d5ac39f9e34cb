//! Agents and tools that need no settings: the lowest layer of the sources, below what people write.
//!
//! - Guarantees: a section changes only the keys that it names. A section with another `backend` is a separate agent
//!   that takes nothing from the ready agent of the same name. A section without a `backend` gets the one that fits.

use std::collections::BTreeMap;

use config::{Config, ConfigError, File, FileFormat, Map};
use toml::{Table, Value};
use url::Url;

use crate::{AdapterName, AgentSettings, Settings};

/// The ready agents and tools, as a settings file would have them.
const READY: &str = include_str!("../../../config/ready.toml");

/// The host that the ready agent `github` reads by default.
const GITHUB: &str = "api.github.com";

/// Whether there is a ready agent of this name.
pub fn is_ready_agent(name: &str) -> bool {
    agents().contains_key(name)
}

impl Settings {
    /// Lets the ready agent `github` read pages of the forge that Hob works on, whose API is at `api_url`, unless the
    /// settings say otherwise.
    pub fn at_forge(&mut self, api_url: &str) {
        let Some(host) = Url::parse(api_url).ok().and_then(|url| {
            let (host, port) = (url.host_str()?.to_owned(), url.port_or_known_default()?);
            Some(if port == 443 { host } else { format!("{host}:{port}") })
        }) else {
            return;
        };
        if let Some(agent) = self.agents.get_mut("github").filter(|agent| agent.fetch_hosts == [GITHUB]) {
            agent.fetch_hosts = vec![host];
        }
    }
}

/// The layer below `given`.
pub(super) fn layer_below(given: &Config) -> File<config::FileSourceString, FileFormat> {
    let mut ready = table();
    if let Some(Value::Table(agents)) = ready.get_mut("agents") {
        for name in given.get_table("agents").into_iter().flat_map(Map::into_keys) {
            let backend = backend(given, &name);
            if backend != "native" {
                agents.insert(name, Table::from_iter([("backend".to_owned(), Value::String(backend))]).into());
            }
        }
    }
    File::from_str(&ready.to_string(), FileFormat::Toml)
}

/// The backend of the agent `name`: the given one, else that of its name, of its command or of its recipe.
fn backend(given: &Config, name: &str) -> String {
    let names = |key: &str| given.get::<config::Value>(&format!("agents.{name}.{key}")).is_ok();
    given.get_string(&format!("agents.{name}.backend")).unwrap_or_else(|_| {
        let found = match name.parse::<AdapterName>() {
            Ok(known) => known.as_str(),
            Err(_) if names("command") => "command",
            Err(_) if names("recipe") => "recipe",
            Err(_) => "native",
        };
        found.to_owned()
    })
}

/// The ready agents that no section of `given` mentions.
pub(super) fn untouched(given: &Config) -> impl Iterator<Item = String> {
    agents().into_iter().map(|(name, _)| name).filter(|name| given.get_table(&format!("agents.{name}")).is_err())
}

/// The agents of the settings file `text`, merged with the ready ones that it mentions.
///
/// # Errors
/// [`ConfigError`] if a value cannot be read.
pub(super) fn agents_over_ready(text: &str) -> Result<BTreeMap<String, AgentSettings>, ConfigError> {
    let given = Config::builder().add_source(File::from_str(text, FileFormat::Toml)).build()?;
    let named: Vec<String> = given.get_table("agents").map(|table| table.into_keys().collect()).unwrap_or_default();
    let merged = Config::builder().add_source(layer_below(&given)).add_source(given).build()?;
    let agents: BTreeMap<String, AgentSettings> = merged.get("agents")?;
    // A map that only forgets the others would keep their room, for each repository.
    Ok(agents.into_iter().filter(|(name, _)| named.contains(name)).collect())
}

/// The text is built in, and a test parses it.
fn table() -> Table {
    toml::from_str(READY).unwrap_or_default()
}

fn agents() -> Table {
    match table().remove("agents") {
        Some(Value::Table(agents)) => agents,
        Some(_) | None => Table::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::HashMap, time::Duration};

    use super::*;
    use crate::{BackendKind, Impact, RepositorySettings};

    fn load(file: &str, flags: &[(&str, &str)]) -> Settings {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hob.toml");
        std::fs::write(&path, file).unwrap();
        let flags: Vec<_> = flags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Settings::load(Some(&path), HashMap::new(), &flags).unwrap()
    }

    fn bounded(agent: &AgentSettings, turns: u32) {
        assert_eq!(agent.tools, ["ls", "cat", "head", "grep", "find"]);
        assert_eq!((agent.max_iterations, agent.max_time), (Some(turns), Some(Duration::from_secs(60))));
        assert_eq!(agent.approve, Impact::Low);
    }

    /// Requirements S2 and S6: a ready agent keeps its limits when any one of its keys is set, in any source.
    #[test]
    fn a_section_changes_the_keys_that_it_names() {
        bounded(&load("", &[]).agents["file"], 15);
        bounded(&load("[agents.file]\nmax_iterations = 20", &[]).agents["file"], 20);
        bounded(&load("", &[("agents.file.max_iterations", "20")]).agents["file"], 20);
        bounded(&load("[agents.file]\nbackend = 'native'\nmodel = 'openai/x'", &[]).agents["file"], 15);
        let http = &load("[agents.http]\nhosts = ['example.org']", &[]).agents["http"];
        assert_eq!((http.tools.as_slice(), http.hosts.len()), (["curl".to_owned()].as_slice(), 1));
        let curl = &load("[tools.curl]\nimpact = 'medium'", &[]).tools["curl"];
        assert_eq!((curl.impact, curl.description.as_str()), (Impact::Medium, "Asks a server over HTTP."));
        let repository = RepositorySettings::parse("[agents.file]\nmax_iterations = 20\n[agents.own]\n").unwrap();
        bounded(&repository.agents["file"], 20);
        assert_eq!(repository.agents.keys().collect::<Vec<_>>(), ["file", "own"]);
    }

    #[test]
    fn a_section_with_another_backend_is_an_agent_of_its_own() {
        let own = "[agents.file]\nbackend = 'command'\ncommand = ['sh']";
        for agent in
            [load(own, &[]).agents["file"].clone(), RepositorySettings::parse(own).unwrap().agents["file"].clone()]
        {
            let wanted =
                AgentSettings { command: vec!["sh".into()], backend: BackendKind::Command, ..AgentSettings::default() };
            assert_eq!(agent, wanted);
        }
    }

    #[test]
    fn a_section_without_a_backend_has_the_one_that_fits() {
        let settings = "[agents.fixer]\ncommand = ['sh']\n[agents.year]\nrecipe = 'year'\n[agents.file]\ncommand = ['ls']\n\
                        [agents.codex]\nmodel = 'gpt-6'\n[agents.own]\nmax_iterations = 3";
        let loaded = load(settings, &[("agents.late.command", "['sh']")]).agents;
        let repository = RepositorySettings::parse(settings).unwrap().agents;
        let command = BackendKind::Command;
        for (name, backend) in [
            ("fixer", command),
            ("year", BackendKind::Recipe),
            ("file", command),
            ("codex", BackendKind::Adapter(AdapterName::Codex)),
            ("own", BackendKind::Native),
        ] {
            assert_eq!((loaded[name].backend, repository[name].backend), (backend, backend), "{name}");
        }
        assert_eq!(loaded["late"].backend, command);
        assert!(loaded["file"].tools.is_empty(), "it takes nothing from the ready agent of its name");
        assert_eq!(loaded["own"].max_iterations, Some(3));
    }

    /// Requirement S6: every ready agent has limits, and none has a shell or a tool that changes files.
    #[test]
    fn each_ready_agent_is_narrow() {
        let settings = load("", &[]);
        assert_eq!(settings.agents.keys().collect::<Vec<_>>(), ["docker", "file", "git", "github", "http", "npm"]);
        for (name, agent) in &settings.agents {
            assert_eq!((agent.max_iterations, agent.max_time), (Some(15), Some(Duration::from_secs(60))), "{name}");
            assert_eq!((agent.failed_commands.in_row, agent.failed_commands.total), (3, 5), "{name}");
            assert!(agent.approve == Impact::Low || name == "http", "{name}");
            assert!(!agent.tools.is_empty(), "{name}");
            for tool in agent.tools.iter().filter(|tool| *tool != "fetch") {
                assert!(settings.tools[tool].impact == Impact::Low || name == "http", "{tool}");
            }
        }
    }

    #[test]
    fn the_agent_for_the_forge_reads_where_the_forge_is() {
        for (api_url, host) in [
            ("https://api.github.com", "api.github.com"),
            ("https://forge.example.org/api/v3", "forge.example.org"),
            ("http://127.0.0.1:7000/api", "127.0.0.1:7000"),
            ("http://forge.example.org", "forge.example.org:80"),
            ("nonsense", "api.github.com"),
        ] {
            let mut settings = load("", &[]);
            settings.at_forge(api_url);
            assert_eq!(settings.agents["github"].fetch_hosts, [host]);
        }
        let mut settings = load("[agents.github]\nfetch_hosts = ['mine.example.org']", &[]);
        settings.at_forge("https://forge.example.org");
        assert_eq!(settings.agents["github"].fetch_hosts, ["mine.example.org"]);
    }

    #[test]
    fn which_ready_agents_nobody_changed_is_known() {
        assert!(load("", &[]).untouched.contains("file"));
        let settings = load("[agents.file]\nmax_iterations = 20", &[]);
        assert!(!settings.untouched.contains("file") && settings.untouched.contains("http"));
        assert!(is_ready_agent("http") && !is_ready_agent("native"));
    }
}
