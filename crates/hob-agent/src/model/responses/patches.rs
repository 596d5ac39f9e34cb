//! OpenAI's own tool for patches in the place of Hob's: a call of it changes one file, by a diff of the same form. Where a service
//! does not have it, a custom tool, whose calls are a patch as plain text.
//!
//! - Source: OpenAI's "Apply patch" and "Function calling" guides, and the types of its client (`openai` 3.57.0 of PyPI), read
//!   2026-11. The grammar is Lark's, as far as the service reads it.

use hob_config::EditForm;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::model::{Tool, ToolResult};

/// The name of all of them.
pub(super) const NAME: &str = "apply_patch";
/// The form of a patch.
const GRAMMAR: &str = include_str!("patch.lark");

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

/// The tool that is offered in the place of `tool` where patches have this form; `None` if that is another one, or goes as it is.
pub(super) fn offer(tool: &Tool, form: EditForm) -> Option<Value> {
    let own = match form {
        EditForm::PatchTool => json!({ "type": NAME }),
        EditForm::PatchText => {
            let description = "Changes several files, all or none, by a patch: a plain text, not JSON.";
            let format = json!({ "type": "grammar", "syntax": "lark", "definition": GRAMMAR });
            json!({ "type": "custom", "name": NAME, "description": description, "format": format })
        }
        EditForm::Patch | EditForm::Replace => return None,
    };
    // The settings may call a program so.
    (tool.name == NAME && tool.schema["properties"]["patch"].is_object()).then_some(own)
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

/// The answer to a call of OpenAI's tool.
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
        for form in [EditForm::PatchTool, EditForm::PatchText] {
            assert_eq!(own.map(|(name, key)| offer(&tool(name, key), form).is_some()), [true, false, false]);
        }
        assert_eq!(offer(&tool("apply_patch", "patch"), EditForm::Patch), None);
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
