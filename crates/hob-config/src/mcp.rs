//! The section `[mcp.NAME]`: servers of the Model Context Protocol, whose tools native agents may have. They stand in the
//! settings of whoever runs Hob alone: no repository starts a program or names a server.

use std::{collections::BTreeMap, time::Duration};

use hob_domain::Impact;
use serde::{Deserialize, Serialize};

use crate::{SettingsError, duration, may_pass, sensible::hold, webhook::address};

/// What the names of all tools of MCP servers begin with: `mcp_NAME_TOOL`.
pub const MCP_PREFIX: &str = "mcp_";
/// Characters of a server's name: it is a part of the names of its tools, which models take only if they are short.
const NAME_MAX: usize = 20;

/// One server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct McpSettings {
    /// A server on this machine: the program and its arguments. `{folder}` in one is the folder that the agent works in.
    pub command: Vec<String>,
    /// Names of variables that the program gets besides.
    pub env: Vec<String>,
    /// Hosts that the program reaches where `sandbox.network` is closed.
    pub hosts: Vec<String>,
    /// A server over streamable HTTP: its address.
    pub url: Option<String>,
    /// The name of the variable whose value opens that server, as a bearer token.
    pub token: Option<String>,
    /// The tools that agents have; empty: all that the server lists.
    pub allow: Vec<String>,
    /// What a tool may do of which `tools` says nothing.
    pub impact: Impact,
    /// What each tool may do.
    pub tools: BTreeMap<String, Impact>,
    /// How long the server may take to start and to list its tools, and then for each call.
    #[serde(with = "duration")]
    pub timeout: Duration,
}

impl Default for McpSettings {
    fn default() -> Self {
        Self {
            command: Vec::new(),
            env: Vec::new(),
            hosts: Vec::new(),
            url: None,
            token: None,
            allow: Vec::new(),
            impact: Impact::High,
            tools: BTreeMap::new(),
            timeout: Duration::from_secs(30),
        }
    }
}

impl McpSettings {
    /// What the tool `name`, as the server calls it, may do.
    pub fn impact_of(&self, name: &str) -> Impact {
        self.tools.get(name).copied().unwrap_or(self.impact)
    }

    /// Whether agents have the tool `name`, as the server calls it.
    pub fn allows(&self, name: &str) -> bool {
        self.allow.is_empty() || self.allow.iter().any(|allowed| allowed == name)
    }

    /// Refuses what makes no sense.
    ///
    /// # Errors
    /// [`SettingsError::Senseless`] for the first thing.
    pub(super) fn check(&self, name: &str) -> Result<(), SettingsError> {
        let plain = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        let is_name = plain && name.len() <= NAME_MAX && name.starts_with(|c: char| c.is_ascii_lowercase());
        hold(is_name, "mcp", name, "a name has a-z, 0-9 and `-`, a letter first, and at most 20 characters")?;
        let key = |key: &str| format!("mcp.{name}.{key}");
        let shown = |list: &[String]| list.join(" ");
        match &self.url {
            Some(url) => {
                let command = &self.command;
                let allowed = "a server with a `url` is not started here: remove one of the two";
                hold(command.is_empty(), &key("command"), shown(command), allowed)?;
                drop(address(url, &key("url"))?);
                for (list, of) in [(&self.env, "env"), (&self.hosts, "hosts")] {
                    hold(list.is_empty(), &key(of), shown(list), "only a server with a `command` has it: remove it")?;
                }
            }
            None => {
                let program = self.command.first().map_or("", String::as_str);
                let allowed = "write `command` for a server on this machine, or `url` for one over HTTP";
                hold(!program.trim().is_empty(), &key("command"), program, allowed)?;
                let token = self.token.as_deref();
                let allowed = "only a server with a `url` has it: pass the variable on by `env`";
                hold(token.is_none(), &key("token"), token.unwrap_or_default(), allowed)?;
            }
        }
        for (of, variable) in
            self.env.iter().map(|name| ("env", name)).chain(self.token.iter().map(|name| ("token", name)))
        {
            let allowed = "write the name of a variable, and none that opens the forge or is a setting of Hob's";
            hold(may_pass(variable), &key(of), variable, allowed)?;
        }
        let timeout = humantime::format_duration(self.timeout);
        hold(!self.timeout.is_zero(), &key("timeout"), timeout, "write more than 0s")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::Settings;

    fn load(file: &str) -> Result<Settings, SettingsError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hob.toml");
        std::fs::write(&path, file).unwrap();
        Settings::load(Some(&path), HashMap::new(), &[])
    }

    #[test]
    fn a_server_says_what_each_of_its_tools_may_do() {
        let settings = load(
            "[mcp.docs]\ncommand = ['docs', '--stdio']\nimpact = 'medium'\nallow = ['find', 'listAll']\n\
             [mcp.docs.tools]\nlistAll = 'low'\n[mcp.far]\nurl = 'https://example.org/mcp'",
        )
        .unwrap();
        let (docs, far) = (&settings.mcp["docs"], &settings.mcp["far"]);
        assert_eq!([docs.impact_of("listAll"), docs.impact_of("find")], [Impact::Low, Impact::Medium]);
        assert_eq!([docs.allows("find"), docs.allows("drop"), far.allows("drop")], [true, false, true]);
        assert_eq!(far.impact_of("anything"), Impact::High);
    }

    #[test]
    fn a_server_that_makes_no_sense_is_refused_with_what_to_write() {
        for (file, says) in [
            ("[mcp.a]", "`mcp.a.command` cannot be used: it is ``; write `command` for a server on this machine"),
            ("[mcp.a]\ncommand = ['']", "`mcp.a.command`"),
            ("[mcp.a]\ncommand = ['x']\nurl = 'https://example.org'", "remove one of the two"),
            (
                "[mcp.a]\nurl = 'http://example.org/mcp'",
                "`mcp.a.url` cannot be used: it is `http://example.org`; write",
            ),
            ("[mcp.a]\nurl = 'nowhere'", "`mcp.a.url` cannot be used: it is `no address`"),
            ("[mcp.a]\nurl = 'https://name:word@example.org'", "it is `https://example.org`"),
            ("[mcp.a]\nurl = 'https://example.org'\nenv = ['X']", "`mcp.a.env`"),
            ("[mcp.a]\nurl = 'https://example.org'\nhosts = ['x.org']", "`mcp.a.hosts`"),
            ("[mcp.a]\nurl = 'https://example.org'\ntoken = 'GITHUB_TOKEN'", "none that opens the forge"),
            ("[mcp.a]\ncommand = ['x']\nenv = ['GH_TOKEN']", "none that opens the forge"),
            ("[mcp.a]\ncommand = ['x']\ntoken = 'X'", "pass the variable on by `env`"),
            ("[mcp.a]\ncommand = ['x']\ntimeout = '0s'", "`mcp.a.timeout` cannot be used: it is `0s`"),
            ("[mcp.a]\ncommand = ['x']\ncomand = ['y']", "unknown field `comand`"),
            ("[mcp.a]\ncommand = ['x']\n[mcp.a.tools]\nfind = 'lwo'", "lwo"),
            ("[mcp.a_b]\ncommand = ['x']", "a name has a-z"),
            ("[mcp.a-name-that-is-too-long]\ncommand = ['x']", "at most 20 characters"),
            ("[tools.mcp_x]\ncommand = ['x']", "those of MCP servers' tools"),
        ] {
            let error = load(file).expect_err(file).to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
