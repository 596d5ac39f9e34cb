//! Writes a request in the words of the messages interface.

use bytes::Bytes;
use http::{HeaderName, HeaderValue};
use secrecy::SecretString;
use serde_json::{Value, json};
use url::Url;

use crate::model::{
    Message, ModelClient, ModelError, ModelReply, ModelRequest,
    anthropic::collect::Collected,
    http::{Call, Http, headers},
};

/// The interface's version that this speaks, from Anthropic's "Versions" page.
const VERSION: &str = "2023-06-01";
/// Stands where a message would be empty, which the service refuses.
const NOTHING: &str = "(nothing)";

/// A client for one of Anthropic's models.
pub struct Anthropic {
    http: Http,
    url: String,
    key: Option<SecretString>,
    model: String,
    max_output_tokens: u32,
}

impl Anthropic {
    pub(in crate::model) fn new(http: Http, base: &Url, key: Option<SecretString>, model: &str, cap: u32) -> Self {
        let base = base.as_str().trim_end_matches('/').trim_end_matches("/v1");
        Self { http, url: format!("{base}/v1/messages"), key, model: model.to_owned(), max_output_tokens: cap }
    }

    /// Two marks for the cache: after the system prompt, with the tools before it, which all runs share; and at the last
    /// message, where the next turn's request goes on.
    fn body(&self, request: &ModelRequest<'_>) -> Value {
        let mut messages: Vec<_> = request.messages.iter().map(message).collect();
        let last = messages.last_mut().and_then(|message| message["content"].as_array_mut()?.last_mut());
        if let Some(block) = last.and_then(Value::as_object_mut) {
            block.insert("cache_control".into(), json!({ "type": "ephemeral" }));
        }
        let tools: Vec<_> = request
            .tools
            .iter()
            .map(|tool| json!({ "name": tool.name, "description": tool.description, "input_schema": tool.schema }))
            .collect();
        json!({
            "model": self.model,
            "max_tokens": self.max_output_tokens,
            "stream": true,
            "system": [{ "type": "text", "text": request.system, "cache_control": { "type": "ephemeral" } }],
            "tools": tools,
            "messages": messages,
        })
    }
}

#[async_trait::async_trait]
impl ModelClient for Anthropic {
    async fn complete(&self, request: &ModelRequest<'_>) -> Result<ModelReply, ModelError> {
        let mut headers = headers(HeaderName::from_static("x-api-key"), "", self.key.as_ref())?;
        headers.insert("anthropic-version", HeaderValue::from_static(VERSION));
        let body = Bytes::from(self.body(request).to_string());
        self.http.stream::<Collected>(&Call { url: self.url.clone(), headers, body, key: self.key.clone() }).await
    }
}

fn message(message: &Message) -> Value {
    let text = |text: &str| json!({ "type": "text", "text": if text.trim().is_empty() { NOTHING } else { text } });
    match message {
        Message::User { text: said } => json!({ "role": "user", "content": [text(said)] }),
        Message::Assistant { text: said, calls } => {
            let words = (!said.trim().is_empty() || calls.is_empty()).then(|| text(said));
            let calls = calls.iter().map(|call| {
                // The service takes an object only; JSON that the model broke was answered with an error.
                let input = serde_json::from_str::<Value>(&call.arguments).ok().filter(Value::is_object);
                let input = input.unwrap_or_else(|| json!({}));
                json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": input })
            });
            let content: Vec<_> = words.into_iter().chain(calls).collect();
            json!({ "role": "assistant", "content": content })
        }
        Message::Results { results } => {
            let results = results.iter().map(|result| {
                let content = if result.text.is_empty() { NOTHING } else { &result.text };
                json!({ "type": "tool_result", "tool_use_id": result.id, "content": content, "is_error": result.is_error })
            });
            json!({ "role": "user", "content": results.collect::<Vec<_>>() })
        }
    }
}
