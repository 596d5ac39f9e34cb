//! Calls of servers' tools from a transcript, instead of the servers: nothing is done a second time.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use hob_config::{Impact, MCP_PREFIX};
use rmcp::model::JsonObject;
use serde_json::json;

use crate::{
    model::Tool,
    native::mcp::{CallError, OfferedTool},
    session::{Line, SessionEvent},
};

/// One call.
#[derive(Debug)]
struct Call {
    tool: String,
    arguments: JsonObject,
    text: String,
    is_error: bool,
}

/// The calls of a transcript, each answered once.
#[derive(Debug, Default)]
pub(in crate::native) struct Recorded(Mutex<Vec<Call>>);

impl Recorded {
    /// The answers in `lines`.
    pub(in crate::native) fn new(lines: &[Line]) -> Self {
        let (mut open, mut calls) = (BTreeMap::new(), Vec::new());
        for line in lines {
            if let SessionEvent::Action { id, tool, arguments } = &line.event
                && tool.starts_with(MCP_PREFIX)
            {
                let arguments = serde_json::from_str(arguments).unwrap_or_default();
                open.insert(id.clone(), (tool.clone(), arguments));
            }
            if let SessionEvent::Result { id, is_error, text } = &line.event
                && let Some((tool, arguments)) = open.remove(id)
            {
                calls.push(Call { tool, arguments, text: text.clone(), is_error: *is_error });
            }
        }
        Self(Mutex::new(calls))
    }

    /// The tools that were called. They have no effect here, so each is allowed.
    pub(super) fn tools(&self) -> Vec<OfferedTool> {
        let calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut names: Vec<&String> = calls.iter().map(|call| &call.tool).collect();
        names.sort();
        names.dedup();
        let tool = |name: &String| OfferedTool {
            server: String::new(),
            name: name.clone(),
            impact: Impact::Low,
            shown: Tool { name: name.clone().into(), description: "".into(), schema: json!({ "type": "object" }) },
        };
        names.into_iter().map(tool).collect()
    }

    /// The recorded answer to the next call of `tool` with these arguments.
    pub(super) fn answer(&self, tool: &str, arguments: &JsonObject) -> Result<String, CallError> {
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = calls.iter().position(|call| call.tool == tool && call.arguments == *arguments);
        let Call { text, is_error, .. } = calls.remove(found.ok_or(CallError::NotRecorded)?);
        if is_error { Err(CallError::Tool(text)) } else { Ok(text) }
    }
}
