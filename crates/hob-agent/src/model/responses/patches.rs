//! OpenAI's own tool for patches in the place of Hob's: a call of it changes one file, by a diff of the same form.
//!
//! - Guarantees: an answer has the form of its call as that goes back: a call whose reply is no longer verbatim is one of Hob's
//!   tool, and so is its answer.
//! - Source: OpenAI's "Apply patch" guide, and the types of its client (`openai` 3.57.0 of PyPI), read 2026-11.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::model::{Message, Tool, ToolResult};

/// The name of both.
pub(super) const NAME: &str = "apply_patch";
/// The type of its calls.
const CALL: &str = "apply_patch_call";

/// What a call does to a file.
#[derive(Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
enum Operation {
    #[serde(rename = "create_file")]
    Create { path: String, diff: String },
    #[serde(rename = "update_file")]
    Update { path: String, diff: String },
    #[serde(rename = "delete_file")]
    Delete { path: String },
}

/// An item of a reply, as far as it says whose answer it wants.
#[derive(Deserialize)]
struct Item {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    call_id: String,
}

/// Whether a tool is Hob's for patches, and not a program that the settings call so.
pub(super) fn is_patch(tool: &Tool) -> bool {
    tool.name == NAME && tool.schema["properties"]["patch"].is_object()
}

/// The arguments of Hob's tool for an operation. What is not as documented goes through, and the tool says what it does not know.
pub(super) fn arguments(operation: &Value) -> String {
    let patch = Operation::deserialize(operation).ok().and_then(|operation| {
        let (head, path, diff) = match operation {
            Operation::Create { path, diff } => ("Add", path, diff),
            Operation::Update { path, diff } => ("Update", path, diff),
            Operation::Delete { path } => ("Delete", path, String::new()),
        };
        let is_line = !path.contains(['\n', '\r']);
        // Some diffs are a patch by themselves.
        let is_whole = diff.trim_start().starts_with("*** Begin Patch");
        let diff = diff.trim_end_matches('\n');
        let whole = format!("*** Begin Patch\n*** {head} File: {path}\n{diff}\n*** End Patch");
        is_line.then(|| if is_whole { diff.to_owned() } else { whole })
    });
    patch.map_or_else(|| operation.to_string(), |patch| json!({ "patch": patch }).to_string())
}

/// The ids of the calls of OpenAI's tool in what the model `of` said, as it goes back.
pub(super) fn calls(said: Option<&Message>, of: &str) -> Vec<String> {
    let Some(Message::Assistant { verbatim: Some(verbatim), .. }) = said else { return Vec::new() };
    let items = verbatim.by(of).filter(|items| items.contains(CALL)).map(|items| format!("[{items}]"));
    let items: Vec<Item> = items.and_then(|items| serde_json::from_str(&items).ok()).unwrap_or_default();
    items.into_iter().filter(|item| item.kind == CALL).map(|item| item.call_id).collect()
}

/// The answer to a call of it.
pub(super) fn output(result: &ToolResult) -> Value {
    let status = if result.is_error { "failed" } else { "completed" };
    json!({ "type": "apply_patch_call_output", "call_id": result.id, "status": status, "output": result.text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_the_settings_is_another_tool() {
        let tool = |name: &'static str, key: &str| Tool {
            name: name.into(),
            description: "d".into(),
            schema: json!({ "properties": { key: { "type": "string" } } }),
        };
        let own = [("apply_patch", "patch"), ("apply_patch", "arguments"), ("read", "patch")];
        assert_eq!(own.map(|(name, key)| is_patch(&tool(name, key))), [true, false, false]);
    }

    #[test]
    fn an_operation_is_a_patch_of_one_file() {
        for (operation, patch) in [
            (json!({ "type": "create_file", "path": "a", "diff": "+x\n+y\n" }), "*** Add File: a\n+x\n+y"),
            (json!({ "type": "update_file", "path": "a", "diff": "@@\n-x\n+y" }), "*** Update File: a\n@@\n-x\n+y"),
            (json!({ "type": "delete_file", "path": "a" }), "*** Delete File: a\n"),
        ] {
            let wanted = json!({ "patch": format!("*** Begin Patch\n{patch}\n*** End Patch") });
            assert_eq!(arguments(&operation), wanted.to_string());
        }
        let whole = "*** Begin Patch\n*** Delete File: b\n*** End Patch";
        let operation = json!({ "type": "update_file", "path": "a", "diff": whole });
        assert_eq!(arguments(&operation), json!({ "patch": whole }).to_string());
        for other in [
            json!({ "type": "move_file", "path": "a", "to": "b" }),
            json!({ "type": "delete_file", "path": "a\n*** Delete File: b" }),
            json!({ "type": "create_file", "path": "a" }),
        ] {
            assert_eq!(arguments(&other), other.to_string());
        }
    }
}
