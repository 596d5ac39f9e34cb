//! Requests in the format of the responses interface.
//!
//! Source: OpenAI's "Responses" reference and "Reasoning models" guide, read 2026-11: with `store: false` and
//! `reasoning.encrypted_content` the output of a reply becomes input of the next request unchanged.

use std::borrow::Cow;

use bytes::Bytes;
use hob_config::edit_form;
use hob_egress::{Api, ServiceTier};
use http::header::AUTHORIZATION;
use secrecy::SecretString;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use url::Url;

use crate::model::{
    Memoized, Message, ModelClient, ModelError, ModelReply, ModelRequest, Picture, Tool, ToolCall, ToolResult,
    adapted::Adapted,
    call_ids::plain_id,
    http::{Call, Http, headers},
    message::UNSEEN,
    openai::plain_name,
    reply_options::{FLEX, ReplyOptions},
    responses::{
        answers::{CallForm, forms},
        collect::Collected,
        patches,
    },
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
            adapted: Adapted::new(edit_form(model)),
        }
    }

    fn tier(&self) -> ServiceTier {
        self.adapted.tier(self.options.tier())
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
        if self.tier() == ServiceTier::Flex {
            body.push_str(FLEX);
        }
        if let Some(first) = request.messages.first() {
            let first = first.json(&self.of, |said| self.items(said, None));
            body.push_str(&format!(r#","prompt_cache_key":"{}""#, cache_key(&first)));
        }
        if !request.system.is_empty() {
            body.push_str(&format!(r#","instructions":{}"#, json!(request.system)));
        }
        if !request.tools.is_empty() {
            body.push_str(r#","tools":"#);
            body.push_str(&self.tools(request.tools));
        }
        body.push_str(r#","input":["#);
        let mut before: Option<&Message> = None;
        for message in request.messages {
            if before.is_some() {
                body.push(',');
            }
            body.push_str(&message.json(&self.of, |said| self.items(said, before)));
            before = Some(message);
        }
        body.push_str("]}");
        Bytes::from(body)
    }

    /// The tools; that for patches in the form that the model knows best, of those that the service did not refuse.
    fn tools<'a>(&self, tools: &'a Memoized<Vec<Tool>>) -> Cow<'a, str> {
        let form = self.adapted.patches();
        let own = |one: &Tool| patches::offer(one, form).unwrap_or_else(|| tool(one));
        tools.json(&format!("{} {form:?}", self.of), |tools| tools.iter().map(own).collect::<Value>().to_string())
    }

    /// A message as elements of the input.
    fn items(&self, message: &Message, before: Option<&Message>) -> String {
        if let Message::Assistant { verbatim: Some(verbatim), .. } = message
            && let Some(items) = verbatim.by(&self.of)
        {
            return items.to_owned();
        }
        let items: Vec<Value> = match message {
            Message::Results { results } => {
                let forms = forms(before, &self.of);
                let answer = |result: &ToolResult| match forms.get(&result.id).unwrap_or(&CallForm::Function) {
                    CallForm::Function => output("function_call_output", result, self.options.sees),
                    CallForm::Custom => output("custom_tool_call_output", result, self.options.sees),
                    CallForm::Patch => patches::output(result),
                };
                results.iter().map(answer).collect()
            }
            Message::User { text, images } => vec![user(text, images, self.options.sees)],
            Message::Assistant { text, calls, .. } => {
                let is_said = !text.is_empty() || calls.is_empty();
                let words = is_said.then(|| json!({ "role": "assistant", "content": text }));
                words.into_iter().chain(calls.iter().map(call)).collect()
            }
        };
        items.iter().map(Value::to_string).collect::<Vec<_>>().join(",")
    }
}

#[async_trait::async_trait]
impl ModelClient for Responses {
    async fn complete(&self, request: &ModelRequest<'_>) -> Result<ModelReply, ModelError> {
        let headers = headers(AUTHORIZATION, "Bearer ", self.key.as_ref())?;
        let (api, funds, url) = (Api::OpenAi, request.funds, self.url.clone());
        let call = Call { api, funds, url, headers, body: Bytes::new(), key: self.key.clone(), tier: self.tier() };
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

/// A message of Hob's.
fn user(text: &str, images: &[Picture], sees: bool) -> Value {
    if images.is_empty() {
        return json!({ "role": "user", "content": text });
    }
    let shown: &[Picture] = if sees { images } else { &[] };
    let unseen = images.iter().skip(shown.len()).map(|_| json!({ "type": "input_text", "text": UNSEEN }));
    let content: Value = with_pictures(text, shown).chain(unseen).collect();
    json!({ "role": "user", "content": content })
}

/// A text and its pictures as the parts of a content.
fn with_pictures(text: &str, images: &[Picture]) -> impl Iterator<Item = Value> {
    let shown = images.iter().map(|image| json!({ "type": "input_image", "image_url": image.data_url() }));
    std::iter::once(json!({ "type": "input_text", "text": text })).chain(shown)
}

/// The answer to a call of one of Hob's tools, an item of the type `kind`.
fn output(kind: &str, result: &ToolResult, sees: bool) -> Value {
    let text = result.text(sees);
    // The interface has no mark for a failed call.
    let text = if result.is_error { format!("error: {text}") } else { text.into_owned() };
    let output: Value = match result.images(sees) {
        [] => text.into(),
        images => with_pictures(&text, images).collect(),
    };
    json!({ "type": kind, "call_id": plain_id(&result.id), "output": output })
}

fn call(call: &ToolCall) -> Value {
    json!({ "type": "function_call", "call_id": plain_id(&call.id), "name": plain_name(&call.name), "arguments": call.arguments })
}
