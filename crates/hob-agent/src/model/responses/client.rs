//! Requests in the format of the responses interface.
//!
//! Source: OpenAI's "Responses" reference and "Reasoning models" guide, read 2026-11: with `store: false` and
//! `reasoning.encrypted_content` the output of a reply becomes input of the next request unchanged.

use bytes::Bytes;
use hob_egress::Api;
use http::header::AUTHORIZATION;
use secrecy::SecretString;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use url::Url;

use crate::model::{
    Message, ModelClient, ModelError, ModelReply, ModelRequest, Tool, ToolCall,
    adapted::Adapted,
    call_ids::plain_id,
    http::{Call, Http, headers},
    message::UNSEEN,
    openai::plain_name,
    reply_options::ReplyOptions,
    responses::collect::Collected,
};

/// Bytes of the first message that make the key of its cache.
const KEY_BYTES: usize = 16 * 1024;

/// A client for one model behind the responses interface.
pub struct Responses {
    http: Http,
    url: String,
    key: Option<SecretString>,
    model: String,
    /// The interface and model that the verbatim replies belong to.
    of: String,
    options: ReplyOptions,
    adapted: Adapted,
}

impl Responses {
    pub(in crate::model) fn new(
        http: Http,
        base: &Url,
        key: Option<SecretString>,
        model: &str,
        options: ReplyOptions,
    ) -> Self {
        let url = format!("{}/responses", base.as_str().trim_end_matches('/'));
        Self {
            http,
            url,
            key,
            model: model.to_owned(),
            of: format!("responses/{model}"),
            options,
            adapted: Adapted::new(),
        }
    }

    fn cap(&self, request: &ModelRequest<'_>) -> u32 {
        self.adapted.cap(self.options.with_reasoning(request.strain))
    }

    /// The conversation comes last, so that each request begins with the bytes of the one before.
    fn body(&self, request: &ModelRequest<'_>) -> Bytes {
        let mut body = format!(
            r#"{{"model":{},"stream":true,"store":false,"include":["reasoning.encrypted_content"],"max_output_tokens":{}"#,
            json!(self.model),
            self.cap(request)
        );
        if let Some(effort) = self.adapted.effort(self.options.word(request.strain)) {
            body.push_str(&format!(r#","reasoning":{{"effort":"{effort}"}}"#));
        }
        if let Some(first) = request.messages.first() {
            let first = first.json(&self.of, |said| items(said, &self.of, self.options.sees));
            body.push_str(&format!(r#","prompt_cache_key":"{}""#, cache_key(&first)));
        }
        if !request.system.is_empty() {
            body.push_str(&format!(r#","instructions":{}"#, json!(request.system)));
        }
        if !request.tools.is_empty() {
            body.push_str(r#","tools":"#);
            body.push_str(&request.tools.json(&self.of, |tools| tools.iter().map(tool).collect::<Value>().to_string()));
        }
        body.push_str(r#","input":["#);
        for (index, message) in request.messages.iter().enumerate() {
            if index > 0 {
                body.push(',');
            }
            body.push_str(&message.json(&self.of, |said| items(said, &self.of, self.options.sees)));
        }
        body.push_str("]}");
        Bytes::from(body)
    }
}

#[async_trait::async_trait]
impl ModelClient for Responses {
    async fn complete(&self, request: &ModelRequest<'_>) -> Result<ModelReply, ModelError> {
        let headers = headers(AUTHORIZATION, "Bearer ", self.key.as_ref())?;
        let (api, funds, url) = (Api::OpenAi, request.funds, self.url.clone());
        let call = Call { api, funds, url, headers, body: Bytes::new(), key: self.key.clone() };
        self.adapted.sent::<Collected>(&self.http, call, &self.of, || (self.cap(request), self.body(request))).await
    }
}

/// The key of a conversation's cache (OpenAI's "Prompt caching" guide, read 2026-11): the same from turn to turn, and a
/// different one for each task. The beginning of the task is enough for that.
fn cache_key(first: &str) -> String {
    let digest = Sha256::digest(&first.as_bytes()[..first.len().min(KEY_BYTES)]);
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Not strict: that would want every argument, and some are left out on purpose.
fn tool(tool: &Tool) -> Value {
    json!({ "type": "function", "name": tool.name, "description": tool.description, "parameters": tool.schema, "strict": false })
}

/// A message as elements of the input.
fn items(message: &Message, of: &str, sees: bool) -> String {
    if let Message::Assistant { verbatim: Some(verbatim), .. } = message
        && let Some(items) = verbatim.by(of)
    {
        return items.to_owned();
    }
    let items: Vec<Value> = match message {
        Message::User { text, images } if images.is_empty() => vec![json!({ "role": "user", "content": text })],
        Message::User { text, images } => {
            let shown = images.iter().map(|image| match sees {
                true => json!({ "type": "input_image", "image_url": image.data_url() }),
                false => json!({ "type": "input_text", "text": UNSEEN }),
            });
            let content: Value = std::iter::once(json!({ "type": "input_text", "text": text })).chain(shown).collect();
            vec![json!({ "role": "user", "content": content })]
        }
        Message::Assistant { text, calls, .. } => {
            let words = (!text.is_empty() || calls.is_empty()).then(|| json!({ "role": "assistant", "content": text }));
            words.into_iter().chain(calls.iter().map(call)).collect()
        }
        Message::Results { results } => results
            .iter()
            .map(|result| {
                // The interface has no mark for a failed call.
                let output = if result.is_error { format!("error: {}", result.text) } else { result.text.clone() };
                json!({ "type": "function_call_output", "call_id": plain_id(&result.id), "output": output })
            })
            .collect(),
    };
    items.iter().map(Value::to_string).collect::<Vec<_>>().join(",")
}

fn call(call: &ToolCall) -> Value {
    json!({ "type": "function_call", "call_id": plain_id(&call.id), "name": plain_name(&call.name), "arguments": call.arguments })
}
