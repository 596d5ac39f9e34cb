//! What the programs of an agent need and a sandbox closes, and the sentence that says so before a model is asked.

use std::collections::BTreeMap;

use hob_config::{AgentSettings, ToolSettings};

/// Programs that get nowhere without a server, by the first words of their tool's command.
const ASK_SERVERS: [&[&str]; 3] = [&["curl"], &["npm", "view"], &["npm", "outdated"]];

/// The programs of one agent that need a way to servers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Needs {
    agent: String,
    /// Tools that ask servers.
    of_servers: Vec<String>,
    /// Whether it has other tools of its own.
    has_others: bool,
}

impl Needs {
    /// Those of the agent `name`.
    pub(crate) fn of(name: &str, settings: &AgentSettings, programs: &BTreeMap<String, ToolSettings>) -> Self {
        let asks = |tool: &&String| {
            let Some(settings) = programs.get(*tool) else { return false };
            let own = [tool.as_str()];
            let words: Vec<&str> = match settings.command.as_slice() {
                [] => own.to_vec(),
                command => command.iter().map(String::as_str).collect(),
            };
            ASK_SERVERS.iter().any(|asks| words.starts_with(asks))
        };
        if !settings.hosts.is_empty() {
            return Self::default();
        }
        let of_servers: Vec<String> = settings.tools.iter().filter(asks).cloned().collect();
        let has_others = of_servers.len() < settings.tools.len();
        Self { agent: name.to_owned(), of_servers, has_others }
    }

    /// The tools that get nowhere where the network is closed.
    pub(crate) fn cut_off(&self) -> &[String] {
        &self.of_servers
    }

    /// Whether nothing is left to it then.
    pub(crate) fn is_all(&self) -> bool {
        !self.of_servers.is_empty() && !self.has_others
    }

    /// What it lacks then, and the setting to write; none: nothing.
    pub(crate) fn sentence(&self) -> Option<String> {
        let names: Vec<String> = self.of_servers.iter().map(|tool| format!("`{tool}`")).collect();
        (!names.is_empty()).then(|| {
            format!(
                "{} can reach no server: the sandbox closes the network (`sandbox.network`). List the hosts in Hob's settings: \
                 `[agents.{}] hosts = [\"example.org\"]`",
                names.join(", "),
                self.agent
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(tools: &[&str], hosts: &[&str]) -> Needs {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let tool = |command: &[&str]| ToolSettings { command: owned(command), ..ToolSettings::default() };
        let programs = [
            ("curl".to_owned(), tool(&[])),
            ("look".to_owned(), tool(&["npm", "view", "--json"])),
            ("tree".to_owned(), tool(&["npm", "ls"])),
        ];
        let settings = AgentSettings { tools: owned(tools), hosts: owned(hosts), ..AgentSettings::default() };
        Needs::of("mine", &settings, &programs.into())
    }

    #[test]
    fn what_asks_servers_is_known_by_its_command() {
        for (tools, cut_off, is_all) in [
            (&["curl"][..], &["curl"][..], true),
            (&["look", "tree"], &["look"], false),
            (&["curl", "read"], &["curl"], false),
            (&["tree"], &[], false),
            (&[], &[], false),
        ] {
            let needs = needs(tools, &[]);
            assert_eq!(
                (needs.cut_off().to_vec(), needs.is_all()),
                (cut_off.iter().map(|tool| (*tool).to_owned()).collect(), is_all)
            );
            assert_eq!(needs.sentence().is_some(), !cut_off.is_empty());
        }
        assert!(needs(&["curl"], &["example.org"]).sentence().is_none());
    }
}
