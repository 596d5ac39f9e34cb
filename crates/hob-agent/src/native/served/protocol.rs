//! The messages of MCP to a server that has only tools: JSON-RPC, one message a request.
//!
//! Source: modelcontextprotocol.io, specification 2025-06-18, "Lifecycle", "Tools", "Ping". The crate behind Hob's
//! client has a server as well, on a web framework and a session store that five messages do not need.

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::model::Tool;

/// The versions of the protocol with these messages, newest first.
const VERSIONS: [&str; 3] = ["2025-06-18", "2025-03-26", "2024-11-05"];
/// The server's instructions to its client.
const INSTRUCTIONS: &str = "The tools of an investigation: they look, and write into its record. End with `conclude`.";

/// The request in a message.
#[derive(Debug, PartialEq)]
pub(super) enum Message {
    /// Nothing: it is a notification.
    Notification,
    /// It has this answer.
    Answered(Value),
    /// A tool is called.
    Call {
        /// The id that the answer must have.
        id: Value,
        /// The tool.
        name: String,
        /// Its arguments.
        arguments: Map<String, Value>,
    },
}

/// The answer to a call: the tool's text, or why it failed.
#[derive(Debug)]
pub(super) struct CallAnswer {
    pub(super) text: String,
    pub(super) is_error: bool,
}

/// Reads a message to a server with these tools.
pub(super) fn read(message: &[u8], tools: &[Tool]) -> Message {
    let Ok(message) = serde_json::from_slice::<Value>(message) else {
        return Message::Answered(error(&Value::Null, -32_700, "the message is not JSON"));
    };
    let Some(method) = message.get("method").and_then(Value::as_str) else {
        // An answer, although nothing was asked.
        return match message.is_object() {
            true => Message::Notification,
            false => Message::Answered(error(&Value::Null, -32_600, "the message is not one JSON-RPC object")),
        };
    };
    let Some(id) = message.get("id").cloned() else { return Message::Notification };
    let params = message.get("params").unwrap_or(&Value::Null);
    Message::Answered(match method {
        "initialize" => result(&id, initialized(params)),
        "ping" => result(&id, json!({})),
        "tools/list" => result(&id, json!({ "tools": tools.iter().map(listed).collect::<Vec<_>>() })),
        "tools/call" => {
            let arguments = match params.get("arguments") {
                None | Some(Value::Null) => Some(Map::new()),
                Some(arguments) => arguments.as_object().cloned(),
            };
            match (params.get("name").and_then(Value::as_str), arguments) {
                (Some(name), Some(arguments)) => return Message::Call { id, name: name.to_owned(), arguments },
                _ => error(&id, -32_602, "a call has a `name`, and `arguments` that are an object"),
            }
        }
        other => error(&id, -32_601, &format!("there is no method `{other}` here")),
    })
}

/// The answer to a call.
pub(super) fn called(id: &Value, CallAnswer { text, is_error }: &CallAnswer) -> Value {
    result(id, json!({ "content": [{ "type": "text", "text": text }], "isError": is_error }))
}

/// A message as it is sent.
pub(super) fn bytes(message: &Value) -> Bytes {
    message.to_string().into()
}

fn initialized(params: &Value) -> Value {
    let asked = params.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
    let version = VERSIONS.into_iter().find(|version| *version == asked).unwrap_or(VERSIONS[0]);
    json!({
        "protocolVersion": version,
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "hob", "version": env!("CARGO_PKG_VERSION") },
        "instructions": INSTRUCTIONS,
    })
}

fn listed(tool: &Tool) -> Value {
    json!({ "name": tool.name, "description": tool.description, "inputSchema": tool.schema })
}

fn result(id: &Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

fn error(id: &Value, code: i64, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools() -> [Tool; 1] {
        [Tool { name: "look".into(), description: "Reviews.".into(), schema: json!({ "type": "object" }) }]
    }

    fn said(message: &Value) -> Message {
        read(message.to_string().as_bytes(), &tools())
    }

    fn answered(message: &Value) -> Value {
        match said(message) {
            Message::Answered(answer) => answer,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_client_of_any_version_is_told_of_the_tools() {
        for (asked, agreed) in
            [("2024-11-05", "2024-11-05"), ("2025-03-26", "2025-03-26"), ("2099-01-01", "2025-06-18")]
        {
            let hello =
                json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "protocolVersion": asked } });
            assert_eq!(answered(&hello)["result"]["protocolVersion"], agreed);
        }
        let list = answered(&json!({ "jsonrpc": "2.0", "id": "a", "method": "tools/list" }));
        assert_eq!((&list["id"], &list["result"]["tools"][0]["name"]), (&json!("a"), &json!("look")));
        assert_eq!(list["result"]["tools"][0]["inputSchema"], json!({ "type": "object" }));
        assert_eq!(answered(&json!({ "id": 1, "method": "ping" }))["result"], json!({}));
    }

    #[test]
    fn a_call_is_one_and_what_tells_something_is_not_answered() {
        let call = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": { "name": "look", "arguments": { "a": 1 } } });
        let arguments = json!({ "a": 1 }).as_object().cloned().unwrap();
        assert_eq!(said(&call), Message::Call { id: json!(3), name: "look".into(), arguments });
        let bare = json!({ "id": 3, "method": "tools/call", "params": { "name": "look" } });
        assert_eq!(said(&bare), Message::Call { id: json!(3), name: "look".into(), arguments: Map::new() });
        for quiet in [json!({ "method": "notifications/initialized" }), json!({ "id": 1, "result": {} })] {
            assert_eq!(said(&quiet), Message::Notification);
        }
        let told = called(&json!(3), &CallAnswer { text: "refused".into(), is_error: true });
        assert_eq!(
            (&told["result"]["isError"], &told["result"]["content"][0]["text"]),
            (&json!(true), &json!("refused"))
        );
    }

    #[test]
    fn what_cannot_be_done_is_an_error_of_the_protocol() {
        for (message, code) in [
            ("{", -32_700),
            ("[]", -32_600),
            (r#"{"id":1,"method":"resources/list"}"#, -32_601),
            (r#"{"id":1,"method":"tools/call","params":{"arguments":{}}}"#, -32_602),
            (r#"{"id":1,"method":"tools/call","params":{"name":"look","arguments":[]}}"#, -32_602),
        ] {
            let Message::Answered(answer) = read(message.as_bytes(), &tools()) else { panic!("{message}") };
            assert_eq!(answer["error"]["code"], code, "{message}");
        }
    }
}
