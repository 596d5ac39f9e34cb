//! The needs of an agent's programs that a sandbox does not meet, and the warning about them before a model is asked.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use hob_config::{AgentSettings, NetworkSetting, SandboxSettings, TierSetting, ToolSettings};
use hob_sandbox::{Sandbox, Tier};

use crate::egress::is_closed;

/// The path at which Docker's programs look for its socket. A box has it under this name only.
const DOCKER: &str = "/var/run/docker.sock";

/// A way out of the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Servers,
    Docker,
}

/// Programs that get nowhere without a way out, by the first words of their tool's command.
const NEED: [(&[&str], Way); 4] = [
    (&["curl"], Way::Servers),
    (&["npm", "view"], Way::Servers),
    (&["npm", "outdated"], Way::Servers),
    (&["docker"], Way::Docker),
];

/// The ways that are open.
#[derive(Debug)]
pub(crate) struct OpenWays {
    servers: bool,
    docker: bool,
}

impl OpenWays {
    /// The open ways of `sandbox`.
    pub(crate) fn in_sandbox(sandbox: &Sandbox) -> Self {
        let docker = match sandbox.tier() {
            Tier::None => true,
            // A fence does not let a program connect to the socket of another.
            Tier::Fence => false,
            Tier::Box => sandbox.lets_write(Path::new(DOCKER)),
        };
        Self { servers: !is_closed(sandbox), docker }
    }

    /// The open ways of a sandbox that is made by these settings.
    pub(crate) fn by_settings(settings: &SandboxSettings) -> Self {
        let is_none = settings.tier == TierSetting::None;
        let is_shared = |path: &PathBuf| Path::new(DOCKER).starts_with(path);
        let docker = is_none || settings.tier != TierSetting::Fence && settings.write.iter().any(is_shared);
        Self { servers: is_none || settings.network == NetworkSetting::Open, docker }
    }

    fn has(&self, way: Way) -> bool {
        match way {
            Way::Servers => self.servers,
            Way::Docker => self.docker,
        }
    }
}

/// The programs of one agent that need a way out.
#[derive(Debug, Clone, Default)]
pub(crate) struct Needs {
    agent: String,
    tools: Vec<(String, Way)>,
    /// Whether it has other tools of its own.
    has_others: bool,
}

/// The unmet needs of an agent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Lack {
    /// The tools that cannot work.
    pub(crate) tools: Vec<String>,
    /// Whether no tool is left to it.
    pub(crate) is_all: bool,
    /// The reason, and the setting to write.
    pub(crate) sentence: String,
}

impl Needs {
    /// The needs of the agent `name`.
    pub(crate) fn new(name: &str, settings: &AgentSettings, programs: &BTreeMap<String, ToolSettings>) -> Self {
        let way = |tool: &String| {
            let command = &programs.get(tool)?.command;
            let own = [tool.as_str()];
            let words: Vec<&str> = match command.as_slice() {
                [] => own.to_vec(),
                command => command.iter().map(String::as_str).collect(),
            };
            let (_, way) = NEED.iter().find(|(first, _)| words.starts_with(first))?;
            (*way != Way::Servers || settings.hosts.is_empty()).then(|| (tool.clone(), *way))
        };
        let tools: Vec<_> = settings.tools.iter().filter_map(way).collect();
        let has_others = tools.len() < settings.tools.len();
        Self { agent: name.to_owned(), tools, has_others }
    }

    /// Its unmet needs if only these ways are open; `None` if there are none.
    pub(crate) fn lack(&self, open: &OpenWays) -> Option<Lack> {
        let (tools, ways): (Vec<_>, Vec<_>) = self.tools.iter().filter(|(_, way)| !open.has(*way)).cloned().unzip();
        let sentences: Vec<String> = [Way::Servers, Way::Docker]
            .into_iter()
            .filter(|way| ways.contains(way))
            .map(|way| {
                let cut_off =
                    tools.iter().zip(&ways).filter(|(_, of)| **of == way).map(|(tool, _)| format!("`{tool}`"));
                self.sentence(&cut_off.collect::<Vec<_>>().join(", "), way)
            })
            .collect();
        let is_all = !self.has_others && tools.len() == self.tools.len();
        (!tools.is_empty()).then(|| Lack { tools, is_all, sentence: sentences.join(". ") })
    }

    fn sentence(&self, tools: &str, way: Way) -> String {
        match way {
            Way::Servers => format!(
                "{tools} can reach no server: the sandbox closes the network (`sandbox.network`). List the hosts in Hob's \
                 settings: `[agents.{}] hosts = [\"example.org\"]`",
                self.agent
            ),
            Way::Docker => format!(
                "{tools} cannot reach Docker: the sandbox closes its socket. In a box, `sandbox.write = [\"{DOCKER}\"]` opens \
                 it, to all agents and checks of this process; any program that reaches it is root on this machine"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use hob_config::Settings;

    use super::*;

    fn needs(tools: &[&str], hosts: &[&str]) -> Needs {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let tool = |command: &[&str]| ToolSettings { command: owned(command), ..ToolSettings::default() };
        let programs = [
            ("curl".to_owned(), tool(&[])),
            ("look".to_owned(), tool(&["npm", "view", "--json"])),
            ("tree".to_owned(), tool(&["npm", "ls"])),
            ("ps".to_owned(), tool(&["docker", "ps"])),
        ];
        let settings = AgentSettings { tools: owned(tools), hosts: owned(hosts), ..AgentSettings::default() };
        Needs::new("mine", &settings, &programs.into())
    }

    /// The unmet needs of an agent with these tools in a closed sandbox: the tools, and whether that is all.
    fn lacks(tools: &[&str], hosts: &[&str]) -> Option<(Vec<String>, bool)> {
        let closed = OpenWays { servers: false, docker: false };
        needs(tools, hosts).lack(&closed).map(|lack| (lack.tools, lack.is_all))
    }

    #[test]
    fn what_needs_a_way_out_is_known_by_its_command() {
        let some = |tools: &[&str], is_all| Some((tools.iter().map(|tool| (*tool).to_owned()).collect(), is_all));
        assert_eq!(lacks(&["curl"], &[]), some(&["curl"], true));
        assert_eq!(lacks(&["look", "tree"], &[]), some(&["look"], false));
        assert_eq!(lacks(&["curl", "read"], &[]), some(&["curl"], false));
        assert_eq!(lacks(&["ps", "curl"], &[]), some(&["ps", "curl"], true));
        assert_eq!(lacks(&["ps", "curl"], &["example.org"]), some(&["ps"], false));
        for (tools, hosts) in [(&["tree"][..], &[][..]), (&[], &[]), (&["curl"], &["example.org"])] {
            assert_eq!(lacks(tools, hosts), None);
        }
    }

    #[test]
    fn what_the_settings_open_is_known() {
        let open = |set: &[(&str, &str)]| {
            let set: Vec<_> = set.iter().map(|(key, value)| (format!("sandbox.{key}"), (*value).to_owned())).collect();
            let settings = Settings::load(None, std::collections::HashMap::new(), &set).unwrap();
            let open = OpenWays::by_settings(&settings.sandbox);
            (open.servers, open.docker)
        };
        assert_eq!(open(&[]), (false, false));
        assert_eq!(open(&[("network", "open")]), (true, false));
        assert_eq!(open(&[("write", DOCKER)]), (false, true));
        assert_eq!(open(&[("write", DOCKER), ("tier", "fence")]), (false, false));
        assert_eq!(open(&[("tier", "none")]), (true, true));
    }
}
