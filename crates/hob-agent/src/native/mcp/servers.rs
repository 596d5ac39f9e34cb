//! The servers of a run: opened together, asked one by one, closed together.

use std::{collections::BTreeMap, ffi::OsStr, sync::Arc};

use futures_util::future::join_all;
use hob_config::McpSettings;
use hob_process::Environment;
use rmcp::model::JsonObject;

use crate::{
    native::mcp::{
        OfferedTool, Recorded,
        connection::Connection,
        error::{CallError, UnknownServer},
        local::Place,
        offer::{Offer, offer},
    },
    report::clip,
};

/// The servers that the settings name.
#[derive(Debug, Default, Clone)]
pub(crate) struct McpServers {
    all: Arc<BTreeMap<String, McpSettings>>,
    /// Variables that servers get, and those that open them.
    variables: Arc<Environment>,
}

/// The source of the tools of an agent's servers.
#[derive(Debug)]
pub(in crate::native) enum McpSource {
    /// The servers.
    Servers(McpServers),
    /// A transcript: no server is asked.
    Recorded(Arc<Recorded>),
}

/// The open servers of a run.
#[derive(Default)]
pub(in crate::native) struct Connected {
    open: BTreeMap<String, Connection>,
    recorded: Option<Arc<Recorded>>,
}

/// The result of opening servers.
#[derive(Default)]
pub(in crate::native) struct Opened {
    /// The open ones.
    pub(in crate::native) connected: Connected,
    /// Their tools.
    pub(in crate::native) tools: Vec<OfferedTool>,
    /// Warnings, one sentence a server.
    pub(in crate::native) warnings: Vec<String>,
}

impl std::fmt::Debug for Connected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Connected").field(&self.open.keys()).finish()
    }
}

impl McpServers {
    /// The servers of `all`; they get the `variables` that they name.
    pub(crate) fn new(all: BTreeMap<String, McpSettings>, variables: &Environment) -> Self {
        let named = |name: &OsStr| {
            let names = |server: &McpSettings| server.env.iter().chain(&server.token).any(|one| name == one.as_str());
            all.values().any(names)
        };
        let variables = variables.iter().filter(|(name, _)| named(name));
        let variables = variables.map(|(name, value)| (name.clone(), value.clone())).collect();
        Self { all: Arc::new(all), variables: Arc::new(variables) }
    }

    /// Their names, in order.
    pub(super) fn names(&self) -> Vec<String> {
        self.all.keys().cloned().collect()
    }

    /// Checks that all of `names` are known.
    ///
    /// # Errors
    /// The first that is not, with those that are.
    pub(crate) fn know(&self, names: &[String]) -> Result<(), UnknownServer> {
        let Some(unknown) = names.iter().find(|name| !self.all.contains_key(*name)) else { return Ok(()) };
        let known = self.names().join(", ");
        let known =
            if known.is_empty() { "none is set up; add `[mcp.NAME]`".to_owned() } else { format!("there are {known}") };
        Err(UnknownServer { name: unknown.clone(), known })
    }

    /// Opens those that `names` names, in this order.
    pub(in crate::native) async fn open(&self, names: &[String], place: Place<'_>) -> Opened {
        let named: Vec<_> = names.iter().filter_map(|name| self.all.get_key_value(name)).collect();
        let opening = named.iter().map(|(name, settings)| Connection::open(name, settings, &self.variables, place));
        let mut opened = Opened::default();
        for ((name, settings), result) in named.iter().zip(join_all(opening).await) {
            match result {
                Ok((connection, listed)) => {
                    let Offer { tools, complaint } = offer(name, settings, &listed);
                    opened.tools.extend(tools);
                    opened.warnings.extend(complaint.map(|complaint| format!("the MCP server `{name}`: {complaint}")));
                    opened.connected.open.insert((*name).clone(), connection);
                }
                Err(why) => opened.warnings.push(format!("the MCP server `{name}` is not used: {why}")),
            }
        }
        opened
    }
}

impl McpSource {
    /// Opens the servers that `names` names.
    pub(in crate::native) async fn open(&self, names: &[String], place: Place<'_>) -> Opened {
        match self {
            Self::Servers(servers) => servers.open(names, place).await,
            Self::Recorded(recorded) => Opened {
                tools: recorded.tools(),
                connected: Connected { open: BTreeMap::new(), recorded: Some(Arc::clone(recorded)) },
                warnings: Vec::new(),
            },
        }
    }
}

impl Connected {
    /// Calls a tool; at most `cap` bytes of the answer are kept. The error is the message to the model.
    pub(in crate::native) async fn call(
        &self,
        server: &str,
        tool: &str,
        arguments: JsonObject,
        cap: usize,
    ) -> Result<String, CallError> {
        if let Some(recorded) = &self.recorded {
            return recorded.answer(tool, &arguments);
        }
        match self.open.get(server) {
            Some(connection) => connection.call(tool, arguments).await.map(|answer| clip(&answer, cap)),
            None => Err(CallError::NotOpen(server.to_owned())),
        }
    }

    /// Closes all; afterwards none of their programs is left.
    pub(in crate::native) async fn close(self) {
        join_all(self.open.into_values().map(Connection::close)).await;
    }
}
