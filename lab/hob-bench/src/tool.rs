//! Finds, among the tools a client offers, the one that runs a shell command, and fills its arguments by its schema.

use serde_json::{Map, Value, json};

use crate::Edit;

/// Names that agents give their shell tool, the likeliest first.
const NAMES: [&str; 10] = [
    "bash",
    "shell",
    "exec_command",
    "run_shell_command",
    "shell_command",
    "Bash",
    "developer__shell",
    "execute_command",
    "run_command",
    "terminal",
];
/// The line that mini-swe-agent's instructions have a model print when it is done; what follows is its result.
const SUBMIT: &str = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT";
/// Properties that hold the command.
const COMMANDS: [&str; 3] = ["command", "cmd", "script"];

/// A tool as a client offers it.
#[derive(Debug, Clone)]
pub(super) struct Offer {
    pub(super) name: String,
    pub(super) schema: Value,
}

/// The server's next reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Turn {
    /// A call of a tool; the arguments are JSON text, unless a fault broke them.
    Call { name: String, arguments: String },
    /// Words.
    Text(String),
}

/// The tool that runs shell commands.
pub(super) fn shell(offers: &[Offer]) -> Option<&Offer> {
    let named = NAMES.iter().find_map(|name| offers.iter().find(|offer| offer.name == *name));
    let alike = || {
        offers.iter().find(|offer| {
            let name = offer.name.to_ascii_lowercase();
            ["shell", "bash", "exec", "command"].iter().any(|part| name.contains(part))
        })
    };
    named.or_else(alike).filter(|offer| command_property(offer).is_some())
}

fn command_property(offer: &Offer) -> Option<&'static str> {
    COMMANDS.into_iter().find(|name| offer.schema["properties"].get(name).is_some())
}

/// A call of `offer` that runs `command`.
pub(super) fn call(offer: &Offer, command: &str) -> Turn {
    let mut arguments = required(&offer.schema);
    let properties = &offer.schema["properties"];
    if let Some(property) = command_property(offer) {
        let value = match is_type(&properties[property], "array") {
            true => json!(["sh", "-c", command]),
            false => json!(command),
        };
        arguments.insert(property.to_owned(), value);
    }
    Turn::Call { name: offer.name.clone(), arguments: Value::Object(arguments).to_string() }
}

/// The end of the work: a call of the tool that the client offers for it, otherwise text.
pub(super) fn ending(offers: &[Offer], body: &str, words: &str) -> Turn {
    if let (true, Some(shell)) = (body.contains(SUBMIT), shell(offers)) {
        let words = words.replace('\'', r"'\''");
        return call(shell, &format!("echo {SUBMIT} && echo '{words}'"));
    }
    let Some(done) = offers.iter().find(|offer| offer.name == "done") else { return Turn::Text(words.to_owned()) };
    let required = done.schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let arguments: Map<_, _> = required.map(|name| (name.to_owned(), json!(words))).collect();
    Turn::Call { name: done.name.clone(), arguments: Value::Object(arguments).to_string() }
}

/// An object with all that `schema` requires.
fn required(schema: &Value) -> Map<String, Value> {
    let names = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    names.map(|name| (name.to_owned(), filler(&schema["properties"][name]))).collect()
}

/// Some value that fits a schema.
pub(super) fn filler(property: &Value) -> Value {
    if let Some(first) = property["enum"].as_array().and_then(|values| values.first()) {
        return first.clone();
    }
    for (kind, value) in [
        ("boolean", json!(false)),
        ("integer", json!(30)),
        ("number", json!(30)),
        ("array", json!([])),
        ("object", required(property).into()),
    ] {
        if is_type(property, kind) {
            return value;
        }
    }
    json!("a step")
}

/// Whether a schema's type is `kind`; some clients write types in capitals, some as a list.
fn is_type(property: &Value, kind: &str) -> bool {
    let same = |value: &Value| value.as_str().is_some_and(|name| name.eq_ignore_ascii_case(kind));
    same(&property["type"]) || property["type"].as_array().is_some_and(|kinds| kinds.iter().any(same))
}

/// The form in which a client without tools takes edits, by what its instructions in `body` ask for.
pub(super) fn edit_as_text(body: &str, edit: &Edit) -> Option<Turn> {
    let Edit { path, text } = edit;
    if body.contains("SEARCH/REPLACE") {
        let block = format!("{path}\n```\n<<<<<<< SEARCH\n=======\n{text}\n>>>>>>> REPLACE\n```\n");
        Some(Turn::Text(block))
    } else if body.contains("file listing") {
        Some(Turn::Text(format!("{path}\n```\n{text}\n```\n")))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(name: &str, schema: Value) -> Offer {
        Offer { name: name.to_owned(), schema }
    }

    #[test]
    fn the_shell_tool_is_found_by_its_name_and_its_schema() {
        let read = offer("read", json!({ "properties": { "path": { "type": "string" } } }));
        let stdin = offer("write_stdin_of_command", json!({ "properties": { "chars": { "type": "string" } } }));
        let bash = offer("bash", json!({ "properties": { "command": { "type": "string" } } }));
        let offers = [read.clone(), stdin, bash];
        assert_eq!(shell(&offers).map(|offer| offer.name.as_str()), Some("bash"));
        assert!(shell(&[read]).is_none());
    }

    #[test]
    fn an_answer_by_a_schema_has_all_that_it_requires() {
        let step = json!({ "type": "OBJECT", "properties": { "score": { "type": "INTEGER" } }, "required": ["score"] });
        let properties = json!({ "model": { "type": "STRING", "enum": ["flash", "pro"] }, "step": step });
        let schema = json!({ "type": "OBJECT", "properties": properties, "required": ["model", "step"] });
        assert_eq!(filler(&schema), json!({ "model": "flash", "step": { "score": 30 } }));
    }

    #[test]
    fn a_call_has_all_that_its_schema_requires() {
        let schema = json!({
            "properties": {
                "cmd": { "type": "array" },
                "mode": { "type": "string", "enum": ["sync", "async"] },
                "wait": { "type": "NUMBER" },
                "why": { "type": ["string", "null"] },
                "left_out": { "type": "string" },
            },
            "required": ["cmd", "mode", "wait", "why"],
        });
        let Turn::Call { arguments, .. } = call(&offer("shell", schema), "true") else { panic!("no call") };
        let arguments: Value = serde_json::from_str(&arguments).unwrap();
        assert_eq!(arguments, json!({ "cmd": ["sh", "-c", "true"], "mode": "sync", "wait": 30, "why": "a step" }));
    }
}
