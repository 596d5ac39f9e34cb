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
//! - Flow: the n-th reply answers the conversation's n-th turn. A client keeps no position of its own, so a request
//!   sent twice gets the same reply, and one cassette serves any number of runs.
//! - Guarantees: a request that lacks a text in `expect` is an error that names the reply and the text.
//! - Caveats: a recording says nothing about what a live model would answer. `model`, which a recorded reply has too,
//!   is for people.

use std::path::Path;

use crate::model::{Message, ModelClient, ModelError, ModelReply, ModelRequest, tape::Tape};

/// Recorded replies.
#[derive(Debug, Clone)]
pub struct Cassette(Tape);

impl Cassette {
    /// Reads a cassette from its JSON text.
    ///
    /// # Errors
    /// [`ModelError::Cassette`] when it is not of the form above.
    pub fn parse(json: &str) -> Result<Self, ModelError> {
        Tape::parse(json).map(Self)
    }

    /// Reads a cassette from a file.
    ///
    /// # Errors
    /// [`ModelError::Setup`] if the file cannot be read, [`ModelError::Cassette`] if it is not a cassette.
    pub fn load(path: &Path) -> Result<Self, ModelError> {
        let json = std::fs::read_to_string(path)
            .map_err(|error| ModelError::Setup(format!("read the cassette `{}`: {error}", path.display())))?;
        Self::parse(&json)
    }
}

#[async_trait::async_trait]
impl ModelClient for Cassette {
    async fn complete(&self, request: &ModelRequest<'_>) -> Result<ModelReply, ModelError> {
        let (turn, replies) = (request.turn, self.0.replies());
        let number = replies.len();
        let Some(reply) = replies.get((turn as usize).saturating_sub(1)) else {
            return Err(ModelError::Cassette(format!("it has no reply {turn}: the recording ends after {number}")));
        };
        let texts: Vec<&str> =
            std::iter::once(request.system).chain(request.messages.iter().flat_map(|message| texts(message))).collect();
        if let Some(missing) = reply.expect.iter().find(|text| !texts.iter().any(|sent| sent.contains(text.as_str()))) {
            return Err(ModelError::Cassette(format!("reply {turn} of {number} expects `{missing}` in the request")));
        }
        Ok(reply.reply(turn))
    }
}

/// Every text of a message to the model.
fn texts(message: &Message) -> Vec<&str> {
    match message {
        Message::User { text, .. } => vec![text],
        Message::Assistant { text, calls, .. } => {
            std::iter::once(text.as_str()).chain(calls.iter().map(|call| call.arguments.as_str())).collect()
        }
        Message::Results { results } => results.iter().map(|result| result.text.as_str()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use crate::model::Memoized;

    use super::*;

    fn user(text: &str) -> Memoized<Message> {
        Message::user(text).into()
    }

    async fn ask(cassette: &Cassette, turn: u32, messages: &[Memoized<Message>]) -> Result<ModelReply, ModelError> {
        cassette
            .complete(&ModelRequest {
                system: "",
                messages,
                tools: &Memoized::default(),
                turn,
                funds: None,
                strain: hob_domain::Strain::Usual,
                rest: Default::default(),
            })
            .await
    }

    #[tokio::test]
    async fn the_replies_come_in_order_and_then_end() {
        let cassette = Cassette::parse(r#"{"cassette":1,"replies":[{"text":"one"},{"text":"two"}]}"#).unwrap();
        // In a long run, earlier replies are no longer in the request.
        let messages = [user("hello")];
        for (turn, text) in [(1, "one"), (2, "two"), (2, "two")] {
            assert_eq!(ask(&cassette, turn, &messages).await.unwrap().text, text);
        }
        let error = ask(&cassette, 3, &messages).await.unwrap_err();
        assert_eq!(error.to_string(), "cassette: it has no reply 3: the recording ends after 2");
    }

    #[tokio::test]
    async fn a_request_that_is_not_the_recorded_one_is_told() {
        let cassette = Cassette::parse(r#"{"cassette":1,"replies":[{"expect":["hello","bye"],"text":"x"}]}"#).unwrap();
        let messages = [user("hello")];
        let error = ask(&cassette, 1, &messages).await.unwrap_err();
        assert_eq!(error.to_string(), "cassette: reply 1 of 1 expects `bye` in the request");
    }
}
