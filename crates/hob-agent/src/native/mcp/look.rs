//! A look at the servers of the settings: whether each starts and lists its tools.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use hob_config::{Impact, McpSettings};
use hob_domain::RunPurpose;
use hob_process::Environment;
use tokio_util::sync::CancellationToken;

use crate::{
    Machine,
    native::mcp::{McpServers, local::Place, servers::Opened},
};

/// The result of checking one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerLook {
    /// The server's name.
    pub name: String,
    /// The tools that agents get from it, and what each may do.
    pub tools: Vec<(String, Impact)>,
    /// The problem with it or with its tools.
    pub fault: Option<String>,
}

/// Starts each of `servers` once, in an empty folder and with those of `variables` that it names, and has it list its
/// tools. None is called.
///
/// # Errors
/// The system's, when the folder cannot be made.
pub async fn look_at_servers(
    servers: &BTreeMap<String, McpSettings>,
    variables: &Environment,
    machine: &Machine<'_>,
) -> std::io::Result<Vec<ServerLook>> {
    if servers.is_empty() {
        return Ok(Vec::new());
    }
    let folder = tokio::task::spawn_blocking(tempfile::tempdir).await??;
    let cancel = CancellationToken::new();
    let servers = McpServers::new(servers.clone(), variables);
    let place = Place {
        sandbox: machine.sandbox,
        environment: machine.environment,
        folder: folder.path(),
        purpose: RunPurpose::Plan,
        cancel: &cancel,
    };
    let look = async |name: String| {
        let Opened { connected, tools, warnings } = servers.open(std::slice::from_ref(&name), place).await;
        connected.close().await;
        let tools = tools.into_iter().map(|tool| (tool.shown.name.into_owned(), tool.impact)).collect();
        ServerLook { name, tools, fault: warnings.into_iter().next() }
    };
    Ok(join_all(servers.names().into_iter().map(look)).await)
}
