//! Requests in the format of the chat completions interface.

use bytes::Bytes;
use hob_egress::{Api, ServiceTier};
use http::header::AUTHORIZATION;
use secrecy::SecretString;
use serde_json::{Map, Value, json};
use url::Url;

use crate::model::{
    Message, ModelClient, ModelError, ModelReply, ModelRequest, Tool, ToolCall,
    adapted::Adapted,
    call_ids::plain_id,
    http::{Call, Http, headers},
    message::UNSEEN,
    openai::collect::{Collected, EXTRAS},
    reply_options::{FLEX, ReplyOptions},
};

/// Characters of a tool's name that are sent back.
const NAME_MAX: usize = 64;

/// The wish for a count of the tokens at the end of a stream.
const COUNTED: &str = r#","stream_options":{"include_usage":true}"#;
/// The cap of a reply at OpenAI itself.
const OWN_CAP: &str = "max_completion_tokens";
/// What Google takes for the signature of a call of another model, or of one whose own is lost ("Thought signatures", read 2026-11).
const NO_SIGNATURE: &str = "skip_thought_signature_validator";
/// The words before pictures that tools showed.
const SHOWN: &str = "[Hob] The pictures of the answers above, in their order";

/// A client for one model behind an OpenAI-compatible interface.
pub struct OpenAi {
    http: Http,
    url: String,
    key: Option<SecretString>,
    model: String,
    /// The interface and model that the verbatim replies belong to.
    of: String,
    options: ReplyOptions,
    cap_name: &'static str,
    adapted: Adapted,
}

impl OpenAi {
    pub(in crate::model) fn new(
        http: Http,
        base: &Url,
        key: Option<SecretString>,
        model: &str,
        options: ReplyOptions,
    ) -> Self {
        // OpenAI's newer models refuse `max_tokens`; many other servers know nothing else.
        let cap_name = if base.host_str() == Some("api.openai.com") { OWN_CAP } else { "max_tokens" };
        let url = format!("{}/chat/completions", base.as_str().trim_end_matches('/'));
        let of = format!("chat/{model}");
        Self { http, url, key, model: model.to_owned(), of, options, cap_name, adapted: Adapted::new(None) }
    }

    fn tier(&self) -> ServiceTier {
        self.adapted.tier(self.options.tier())
    }

    fn cap(&self, request: &ModelRequest<'_>) -> u32 {
        self.adapted.cap(self.options.with_reasoning(request.strain))
    }

    /// The messages come last, so that each request begins with the bytes of the one before.
    fn body(&self, request: &ModelRequest<'_>) -> Bytes {
        let mut body = format!(
            r#"{{"model":{},"stream":true{},"{}":{}"#,
            json!(self.model),
            if self.adapted.counts() { COUNTED } else { "" },
            self.adapted.name(self.cap_name),
            self.cap(request)
        );
        if let Some(effort) = self.adapted.effort(self.options.word(request.strain)) {
            body.push_str(&format!(r#","reasoning_effort":"{effort}""#));
        }
        if self.tier() == ServiceTier::Flex {
            body.push_str(FLEX);
        }
        if !request.tools.is_empty() {
            body.push_str(r#","tools":"#);
            body.push_str(&request.tools.json(&self.of, |tools| tools.iter().map(tool).collect::<Value>().to_string()));
        }
        body.push_str(r#","messages":["#);
        body.push_str(&json!({ "role": "system", "content": request.system }).to_string());
        for message in request.messages {
            body.push(',');
            body.push_str(&message.json(&self.of, |said| wire(said, &self.of, self.options.sees)));
        }
        body.push_str("]}");
        Bytes::from(body)
    }
}

#[async_trait::async_trait]
impl ModelClient for OpenAi {
    async fn complete(&self, request: &ModelRequest<'_>) -> Result<ModelReply, ModelError> {
        let headers = headers(AUTHORIZATION, "Bearer ", self.key.as_ref())?;
        let (api, funds, url) = (Api::OpenAi, request.funds, self.url.clone());
        let call = Call { api, funds, url, headers, body: Bytes::new(), key: self.key.clone(), tier: self.tier() };
        self.adapted.sent::<Collected>(&self.http, call, &self.of, || (self.cap(request), self.body(request))).await
    }

    async fn listed_window(&self) -> Option<u64> {
        if self.cap_name == OWN_CAP {
            // OpenAI lists none.
            return None;
        }
        let headers = headers(AUTHORIZATION, "Bearer ", self.key.as_ref()).ok()?;
        let list = self.http.list(&self.url.replace("/chat/completions", "/models"), headers).await?;
        window_in(&list, &self.model)
    }
}

/// The names under which servers list a window: vLLM and SGLang; OpenRouter and Together; Groq; Mistral; llama.cpp. The interface itself
/// has none.
const WINDOWS: [&str; 5] =
    ["/max_model_len", "/context_length", "/context_window", "/max_context_length", "/meta/n_ctx"];

/// The window of a model in a list; `None` if it is not there.
fn window_in(list: &Value, model: &str) -> Option<u64> {
    let listed = list["data"].as_array()?.iter().find(|listed| listed["id"] == model)?;
    WINDOWS.iter().find_map(|name| listed.pointer(name)?.as_u64()).filter(|tokens| *tokens > 0)
}

fn tool(tool: &Tool) -> Value {
    let function = json!({ "name": tool.name, "description": tool.description, "parameters": tool.schema });
    json!({ "type": "function", "function": function })
}

/// A message as the elements of an array: results are one each.
fn wire(said: &Message, of: &str, sees: bool) -> String {
    let mut elements = message(said, sees);
    let Message::Assistant { verbatim, calls, .. } = said else { return joined(&elements) };
    let members = verbatim.as_ref().and_then(|verbatim| verbatim.by(of)).unwrap_or_default();
    let signs = !calls.is_empty() && wants_signatures(of);
    if !members.contains(EXTRAS) && !signs {
        let json = joined(&elements);
        // After the members that every server knows.
        return match json.strip_suffix('}').filter(|_| !members.is_empty()) {
            Some(start) => format!("{start},{members}}}"),
            None => json,
        };
    }
    let mut members: Map<String, Value> = serde_json::from_str(&format!("{{{members}}}")).unwrap_or_default();
    let extras = members.remove(EXTRAS).unwrap_or_default();
    if let Some(message) = elements.first_mut().and_then(Value::as_object_mut) {
        message.append(&mut members);
        for (index, call) in
            message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten().enumerate()
        {
            match extras.get(index).filter(|extra| !extra.is_null()) {
                Some(extra) => call["extra_content"] = extra.clone(),
                // The first of a reply needs one.
                None if index == 0 && signs => {
                    call["extra_content"] = json!({ "google": { "thought_signature": NO_SIGNATURE } });
                }
                None => {}
            }
        }
    }
    joined(&elements)
}

fn joined(elements: &[Value]) -> String {
    elements.iter().map(Value::to_string).collect::<Vec<_>>().join(",")
}

/// Whether the model `of` refuses calls without the signature of a thought: Google's from Gemini 3 on.
fn wants_signatures(of: &str) -> bool {
    of.contains("gemini-") && !["gemini-1", "gemini-2"].iter().any(|before| of.contains(before))
}

fn message(said: &Message, sees: bool) -> Vec<Value> {
    match said {
        Message::User { text, images } if images.is_empty() => vec![json!({ "role": "user", "content": text })],
        Message::User { text, images } => {
            let shown = images.iter().map(|image| match sees {
                true => json!({ "type": "image_url", "image_url": { "url": image.data_url() } }),
                false => json!({ "type": "text", "text": UNSEEN }),
            });
            let content: Value = std::iter::once(json!({ "type": "text", "text": text })).chain(shown).collect();
            vec![json!({ "role": "user", "content": content })]
        }
        Message::Assistant { text, calls, .. } if calls.is_empty() => {
            vec![json!({ "role": "assistant", "content": text })]
        }
        Message::Assistant { text, calls, .. } => {
            let content = if text.is_empty() { Value::Null } else { text.as_str().into() };
            let calls: Vec<_> = calls.iter().map(call).collect();
            vec![json!({ "role": "assistant", "content": content, "tool_calls": calls })]
        }
        Message::Results { results } => {
            let answers = results.iter().map(|result| {
                let text = result.text(sees);
                // The interface has no mark for a failed call.
                let content = if result.is_error { format!("error: {text}") } else { text.into_owned() };
                json!({ "role": "tool", "tool_call_id": plain_id(&result.id), "content": content })
            });
            // An answer of a tool is a text there: its pictures come after all of them.
            let shown: Vec<_> = results.iter().flat_map(|result| result.images(sees)).cloned().collect();
            let shown = (!shown.is_empty()).then(|| Message::User { text: SHOWN.to_owned(), images: shown });
            answers.chain(shown.iter().flat_map(|shown| message(shown, sees))).collect()
        }
    }
}

/// A tool's name as the service accepts it: a model may have made one up.
pub(in crate::model) fn plain_name(said: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = said.chars().map(plain).take(NAME_MAX).collect();
    if name.is_empty() { "unnamed".to_owned() } else { name }
}

fn call(call: &ToolCall) -> Value {
    // Some servers parse what they are sent back, and fail on the model's broken JSON.
    let valid = serde_json::from_str::<Value>(&call.arguments).is_ok_and(|value| value.is_object());
    let arguments = if valid { call.arguments.as_str() } else { "{}" };
    json!({ "id": plain_id(&call.id), "type": "function", "function": { "name": plain_name(&call.name), "arguments": arguments } })
}
