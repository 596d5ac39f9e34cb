//! A tool of an MCP server, `mcp_NAME_TOOL`.

use hob_config::Impact;
use serde_json::{Map, Value};
use tokio::time::sleep_until;

use crate::native::{
    mcp::OfferedTool,
    tools::{ToolError, Toolbox},
};

/// One call of it.
#[derive(Debug)]
pub(in crate::native) struct Call {
    /// The tool's name, as the model calls it.
    pub(in crate::native) name: String,
    /// The arguments.
    pub(in crate::native) arguments: Map<String, Value>,
    /// Its impact.
    pub(in crate::native) impact: Impact,
    server: String,
    tool: String,
}

impl Call {
    /// A call of `tool`.
    pub(super) fn new(tool: &OfferedTool, arguments: Map<String, Value>) -> Self {
        Self {
            name: tool.shown.name.clone().into_owned(),
            arguments,
            impact: tool.impact,
            server: tool.server.clone(),
            tool: tool.name.clone(),
        }
    }

    /// The arguments as one line of JSON.
    pub(super) fn line(&self) -> String {
        serde_json::to_string(&self.arguments).unwrap_or_default()
    }

    /// Calls it, within the time of the run.
    pub(super) async fn run(&self, toolbox: &Toolbox) -> Result<String, ToolError> {
        let cap = toolbox.output_cap;
        let call = toolbox.servers.call(&self.server, &self.tool, self.arguments.clone(), cap);
        let answer = tokio::select! {
            answer = call => answer?,
            () = sleep_until(toolbox.deadline) => return Err(ToolError::Refused("the time of the run is over".into())),
            () = toolbox.cancel.cancelled() => return Err(ToolError::Refused("the run was cancelled".into())),
        };
        toolbox.written.add(answer.len() as u64);
        Ok(answer)
    }
}
