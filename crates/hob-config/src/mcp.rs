//! The section `[mcp.NAME]`: servers of the Model Context Protocol, whose tools native agents may have. They stand in the
//! settings of whoever runs Hob alone: no repository starts a program or names a server.

use std::{collections::BTreeMap, time::Duration};

use hob_domain::Impact;
use serde::{Deserialize, Serialize};

use crate::duration;

/// What the names of all tools of MCP servers begin with: `mcp_NAME_TOOL`.
pub const MCP_PREFIX: &str = "mcp_";

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
}
