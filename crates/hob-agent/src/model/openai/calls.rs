//! The calls of a reply, joined from the pieces of a stream.
//!
//! - Guarantees: a piece goes to the call with its id; else to the one with its index; else to the last. A call is never
//!   joined with the next one, though servers send the same index for all, no index, a new id with each piece, or the
//!   name again with each.
//! - Sources: OpenAI's reference of the chat completions interface (read 2026-11): `index` and a first piece with `id` and
//!   name; vLLM made a new id for each piece (`DeltaToolCall` with a default id).

use serde::Deserialize;
use serde_json::Value;

use crate::model::{ModelError, ToolCall, lenient::text, pieces::Pieces};

/// Calls one reply may have.
const CALLS_MAX: usize = 128;

/// A piece of a call.
#[derive(Debug, Deserialize)]
pub(super) struct CallDelta {
    index: Option<Value>,
    #[serde(default, deserialize_with = "text")]
    id: String,
    function: Option<FunctionDelta>,
    /// Of a custom tool, whose input is a plain text.
    custom: Option<CustomDelta>,
    /// What the service wants back with the call, such as Google's signature of a thought.
    extra_content: Option<Value>,
}

/// A piece of a function's call; also the member `function_call` of servers that have no calls beside each other.
#[derive(Debug, Default, Deserialize)]
pub(super) struct FunctionDelta {
    name: Option<String>,
    arguments: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct CustomDelta {
    name: Option<String>,
    input: Option<String>,
}

/// The calls so far, in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<Partial>);

#[derive(Debug, Default)]
struct Partial {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: Pieces,
    is_custom: bool,
    extra: Option<Value>,
}

impl From<FunctionDelta> for CallDelta {
    fn from(function: FunctionDelta) -> Self {
        Self { index: None, id: String::new(), function: Some(function), custom: None, extra_content: None }
    }
}

impl Calls {
    /// Adds a piece.
    pub(super) fn add(&mut self, delta: CallDelta) -> Result<(), ModelError> {
        let index = delta.index.as_ref().and_then(Value::as_u64);
        let id = delta.id;
        let is_custom = delta.custom.is_some();
        let custom = |CustomDelta { name, input }| FunctionDelta { name, arguments: input.map(Value::String) };
        let FunctionDelta { name, arguments } = delta.custom.map(custom).or(delta.function).unwrap_or_default();
        let name = name.unwrap_or_default();
        let more = match arguments {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(more)) => more,
            Some(whole) => whole.to_string(),
        };
        let place = self.place(index, &id, &name, &more);
        let place = place.unwrap_or_else(|| {
            self.0.push(Partial { index, ..Partial::default() });
            self.0.len() - 1
        });
        if self.0.len() > CALLS_MAX {
            return Err(ModelError::Garbage(format!("it has more than {CALLS_MAX} tool calls")));
        }
        let call = &mut self.0[place];
        if call.id.is_empty() {
            call.id = id;
        }
        if call.name.is_empty() || name.starts_with(&call.name) {
            // The first, or the name again and longer.
            call.name = if name.is_empty() { std::mem::take(&mut call.name) } else { name };
        } else if call.arguments.is_empty() && !call.name.ends_with(&name) {
            call.name.push_str(&name);
        }
        if !call.arguments.is_repeated_by(&more) {
            call.arguments.push(&more);
        }
        call.is_custom |= is_custom;
        call.extra = delta.extra_content.or(call.extra.take());
        Ok(())
    }

    /// The call that a piece continues; `None` if it begins one.
    fn place(&self, index: Option<u64>, id: &str, name: &str, more: &str) -> Option<usize> {
        if let Some(same) = self.0.iter().rposition(|call| !id.is_empty() && call.id == id) {
            let before = &self.0[same];
            let is_elsewhere = index.zip(before.index).is_some_and(|(index, before)| index != before);
            // Some servers give all calls the same id.
            let begins = !name.is_empty() && (is_elsewhere || before.arguments.is_followed_by(more));
            return (!begins).then_some(same);
        }
        let place = match index {
            Some(index) => self.0.iter().rposition(|call| call.index == Some(index))?,
            None => self.0.len().checked_sub(1)?,
        };
        let before = &self.0[place];
        if name.is_empty() {
            return Some(place);
        }
        let goes_on = if before.arguments.is_whole() {
            false
        } else if !id.is_empty() && !before.id.is_empty() {
            // A new id and a name begin a call, unless the last one is under way by this name.
            before.name == name && !before.arguments.is_empty()
        } else {
            before.arguments.is_empty() || before.name == name
        };
        goes_on.then_some(place)
    }

    /// What goes back with each of them; `None` if nothing does.
    pub(super) fn extras(&self) -> Option<Value> {
        let extras = || self.0.iter().map(|call| call.extra.clone().unwrap_or_default()).collect();
        self.0.iter().any(|call| call.extra.is_some()).then(extras)
    }

    /// All of them.
    pub(super) fn finish(self) -> Vec<ToolCall> {
        let whole = |Partial { id, name, arguments, is_custom, .. }| match is_custom {
            true => ToolCall::of_text(id, name, arguments.whole()),
            false => ToolCall { id, name, arguments: arguments.whole() },
        };
        self.0.into_iter().map(whole).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The calls of a stream, each as `name arguments`. A piece is its index, id, name and arguments, or `null` for one
    /// that is not there.
    fn joined(pieces: &Value) -> Vec<String> {
        let mut calls = Calls::default();
        for piece in pieces.as_array().unwrap() {
            let function = json!({ "name": piece[2], "arguments": piece[3] });
            let delta = json!({ "index": piece[0], "id": piece[1], "function": function });
            calls.add(serde_json::from_value(delta).unwrap()).unwrap();
        }
        calls.finish().into_iter().map(|call| format!("{} {}", call.name, call.arguments)).collect()
    }

    /// The corpus has two calls, in pieces as servers send them.
    #[test]
    fn two_calls_are_two_however_a_server_cuts_and_numbers_them() {
        let (one, two) = (r#"{"command":"a"}"#, r#"{"command":"b"}"#);
        let corpus: Vec<Value> =
            include_str!("streams.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for stream in &corpus {
            let found = joined(&stream["pieces"]);
            assert_eq!(found, [format!("shell {one}"), format!("read {two}")], "{}", stream["way"]);
        }
        assert_eq!(corpus.len(), 26, "docs/agents.md has this figure");
        // The same tool twice.
        let twice = json!([[0, null, "shell", one], [0, null, "shell", two]]);
        assert_eq!(joined(&twice), [format!("shell {one}"), format!("shell {two}")]);
    }

    /// OpenAI's custom tools, whose calls come beside those of functions.
    #[test]
    fn a_call_of_a_custom_tool_has_its_text_as_an_argument() {
        let mut calls = Calls::default();
        for piece in [
            json!({ "index": 0, "id": "call_a", "type": "custom", "custom": { "name": "shell", "input": "" } }),
            json!({ "index": 0, "custom": { "input": "echo \"{" } }),
            json!({ "index": 0, "custom": { "input": "}\"" } }),
            json!({ "index": 1, "id": "call_b", "type": "function", "function": { "name": "read", "arguments": "{}" } }),
            json!({ "index": 2, "id": "call_c", "type": "custom", "custom": { "name": "shell", "input": "{\"command\":\"ls\"}" } }),
        ] {
            calls.add(serde_json::from_value(piece).unwrap()).unwrap();
        }
        let calls: Vec<_> = calls.finish().into_iter().map(|call| (call.id, call.name, call.arguments)).collect();
        let call = |id: &str, name: &str, arguments: &str| (id.to_owned(), name.to_owned(), arguments.to_owned());
        assert_eq!(
            calls,
            [
                call("call_a", "shell", r#"{"input":"echo \"{}\""}"#),
                call("call_b", "read", "{}"),
                call("call_c", "shell", r#"{"command":"ls"}"#),
            ]
        );
    }

    #[test]
    fn a_flood_of_calls_is_refused() {
        let mut calls = Calls::default();
        let mut add = |index: u64| calls.add(serde_json::from_value(json!({ "index": index })).unwrap());
        assert!((0..128).all(|index| add(index).is_ok()) && add(128).is_err());
    }
}
