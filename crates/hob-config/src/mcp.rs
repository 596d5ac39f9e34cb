//! The section `[mcp.NAME]`: servers of the Model Context Protocol whose tools native agents may use. Only the
//! operator's file has it: no repository starts a program or names a server.

use std::{collections::BTreeMap, time::Duration};

use hob_domain::Impact;
use serde::{Deserialize, Serialize};

use crate::duration;

/// The prefix of the names of all tools of MCP servers: `mcp_NAME_TOOL`.
pub const MCP_PREFIX: &str = "mcp_";

/// One server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct McpSettings {
    /// A server on this machine: the program and its arguments. `{folder}` in one of them is the folder that the agent
    /// works in.
    pub command: Vec<String>,
    /// Names of variables that the program gets in addition.
    pub env: Vec<String>,
    /// Hosts that the program may reach while `sandbox.network` is closed.
    pub hosts: Vec<String>,
    /// A server over streamable HTTP: its address.
    pub url: Option<String>,
    /// The name of the variable whose value is the bearer token of that server.
    pub token: Option<String>,
    /// The tools that agents may use; empty for all that the server lists.
    pub allow: Vec<String>,
    /// The impact of tools that `tools` does not list.
    pub impact: Impact,
    /// The impact of each tool.
    pub tools: BTreeMap<String, Impact>,
    /// The time limit for the server's start and list of tools, and then for each call.
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
    /// The impact of the tool `name`, by the server's own name for it.
    pub fn impact_of(&self, name: &str) -> Impact {
        self.tools.get(name).copied().unwrap_or(self.impact)
    }

    /// Whether agents may use the tool `name`, by the server's own name for it.
    pub fn allows(&self, name: &str) -> bool {
        self.allow.is_empty() || self.allow.iter().any(|allowed| allowed == name)
    }
}
