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
    native::mcp::OfferedTool,
    session::{Line, SessionEvent},
};

/// One call.
#[derive(Debug)]
struct Call {
    tool: String,
    arguments: JsonObject,
    answer: Result<String, String>,
}

/// The calls of a transcript, each answered once.
#[derive(Debug, Default)]
pub(in crate::native) struct Recorded(Mutex<Vec<Call>>);

impl Recorded {
    /// The answers in `lines`.
    pub(in crate::native) fn new(lines: &[Line]) -> Self {
        let (mut open, mut calls) = (BTreeMap::new(), Vec::new());
        for line in lines {
            match &line.event {
                SessionEvent::Action { id, tool, arguments } if tool.starts_with(MCP_PREFIX) => {
                    let arguments = serde_json::from_str(arguments).unwrap_or_default();
                    open.insert(id.clone(), (tool.clone(), arguments));
                }
                SessionEvent::Result { id, is_error, text } => {
                    if let Some((tool, arguments)) = open.remove(id) {
                        let answer = if *is_error { Err(text.clone()) } else { Ok(text.clone()) };
                        calls.push(Call { tool, arguments, answer });
                    }
                }
                _other => {}
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
    pub(super) fn answer(&self, tool: &str, arguments: &JsonObject) -> Result<String, String> {
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match calls.iter().position(|call| call.tool == tool && call.arguments == *arguments) {
            Some(at) => calls.remove(at).answer,
            None => Err("the transcript has no such call".to_owned()),
        }
    }
}
