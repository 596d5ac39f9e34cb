//! A model whose replies were recorded: for tests, rehearsals and demonstrations, without network, key or cost.
//!
//! A cassette is a JSON file:
//!
//! ```json
//! {
//!   "cassette": 1,
//!   "note": "recorded 2026-11-01: greets in German",
//!   "replies": [
//!     { "expect": ["greeting"], "text": "I look first.", "calls": [{ "name": "read", "arguments": { "path": "a.txt" } }] },
//!     { "calls": [{ "name": "done", "arguments": { "summary": "…" } }], "usage": { "input": 900, "output": 40 } }
//!   ]
//! }
//! ```
//!
//! - Flow: the n-th reply answers the request that has n-1 replies in it. A client holds no position of its own, so a
//!   request sent twice gets the same reply, and one cassette serves any number of runs.
//! - Guarantees: a request that lacks a text in `expect` is an error that names the reply and the text.
//! - Caveats: a recording says nothing about what a live model would answer.

use std::path::Path;

use serde::Deserialize;

use crate::model::{Message, ModelClient, ModelError, ModelReply, ModelRequest, Stop, ToolCall, Usage};

/// The format this reads.
const VERSION: u32 = 1;

/// Recorded replies.
#[derive(Debug, Clone)]
pub struct Cassette {
    replies: Vec<Recorded>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    cassette: u32,
    #[serde(default, rename = "note")]
    _note: String,
    replies: Vec<Recorded>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recorded {
    #[serde(default)]
    expect: Vec<String>,
    #[serde(default)]
    text: String,
    #[serde(default)]
    calls: Vec<RecordedCall>,
    #[serde(default = "finished")]
    stop: Stop,
    #[serde(default)]
    usage: Usage,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedCall {
    name: String,
    /// An object; or a text, for arguments that are broken on purpose.
    arguments: serde_json::Value,
}

fn finished() -> Stop {
    Stop::Finished
}

impl Cassette {
    /// Reads a cassette from its JSON text.
    ///
    /// # Errors
    /// [`ModelError::Cassette`] when it is not of the form above.
    pub fn parse(json: &str) -> Result<Self, ModelError> {
        let file: File = serde_json::from_str(json).map_err(|error| ModelError::Cassette(error.to_string()))?;
        match file.cassette {
            VERSION => Ok(Self { replies: file.replies }),
            other => Err(ModelError::Cassette(format!("format {other} is not known; this reads format {VERSION}"))),
        }
    }

    /// Reads a cassette from a file.
    ///
    /// # Errors
    /// [`ModelError::Setup`] when the file cannot be read, [`ModelError::Cassette`] when it is no cassette.
    pub fn load(path: &Path) -> Result<Self, ModelError> {
        let json = std::fs::read_to_string(path)
            .map_err(|error| ModelError::Setup(format!("read the cassette `{}`: {error}", path.display())))?;
        Self::parse(&json)
    }
}

#[async_trait::async_trait]
impl ModelClient for Cassette {
    async fn complete(&self, request: &ModelRequest<'_>) -> Result<ModelReply, ModelError> {
        let turn = request.messages.iter().filter(|message| matches!(***message, Message::Assistant { .. })).count();
        let count = self.replies.len();
        let Some(reply) = self.replies.get(turn) else {
            return Err(ModelError::Cassette(format!("it has {count} replies and the run asks for one more")));
        };
        let texts: Vec<&str> =
            std::iter::once(request.system).chain(request.messages.iter().flat_map(|message| texts(message))).collect();
        if let Some(missing) = reply.expect.iter().find(|text| !texts.iter().any(|sent| sent.contains(text.as_str()))) {
            let number = turn + 1;
            return Err(ModelError::Cassette(format!("reply {number} of {count} expects `{missing}` in the request")));
        }
        let calls = reply.calls.iter().enumerate().map(|(index, call)| ToolCall {
            id: format!("call-{}-{}", turn + 1, index + 1),
            name: call.name.clone(),
            arguments: call.arguments.as_str().map_or_else(|| call.arguments.to_string(), str::to_owned),
        });
        Ok(ModelReply { text: reply.text.clone(), calls: calls.collect(), stop: reply.stop, usage: reply.usage })
    }
}

/// Every text a message has for the model.
fn texts(message: &Message) -> Vec<&str> {
    match message {
        Message::User { text } => vec![text],
        Message::Assistant { text, calls } => {
            std::iter::once(text.as_str()).chain(calls.iter().map(|call| call.arguments.as_str())).collect()
        }
        Message::Results { results } => results.iter().map(|result| result.text.as_str()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use crate::model::Kept;

    use super::*;

    fn user(text: &str) -> Kept<Message> {
        Message::User { text: text.to_owned() }.into()
    }

    async fn ask(cassette: &Cassette, messages: &[Kept<Message>]) -> Result<ModelReply, ModelError> {
        cassette.complete(&ModelRequest { system: "", messages, tools: &Kept::default() }).await
    }

    #[tokio::test]
    async fn the_replies_come_in_order_and_then_end() {
        let cassette = Cassette::parse(r#"{"cassette":1,"replies":[{"text":"one"},{"text":"two"}]}"#).unwrap();
        let mut messages = vec![user("hello")];
        for text in ["one", "two"] {
            let reply = ask(&cassette, &messages).await.unwrap();
            assert_eq!(reply.text, text);
            messages.push(Message::Assistant { text: reply.text, calls: reply.calls }.into());
        }
        let error = ask(&cassette, &messages).await.unwrap_err();
        assert_eq!(error.to_string(), "cassette: it has 2 replies and the run asks for one more");
    }

    #[tokio::test]
    async fn a_request_that_is_not_the_recorded_one_is_told() {
        let cassette = Cassette::parse(r#"{"cassette":1,"replies":[{"expect":["hello","bye"],"text":"x"}]}"#).unwrap();
        let messages = [user("hello")];
        let error = ask(&cassette, &messages).await.unwrap_err();
        assert_eq!(error.to_string(), "cassette: reply 1 of 1 expects `bye` in the request");
    }

    #[test]
    fn a_file_that_is_no_cassette_is_refused() {
        for bad in ["", "{}", r#"{"cassette":2,"replies":[]}"#, r#"{"cassette":1,"replies":[{"txt":"x"}]}"#] {
            assert!(Cassette::parse(bad).is_err(), "{bad}");
        }
    }
}
