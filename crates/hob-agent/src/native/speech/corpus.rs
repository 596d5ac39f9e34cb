//! Mistakes of models that reply in JSON: each reply is the intended action, or none at all and a reason.
//!
//! The corpus is every action below, spoiled in every way below.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::json::read;
use crate::native::{speech::Understood, tools::Toolset};

/// Actions as they are meant: a tool with its arguments.
fn actions() -> Vec<(&'static str, Value)> {
    vec![
        ("shell", json!({ "command": "grep -rn \"a{b}\" src | sed 's/x/\\t/'" })),
        ("shell", json!({ "command": "cat > a.py <<'E'\nprint({\"k\": [1, 2]})\nE" })),
        ("read", json!({ "path": "src/it's.rs", "from": 3, "to": 90 })),
        ("edit", json!({ "path": "a.c", "old": "if (x) {\n\treturn \"a\";\n}", "new": "/* } */\nreturn 'b';\n" })),
        ("write", json!({ "path": "naïve.json", "text": "{\"a\": \"```\", \"b\": null}\n" })),
        ("search", json!({ "pattern": "\\{\\s*\"action\"" })),
        ("list", json!({ "path": "." })),
    ]
}

/// A reply, and whether its action must be found.
struct Case {
    way: String,
    text: String,
    must: bool,
}

fn cases(tool: &str, arguments: &Value) -> Vec<Case> {
    let action = json!({ "type": "call", "tool": tool, "arguments": arguments });
    let whole = json!({ "thinking": "I do it.", "action": action });
    let (line, pretty) = (whole.to_string(), serde_json::to_string_pretty(&whole).unwrap());
    let other = json!({ "action": { "type": "call", "command": "rm -rf /" } });
    let mut cases = Vec::new();
    let mut case = |way: &str, text: String, must| cases.push(Case { way: way.to_owned(), text, must });
    case("as asked", line.clone(), true);
    case("pretty", pretty.clone(), true);
    case("pretty, CRLF", pretty.replace('\n', "\r\n"), true);
    case("words before", format!("Sure, I'll look at it:\n{line}"), true);
    case("words after", format!("{line}\nLet me know."), true);
    case("in a block", format!("```json\n{pretty}\n```"), true);
    case("in a block without a language", format!("```\n{line}\n```\nDone."), true);
    case("a byte-order mark", format!("\u{feff}{line}"), true);
    case("a comma too much", format!("{},}}", &line[..line.len() - 1]), true);
    case("a brace too much", format!("{line}}}"), true);
    case("tags around", format!("<tool_call>{line}</tool_call>"), true);
    case("no frame", action.to_string(), true);
    case("a list", json!({ "actions": [action] }).to_string(), true);
    case("named", json!({ "action": { "name": tool, "arguments": arguments } }).to_string(), true);
    case("the type is the tool", json!({ "action": { "type": tool, "arguments": arguments } }).to_string(), true);
    case("args", json!({ "action": { "tool": tool, "args": arguments } }).to_string(), true);
    case("input", json!({ "action": { "tool": tool, "input": arguments } }).to_string(), true);
    case(
        "arguments as text",
        json!({ "action": { "tool": tool, "arguments": arguments.to_string() } }).to_string(),
        true,
    );
    case("thought", json!({ "thought": "x", "action": action }).to_string(), true);
    let mut flat = arguments.clone();
    flat["tool"] = tool.into();
    case("arguments beside the name", json!({ "action": flat }).to_string(), true);
    case("two objects", format!("{line}\n{other}"), false);
    case("two objects in one line", format!("{line}{other}"), false);
    case("two blocks", format!("```json\n{line}\n```\n```json\n{other}\n```"), false);
    case("an example before", format!("For example {other} but I do {line}"), false);
    case("single quotes", line.replace('"', "'"), false);
    case("typographic quotes", line.replace('"', "\u{201d}"), false);
    case("keys without quotes", line.replace("\"action\":", "action:"), false);
    case("raw line ends in a text", line.replace("\\n", "\n"), false);
    case("lost backslashes", line.replace("\\\"", "\""), false);
    case("Python's words", line.replacen("\"I do it.\"", "None", 1), false);
    case("a comment", line.replacen('{', "{ // I think\n", 1), false);
    case(
        "the tool's name in capitals",
        line.replacen(&format!("\"{tool}\""), &format!("\"{}\"", tool.to_uppercase()), 1),
        false,
    );
    case("another tool", line.replacen(&format!("\"{tool}\""), "\"bash_tool\"", 1), false);
    case("another type", line.replacen("\"call\"", "\"function\"", 1), false);
    case("in a text", json!({ "reply": line }).to_string(), false);
    case("in a list", format!("[{line}]"), false);
    // Cut anywhere, as at the limit of tokens: the beginning of a command is never taken for all of it.
    for at in (1..line.len()).step_by(5).filter(|at| line.is_char_boundary(*at)) {
        case(&format!("cut at {at}"), line[..at].to_owned(), false);
    }
    cases
}

#[test]
fn a_spoiled_reply_is_the_action_that_was_meant_or_none() {
    let toolset = Toolset::new(&[], &BTreeMap::new(), &BTreeMap::new()).unwrap();
    let (mut understood, mut refused) = (0, 0);
    for (tool, arguments) in actions() {
        for Case { way, text, must } in cases(tool, &arguments) {
            let found = match read(&text, 1, &toolset) {
                Understood::Calls(calls) => calls,
                Understood::Words | Understood::Unreadable(_) => Vec::new(),
            };
            // A call of an unknown tool is answered with the known ones.
            let real: Vec<_> = found.iter().filter(|call| toolset.has(&call.name)).collect();
            let is_meant = real.first().is_some_and(|call| {
                call.name == tool
                    && serde_json::from_str::<Value>(&call.arguments).is_ok_and(|given| given == arguments)
            });
            match (is_meant, real.len()) {
                (true, 1) => understood += 1,
                (_, 0) if !must => refused += 1,
                (_, _) => panic!("{tool}, {way}: {found:?}\n{text}"),
            }
        }
    }
    assert_eq!((understood, refused), (224, 204), "docs/design/agents.md has these figures");
}
