//! Writes a request in the words of the chat completions interface.

use bytes::Bytes;
use http::header::AUTHORIZATION;
use secrecy::SecretString;
use serde_json::{Value, json};
use url::Url;

use crate::model::{
    Message, ModelClient, ModelError, ModelReply, ModelRequest, ToolCall,
    http::{Call, Http, headers},
    openai::collect::Collected,
};

/// A client for one model behind an OpenAI-compatible interface.
pub struct OpenAi {
    http: Http,
    url: String,
    key: Option<SecretString>,
    model: String,
    max_output_tokens: u32,
    cap_name: &'static str,
}

impl OpenAi {
    pub(in crate::model) fn new(http: Http, base: &Url, key: Option<SecretString>, model: &str, cap: u32) -> Self {
        // OpenAI's newer models refuse `max_tokens`; many other servers know nothing else.
        let cap_name = if base.host_str() == Some("api.openai.com") { "max_completion_tokens" } else { "max_tokens" };
        let url = format!("{}/chat/completions", base.as_str().trim_end_matches('/'));
        Self { http, url, key, model: model.to_owned(), max_output_tokens: cap, cap_name }
    }

    fn body(&self, request: &ModelRequest<'_>) -> Value {
        let system = json!({ "role": "system", "content": request.system });
        let messages: Vec<_> = std::iter::once(system).chain(request.messages.iter().flat_map(message)).collect();
        let tools: Vec<_> = request
            .tools
            .iter()
            .map(|tool| {
                let function = json!({ "name": tool.name, "description": tool.description, "parameters": tool.schema });
                json!({ "type": "function", "function": function })
            })
            .collect();
        let mut body = json!({
            "model": self.model,
            "messages": messages,
            "stream": true,
            "stream_options": { "include_usage": true },
            self.cap_name: self.max_output_tokens,
        });
        if let (false, Some(body)) = (tools.is_empty(), body.as_object_mut()) {
            body.insert("tools".into(), tools.into());
        }
        body
    }
}

#[async_trait::async_trait]
impl ModelClient for OpenAi {
    async fn complete(&self, request: &ModelRequest<'_>) -> Result<ModelReply, ModelError> {
        let headers = headers(AUTHORIZATION, "Bearer ", self.key.as_ref())?;
        let body = Bytes::from(self.body(request).to_string());
        self.http.stream::<Collected>(&Call { url: self.url.clone(), headers, body, key: self.key.clone() }).await
    }
}

fn message(message: &Message) -> Vec<Value> {
    match message {
        Message::User { text } => vec![json!({ "role": "user", "content": text })],
        Message::Assistant { text, calls } if calls.is_empty() => {
            vec![json!({ "role": "assistant", "content": text })]
        }
        Message::Assistant { text, calls } => {
            let content = if text.is_empty() { Value::Null } else { text.as_str().into() };
            let calls: Vec<_> = calls.iter().map(call).collect();
            vec![json!({ "role": "assistant", "content": content, "tool_calls": calls })]
        }
        Message::Results { results } => results
            .iter()
            .map(|result| {
                // The interface has no mark for a failed call.
                let content = if result.is_error { format!("error: {}", result.text) } else { result.text.clone() };
                json!({ "role": "tool", "tool_call_id": result.id, "content": content })
            })
            .collect(),
    }
}

fn call(call: &ToolCall) -> Value {
    // Some servers parse what they are sent back, and fail on JSON that the model broke.
    let valid = serde_json::from_str::<Value>(&call.arguments).is_ok_and(|value| value.is_object());
    let arguments = if valid { call.arguments.as_str() } else { "{}" };
    json!({ "id": call.id, "type": "function", "function": { "name": call.name, "arguments": arguments } })
}
