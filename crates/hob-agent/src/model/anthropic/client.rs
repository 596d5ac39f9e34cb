//! Requests in the format of the messages interface.

use bytes::Bytes;
use hob_egress::{Api, ServiceTier};
use http::{HeaderName, HeaderValue};
use secrecy::SecretString;
use serde_json::{Value, json};
use url::Url;

use crate::model::{
    Message, ModelClient, ModelError, ModelReply, ModelRequest, Picture, Rest, Tool,
    adapted::Adapted,
    anthropic::{collect::Collected, thinking::Thinking},
    call_ids::plain_id,
    http::{Call, Http, headers},
    message::UNSEEN,
    reply_options::ReplyOptions,
};

/// The interface's version that this speaks, from Anthropic's "Versions" page.
const VERSION: &str = "2023-06-01";
/// The end of a message, where its last block can have a cache mark.
const LAST_BLOCK: &str = "}]}";
/// A cache mark for five minutes, and one for an hour: "Prompt caching", read 2026-11.
const MARK: &str = r#"{"type":"ephemeral"}"#;
const HOUR_MARK: &str = r#"{"type":"ephemeral","ttl":"1h"}"#;
/// Characters of a tool's name that are sent back.
const NAME_MAX: usize = 64;
/// The replacement of an empty message, which the service refuses.
const NOTHING: &str = "(nothing)";

/// A client for one of Anthropic's models.
pub struct Anthropic {
    http: Http,
    url: String,
    key: Option<SecretString>,
    model: String,
    /// The interface and model that the verbatim replies belong to.
    of: String,
    options: ReplyOptions,
    adapted: Adapted,
}

impl Anthropic {
    pub(in crate::model) fn new(
        http: Http,
        base: &Url,
        key: Option<SecretString>,
        model: &str,
        options: ReplyOptions,
    ) -> Self {
        let base = base.as_str().trim_end_matches('/').trim_end_matches("/v1");
        Self {
            http,
            url: format!("{base}/v1/messages"),
            key,
            model: model.to_owned(),
            of: format!("messages/{model}"),
            options,
            adapted: Adapted::new(None),
        }
    }

    /// Marks for the cache: after the system prompt, with the tools before it, which all runs share; and at the last
    /// two messages of ours: where the next turn's request continues, and where the one before was marked, because the
    /// service searches only some twenty blocks back for a cached prefix.
    fn body(&self, request: &ModelRequest<'_>) -> Bytes {
        let mut body = format!(
            r#"{{"model":{},"max_tokens":{},"stream":true,{}"tools":"#,
            json!(self.model),
            self.cap(request),
            self.thinking(request).members(self.may_think(request))
        );
        body.push_str(&request.tools.json(&self.of, |tools| tools.iter().map(tool).collect::<Value>().to_string()));
        // An hour's mark may not follow one of minutes, so that all are of one kind.
        let mark = match request.rest {
            Rest::Short => MARK,
            Rest::Long => HOUR_MARK,
        };
        let (system, marked_block) = (json!(request.system), format!(r#","cache_control":{mark}}}]}}"#));
        body.push_str(&format!(r#","system":[{{"type":"text","text":{system},"cache_control":{mark}}}],"messages":["#));
        let marked = request.messages.len().saturating_sub(3);
        for (index, said) in request.messages.iter().enumerate() {
            if index > 0 {
                body.push(',');
            }
            let json = said.json(&self.of, |said| message(said, &self.of, self.options.sees));
            match (index >= marked && is_ours(said), json.strip_suffix(LAST_BLOCK)) {
                (true, Some(start)) => {
                    body.push_str(start);
                    body.push_str(&marked_block);
                }
                (true, None) | (false, _) => body.push_str(&json),
            }
        }
        body.push_str("]}");
        Bytes::from(body)
    }

    fn thinking(&self, request: &ModelRequest<'_>) -> Thinking {
        let (options, strain) = (&self.options, request.strain);
        Thinking::new(&self.model, options.known, options.effort(strain), self.cap(request))
    }

    fn cap(&self, request: &ModelRequest<'_>) -> u32 {
        self.adapted.cap(self.options.with_reasoning(request.strain))
    }

    /// Whether the last calls, if they are still open, came with their thinking: a model with a fixed budget of
    /// thinking requires all of it or none.
    fn may_think(&self, request: &ModelRequest<'_>) -> bool {
        let last = request.messages.iter().rev().find_map(|message| match &**message {
            Message::Assistant { calls, verbatim, .. } => Some((calls, verbatim)),
            Message::User { .. } | Message::Results { .. } => None,
        });
        last.is_none_or(|(calls, verbatim)| {
            calls.is_empty() || verbatim.as_ref().is_some_and(|verbatim| verbatim.by(&self.of).is_some())
        })
    }
}

#[async_trait::async_trait]
impl ModelClient for Anthropic {
    async fn complete(&self, request: &ModelRequest<'_>) -> Result<ModelReply, ModelError> {
        let mut headers = headers(HeaderName::from_static("x-api-key"), "", self.key.as_ref())?;
        headers.insert("anthropic-version", HeaderValue::from_static(VERSION));
        if let Some(beta) = self.thinking(request).beta() {
            headers.insert("anthropic-beta", beta);
        }
        let (api, funds, url) = (Api::Anthropic, request.funds, self.url.clone());
        let call =
            Call { api, funds, url, headers, body: Bytes::new(), key: self.key.clone(), tier: ServiceTier::Standard };
        self.adapted.sent::<Collected>(&self.http, call, &self.of, || (self.cap(request), self.body(request))).await
    }
}

fn tool(tool: &Tool) -> Value {
    json!({ "name": tool.name, "description": tool.description, "input_schema": tool.schema })
}

/// Whether a message is Hob's, which can have a mark.
fn is_ours(message: &Message) -> bool {
    match message {
        Message::User { .. } | Message::Results { .. } => true,
        Message::Assistant { .. } => false,
    }
}

/// A name in the characters that the service accepts: a model may have made one up.
fn plain(id: &str) -> String {
    let escaped = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' => c.to_string(),
        other => format!("_{:x}", u32::from(other)),
    };
    let plain: String = id.chars().map(escaped).collect();
    if plain.is_empty() { "unnamed".to_owned() } else { plain }
}

fn name(said: &str) -> String {
    let mut name = plain(said);
    name.truncate(NAME_MAX);
    name
}

/// A picture as a block.
fn block(image: &Picture) -> Value {
    let source = json!({ "type": "base64", "media_type": image.media_type, "data": image.data });
    json!({ "type": "image", "source": source })
}

/// A message, with its content last.
fn message(message: &Message, of: &str, sees: bool) -> String {
    if let Message::Assistant { verbatim: Some(verbatim), .. } = message
        && let Some(content) = verbatim.by(of)
    {
        return format!(r#"{{"role":"assistant","content":[{content}]}}"#);
    }
    let text = |text: &str| json!({ "type": "text", "text": if text.trim().is_empty() { NOTHING } else { text } });
    let (role, content): (_, Vec<Value>) = match message {
        Message::User { text: said, images } => {
            let shown = images.iter().map(|image| if sees { block(image) } else { text(UNSEEN) });
            ("user", std::iter::once(text(said)).chain(shown).collect())
        }
        Message::Assistant { text: said, calls, .. } => {
            let words = (!said.trim().is_empty() || calls.is_empty()).then(|| text(said));
            let calls = calls.iter().map(|call| {
                // The service accepts only an object; broken JSON of the model's was answered with an error.
                let input = serde_json::from_str::<Value>(&call.arguments).ok().filter(Value::is_object);
                let input = input.unwrap_or_else(|| json!({}));
                json!({ "type": "tool_use", "id": plain_id(&call.id), "name": name(&call.name), "input": input })
            });
            ("assistant", words.into_iter().chain(calls).collect())
        }
        Message::Results { results } => {
            let results = results.iter().map(|result| {
                let said = result.text(sees);
                let said = if said.is_empty() { NOTHING } else { &said };
                let content: Value = match result.images(sees) {
                    [] => said.into(),
                    images => std::iter::once(text(said)).chain(images.iter().map(block)).collect(),
                };
                json!({ "type": "tool_result", "tool_use_id": plain_id(&result.id), "content": content, "is_error": result.is_error })
            });
            ("user", results.collect())
        }
    };
    format!(r#"{{"role":"{role}","content":{}}}"#, Value::Array(content))
}
