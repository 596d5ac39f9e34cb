//! Agents and tools that are there without settings: `file`, which looks at files, and `http`, which asks servers.

use std::{collections::BTreeMap, time::Duration};

use hob_config::{AgentSettings, Impact, ToolSettings};

/// The tools that the ready agents have; settings of the same name win.
pub(crate) fn ready_tools() -> BTreeMap<String, ToolSettings> {
    let tool = |name: &str, description: &str, example: &str, impact| {
        let settings = ToolSettings {
            command: Vec::new(),
            description: description.to_owned(),
            examples: vec![example.to_owned()],
            impact,
            auto_help: false,
        };
        (name.to_owned(), settings)
    };
    BTreeMap::from([
        tool("ls", "Lists files.", "-la src", Impact::Low),
        tool("cat", "Shows whole files.", "README.md", Impact::Low),
        tool("head", "Shows the beginning of files.", "-n 20 README.md", Impact::Low),
        tool("grep", "Finds lines.", "-rn 'fn main' src", Impact::Low),
        tool("find", "Finds files.", ". -name '*.rs' -size +10k", Impact::Low),
        tool("curl", "Asks a server over HTTP.", "-sS -m 20 https://example.org/status", Impact::High),
    ])
}

/// The agents `file` and `http`; settings of the same name win.
pub(crate) fn ready_agents() -> BTreeMap<String, AgentSettings> {
    let agent = |name: &str, tools: &[&str], approve| {
        let settings = AgentSettings {
            tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
            max_time: Some(Duration::from_secs(60)),
            max_iterations: 15,
            approve,
            ..AgentSettings::default()
        };
        (name.to_owned(), settings)
    };
    BTreeMap::from([
        agent("file", &["ls", "cat", "head", "grep", "find"], Impact::Low),
        agent("http", &["curl"], Impact::High),
    ])
}
