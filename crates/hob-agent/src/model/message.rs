//! What goes to a model and what comes back, in words of our own.

use std::borrow::Cow;

use hob_config::PriceSettings;
use serde::{Deserialize, Serialize};

use crate::model::{Memoized, ModelError};

/// A language model.
#[async_trait::async_trait]
pub trait ModelClient: Send + Sync {
    /// Asks for the next reply. Dropping the future ends the request.
    ///
    /// # Errors
    /// [`ModelError`] once the retries that can help are used up.
    async fn complete(&self, request: &ModelRequest<'_>) -> Result<ModelReply, ModelError>;
}

/// One request. From one turn to the next `messages` mostly only grows, so that a service's prompt cache hits.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ModelRequest<'a> {
    /// The instructions of the system role: Hob's own text, never anything from an issue or a repository.
    pub system: &'a str,
    /// The conversation so far.
    pub messages: &'a [Memoized<Message>],
    /// The tools the model may call.
    pub tools: &'a Memoized<Vec<Tool>>,
    /// The conversation's turn, from 1: the replies before it, and those that stand no longer in `messages`, and one.
    pub turn: u32,
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// What Hob says.
    User {
        /// The text.
        text: String,
    },
    /// What the model said.
    Assistant {
        /// Its words; may be empty.
        text: String,
        /// The tools it called.
        calls: Vec<ToolCall>,
    },
    /// What the tools of the message before answered, one for each call.
    Results {
        /// The answers, in the order of the calls.
        results: Vec<ToolResult>,
    },
}

/// A tool the model may call.
#[derive(Debug, Clone, Serialize)]
pub struct Tool {
    /// Its name.
    pub name: Cow<'static, str>,
    /// What it does, for the model.
    pub description: Cow<'static, str>,
    /// The JSON schema of its arguments.
    pub schema: serde_json::Value,
}

/// A call the model made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The call's id, unique in the conversation.
    pub id: String,
    /// The tool's name, as the model wrote it.
    pub name: String,
    /// The arguments as the model wrote them: JSON text that may be broken.
    pub arguments: String,
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The id of the call.
    pub id: String,
    /// The answer.
    pub text: String,
    /// Whether the call failed.
    pub is_error: bool,
}

/// One reply of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelReply {
    /// Its words; may be empty.
    pub text: String,
    /// The tools it calls, in order.
    pub calls: Vec<ToolCall>,
    /// Why it stopped.
    pub stop: Stop,
    /// What the request cost in tokens.
    pub usage: Usage,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// It said all, or waits for its tools.
    Finished,
    /// Its reply reached the limit of tokens.
    Length,
    /// It, or its service, refused to answer.
    Refused,
}

/// Tokens of one request, or of many.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Usage {
    /// Tokens sent, all of them.
    pub input: u64,
    /// Those of `input` that the service had cached.
    pub cached_input: u64,
    /// Those of `input` that the service put into its cache.
    pub cache_write: u64,
    /// Tokens produced.
    pub output: u64,
}

impl Usage {
    /// What these tokens cost, in millionths of a US dollar, rounded up. A price in dollars for a million tokens is one
    /// in millionths of a dollar for a token.
    pub fn cost(&self, price: &PriceSettings) -> u64 {
        let plain = self.input.saturating_sub(self.cached_input).saturating_sub(self.cache_write);
        let micros = plain as f64 * price.input
            + self.cached_input as f64 * price.cached_input.unwrap_or(price.input)
            + self.cache_write as f64 * price.cache_write.unwrap_or(price.input)
            + self.output as f64 * price.output;
        // `as` saturates. `config` refuses prices below zero.
        micros.ceil() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cached_token_costs_its_own_price() {
        let price = PriceSettings { input: 3.0, output: 15.0, cached_input: Some(0.3), cache_write: Some(3.75) };
        let usage = Usage { input: 1_000, cached_input: 600, cache_write: 100, output: 10 };
        assert_eq!(usage.cost(&price), 900 + 180 + 375 + 150);
        assert_eq!(usage.cost(&PriceSettings { cached_input: None, cache_write: None, ..price }), 3_150);
    }
}
