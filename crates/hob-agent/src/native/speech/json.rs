//! Replies of models without tool calls: one JSON object with the thinking and the action.
//!
//! ```json
//! {"thinking": "…", "action": {"type": "call", "command": "ls -l"}}
//! {"thinking": "…", "action": {"type": "call", "tool": "read", "arguments": {"path": "a"}}}
//! {"thinking": "…", "action": {"type": "done", "status": "success", "title": "…", "result": "…"}}
//! ```

use serde_json::{Map, Value, json};

use crate::{
    model::{Tool, ToolCall},
    native::{repair::object, speech::Understood, tools::Toolset},
};

/// Actions one reply may have.
const ACTIONS_MAX: usize = 32;

/// The system role's text about the tools and how to call them.
pub(super) fn instructions(tools: &[Tool]) -> String {
    let mut text = "Reply with one JSON object and nothing else, in one of these forms:\n\
         {\"thinking\": \"…\", \"action\": {\"type\": \"call\", \"tool\": \"NAME\", \"arguments\": {…}}}\n\
         {\"thinking\": \"…\", \"action\": {\"type\": \"call\", \"command\": \"a command line\"}}\n"
        .to_owned();
    if tools.iter().any(|tool| tool.name == "done") {
        text.push_str(
            "{\"thinking\": \"…\", \"action\": {\"type\": \"done\", \"status\": \"success\", \"title\": \"what the change does\", \"result\": \"…\"}}\n\
             A status is `success`, `nothing_to_do` or `failed`. ",
        );
    }
    text.push_str("You get the result in the next message.\n\nTools, with their arguments (`?`: may be left out):\n");
    for tool in tools {
        let required = tool.schema["required"].as_array();
        let needs = |name: &str| required.is_some_and(|names| names.iter().any(|known| known == name));
        let arguments: Vec<String> = tool.schema["properties"]
            .as_object()
            .into_iter()
            .flat_map(Map::keys)
            .map(|name| if needs(name) { name.clone() } else { format!("{name}?") })
            .collect();
        text.push_str(&format!("- {} {{{}}}: {}\n", tool.name, arguments.join(", "), tool.description));
    }
    text
}

/// Reads a reply.
pub(super) fn read(text: &str, turn: u32, toolset: &Toolset) -> Understood {
    let reply = match object(text) {
        Ok(Some(reply)) => reply,
        Ok(None) => return Understood::Words,
        Err(error) => return Understood::Unreadable(format!("the reply is not one JSON object: {error}")),
    };
    let actions: Vec<&Value> = match (reply.get("action"), reply.get("actions").and_then(Value::as_array)) {
        (Some(action), _) => vec![action],
        (None, Some(actions)) => actions.iter().take(ACTIONS_MAX).collect(),
        (None, None) => Vec::new(),
    };
    // Some models omit the frame.
    let bare = Value::Object(reply.clone());
    let actions = if actions.is_empty() { vec![&bare] } else { actions };
    let calls: Result<Vec<ToolCall>, InvalidAction> = actions
        .into_iter()
        .enumerate()
        .map(|(index, action)| {
            let (name, arguments) = call(action, toolset)?;
            Ok(ToolCall { id: format!("json-{turn}-{}", index + 1), name, arguments: arguments.to_string() })
        })
        .collect();
    match calls {
        Ok(calls) => Understood::Calls(calls),
        Err(error) => Understood::Unreadable(error.to_string()),
    }
}

/// An action that calls nothing.
#[derive(Debug, thiserror::Error)]
enum InvalidAction {
    #[error("the action has neither `command` nor `tool`, and is not `done`")]
    Nothing,
    #[error("the action's type is `call` or `done`, not `{0}`")]
    Kind(String),
}

/// The tool and the arguments of one action.
fn call(action: &Value, toolset: &Toolset) -> Result<(String, Value), InvalidAction> {
    let text = |key: &str| action.get(key).and_then(Value::as_str);
    match (text("type"), text("tool").or_else(|| text("name")), text("command")) {
        (Some("done"), _, _) => Ok(done(action)),
        (Some("call") | None, Some(tool), None) => Ok((tool.to_owned(), arguments(action))),
        (Some("call") | None, None, Some(command)) => Ok(command_call(command, toolset)),
        (Some("call") | None, Some(tool), Some(command)) if !toolset.is_program(tool) => {
            let arguments = action.get("arguments").cloned().unwrap_or_else(|| json!({ "command": command }));
            Ok((tool.to_owned(), arguments))
        }
        (Some("call") | None, Some(_), Some(command)) => Ok(command_call(command, toolset)),
        (Some(kind), _, _) if toolset.has(kind) => Ok((kind.to_owned(), arguments(action))),
        (Some("call") | None, None, None) => Err(InvalidAction::Nothing),
        (Some(kind), _, _) => Err(InvalidAction::Kind(kind.to_owned())),
    }
}

/// The arguments: an object of their own, or the members beside the name.
fn arguments(action: &Value) -> Value {
    let given = action.get("arguments").or_else(|| action.get("args")).or_else(|| action.get("input"));
    match given {
        // A configured program takes a line of arguments.
        Some(Value::String(line)) => match serde_json::from_str::<Value>(line) {
            Ok(object @ Value::Object(_)) => object,
            Ok(_) | Err(_) => json!({ "arguments": line }),
        },
        Some(given) => given.clone(),
        None => {
            let mut rest = action.as_object().cloned().unwrap_or_default();
            for key in ["type", "tool", "name", "thinking", "thought"] {
                rest.remove(key);
            }
            Value::Object(rest)
        }
    }
}

/// A command line: for the shell if there is one, otherwise for the configured program that it names first.
fn command_call(command: &str, toolset: &Toolset) -> (String, Value) {
    if toolset.has("shell") {
        return ("shell".to_owned(), json!({ "command": command }));
    }
    let command = command.trim();
    let (program, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    if toolset.is_program(program) {
        return (program.to_owned(), json!({ "arguments": rest.trim() }));
    }
    // Answered with the list of tools.
    (program.to_owned(), json!({}))
}

fn done(action: &Value) -> (String, Value) {
    let result = ["result", "summary", "reason"].iter().find_map(|key| action.get(*key));
    let result = match result {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    let arguments = match action.get("status").and_then(Value::as_str).unwrap_or("success") {
        "success" | "done" | "ok" | "completed" => match action.get("title").and_then(Value::as_str) {
            Some(title) => json!({ "title": title, "summary": result }),
            None => json!({ "summary": result }),
        },
        "nothing_to_do" => json!({ "summary": result, "nothing_to_do": true }),
        _ => json!({ "summary": result, "failed": true }),
    };
    ("done".to_owned(), arguments)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use hob_config::ToolSettings;

    use super::*;

    fn toolset(wanted: &[&str]) -> Toolset {
        let wanted: Vec<String> = wanted.iter().map(|name| (*name).to_owned()).collect();
        let programs = [("ls".to_owned(), ToolSettings::default())].into();
        Toolset::new(&wanted, &programs, &BTreeMap::new()).unwrap()
    }

    fn calls(text: &str, toolset: &Toolset) -> Vec<(String, String)> {
        match read(text, 1, toolset) {
            Understood::Calls(calls) => calls.into_iter().map(|call| (call.name, call.arguments)).collect(),
            other => panic!("{text}: {other:?}"),
        }
    }

    /// Requirement S3.
    #[test]
    fn an_action_is_a_call_of_a_tool_however_it_is_framed() {
        let all = toolset(&[]);
        let shell = [("shell".to_owned(), r#"{"command":"ls -l"}"#.to_owned())];
        for text in [
            r#"{"thinking": "I look", "action": {"type": "call", "command": "ls -l"}}"#,
            "Sure!\n```json\n{\"action\": {\"type\": \"call\", \"command\": \"ls -l\"}}\n```\nI wait.",
            r#"{"action": {"type": "call", "tool": "shell", "arguments": {"command": "ls -l"}}}"#,
            r#"{"action": {"type": "call", "tool": "shell", "command": "ls -l"}}"#,
            r#"{"type": "call", "command": "ls -l"}"#,
            r#"{"action": {"type": "call", "command": "ls -l",},} }"#,
            r#"{"actions": [{"tool": "shell", "args": {"command": "ls -l"}}]}"#,
            r#"{"action": {"type": "shell", "command": "ls -l"}}"#,
        ] {
            assert_eq!(calls(text, &all), shell, "{text}");
        }
        let done = calls(r#"{"action": {"type": "done", "status": "success", "result": "a{b}"}}"#, &all);
        assert_eq!(done, [("done".to_owned(), r#"{"summary":"a{b}"}"#.to_owned())]);
        let titled = calls(r#"{"action": {"type": "done", "title": "Do it", "result": "a"}}"#, &all);
        assert_eq!(titled, [("done".to_owned(), r#"{"summary":"a","title":"Do it"}"#.to_owned())]);
        let failed = calls(r#"{"action": {"type": "done", "status": "error", "result": {"x": 1}}}"#, &all);
        assert_eq!(failed, [("done".to_owned(), r#"{"failed":true,"summary":"{\"x\":1}"}"#.to_owned())]);
    }

    #[test]
    fn a_command_names_a_configured_program_where_there_is_no_shell() {
        let limited = toolset(&["ls"]);
        let text = r#"{"action": {"type": "call", "command": "ls -l  a"}}"#;
        assert_eq!(calls(text, &limited), [("ls".to_owned(), r#"{"arguments":"-l  a"}"#.to_owned())]);
        let text = r#"{"action": {"type": "call", "tool": "ls", "arguments": "-l"}}"#;
        assert_eq!(calls(text, &limited), [("ls".to_owned(), r#"{"arguments":"-l"}"#.to_owned())]);
        assert_eq!(calls(r#"{"action": {"type": "call", "command": "rm x"}}"#, &limited)[0].0, "rm");
    }

    #[test]
    fn what_cannot_be_read_is_said_and_words_are_words() {
        let all = toolset(&[]);
        let unreadable = |text: &str| match read(text, 1, &all) {
            Understood::Unreadable(reason) => reason,
            other => panic!("{text}: {other:?}"),
        };
        assert!(unreadable(r#"{"action": {"type": "call", "comm"#).contains("EOF"));
        assert!(unreadable(r#"{"action": {"type": "jump"}}"#).contains("not `jump`"));
        assert!(unreadable(r#"{"action": {"type": "call"}}"#).contains("neither"));
        assert!(unreadable(r#"{"action": "ls"}"#).contains("neither"));
        for words in ["", "I would rather talk.", "[1, 2]"] {
            assert_eq!(read(words, 1, &all), Understood::Words, "{words}");
        }
    }

    #[test]
    fn the_instructions_name_each_tool() {
        let text = instructions(toolset(&[]).shown());
        assert!(text.contains("- read {from?, path, to?}: Shows"), "{text}");
    }
}
