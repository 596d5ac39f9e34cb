//! Lets a request to a model's service pass, or names what of it does not.

use std::collections::BTreeSet;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, header};

use crate::{
    json::Json,
    passes::{BETAS, HEADERS, QUERIES, body},
    paths::Ask,
    route::Route,
    shape::{Look, Refused, Spelling},
    vendor::Api,
};

/// The header with beta flags.
const BETA: &str = "anthropic-beta";
/// The setting that keeps an answer for later requests. It is on at OpenAI's responses unless a request says otherwise.
const STORE: &str = "store";

/// The rules of one run.
#[derive(Debug)]
pub(crate) struct Gatekeeper {
    /// Names that pass beside the tables.
    allowed: BTreeSet<String>,
}

impl Gatekeeper {
    pub(crate) fn new(allowed: BTreeSet<String>) -> Self {
        Self { allowed }
    }

    /// Checks a body.
    pub(crate) fn check_body(&self, api: Api, ask: Ask, json: &Json<'_>) -> Result<(), Refused> {
        let spelling = if api == Api::Gemini { Spelling::Camel } else { Spelling::Exact };
        let found = Look { allowed: &self.allowed, spelling }.check(body(api, ask), json);
        // A list, or a text, is not a request.
        found.map_err(|bad| if bad.name.is_empty() { Refused { name: "body".to_owned(), ..bad } } else { bad })
    }

    /// Checks the beta flags.
    pub(crate) fn check_headers(&self, headers: &HeaderMap) -> Result<(), Refused> {
        let flags = headers.get_all(BETA).iter().flat_map(|value| value.to_str().unwrap_or("?").split(','));
        let unknown = |flag: &&str| !flag.is_empty() && !BETAS.contains(flag) && !self.allowed.contains(*flag);
        match flags.map(str::trim).find(unknown) {
            Some(flag) => Err(Refused { name: flag.to_owned(), place: BETA.to_owned() }),
            None => Ok(()),
        }
    }

    /// The headers that a service gets: those of the list, and Hob's sign-in.
    pub(crate) fn headers(&self, headers: &HeaderMap, route: &Route) -> HeaderMap {
        let passes = |name: &str| HEADERS.contains(&name) || self.allowed.contains(name);
        let mut kept: HeaderMap = headers
            .iter()
            .filter(|(name, _)| passes(name.as_str()))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        kept.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        kept.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        // `start` refused a key that does not fit a header.
        if let Some(Ok((name, value))) = route.auth.header() {
            kept.insert(name, value);
        }
        kept
    }

    /// The parts of a query that pass.
    pub(crate) fn query(&self, query: &str) -> String {
        let passes = |part: &&str| {
            let name = part.split('=').next().unwrap_or_default();
            QUERIES.contains(&name) || self.allowed.contains(name)
        };
        query.split('&').filter(passes).collect::<Vec<_>>().join("&")
    }

    /// The body, with the request not to keep the answer where it is kept by default.
    pub(crate) fn unstored(&self, api: Api, ask: Ask, body: Bytes, json: &Json<'_>) -> Bytes {
        let is_default = api == Api::OpenAi && ask == Ask::Responses && json.get(STORE).is_none();
        match body.iter().position(|byte| *byte == b'{') {
            Some(at) if is_default && !self.allowed.contains(STORE) => {
                [&body[..=at], br#""store":false,"#, &body[at + 1..]].concat().into()
            }
            Some(_) | None => body,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    const RECORDED: [(Api, Ask, &str); 4] = [
        (Api::Anthropic, Ask::Messages, include_str!("../tests/egress/recorded/claude-1.json")),
        (Api::Anthropic, Ask::Messages, include_str!("../tests/egress/recorded/claude-2.json")),
        (Api::OpenAi, Ask::Responses, include_str!("../tests/egress/recorded/codex-1.json")),
        (Api::OpenAi, Ask::Responses, include_str!("../tests/egress/recorded/codex-2.json")),
    ];
    /// Members below which a service only shows what it gets to the model.
    const FREE: [&str; 3] = ["input_schema", "parameters", "input"];
    /// Members of short values, where any name is as good as another.
    const SMALL: [&str; 8] = [
        "thinking",
        "tool_choice",
        "client_metadata",
        "reasoning",
        "keep",
        "trigger",
        "stream_options",
        "generation_config",
    ];

    fn gatekeeper(allowed: &[&str]) -> Gatekeeper {
        Gatekeeper::new(allowed.iter().map(|name| (*name).to_owned()).collect())
    }

    fn refused(gatekeeper: &Gatekeeper, api: Api, ask: Ask, body: &Value) -> Option<String> {
        let text = body.to_string();
        let json: Json<'_> = serde_json::from_str(&text).unwrap();
        gatekeeper.check_body(api, ask, &json).err().map(|refused| refused.name)
    }

    fn body_of(recorded: &str) -> Value {
        serde_json::from_str::<Value>(recorded).unwrap()["body"].take()
    }

    /// The objects whose members have a meaning for the service. The list `input` of a conversation is not a call's.
    fn objects(value: &mut Value) -> Vec<&mut Value> {
        match value {
            Value::Array(elements) => elements.iter_mut().flat_map(objects).collect(),
            Value::Object(_) => {
                let mut found = Vec::new();
                // Twice: the object itself, and what is in it, cannot be lent at once.
                let inner: Vec<String> = value.as_object().unwrap().keys().cloned().collect();
                let is_meant = |name: &String, value: &Value| {
                    !SMALL.contains(&name.as_str()) && (!FREE.contains(&name.as_str()) || value.is_array())
                };
                let deep = inner.iter().any(|name| is_meant(name, &value[name]) && has_object(&value[name]));
                if deep {
                    let members = value.as_object_mut().unwrap().iter_mut();
                    found.extend(
                        members.filter(|(name, value)| is_meant(name, value)).flat_map(|(_, value)| objects(value)),
                    );
                } else {
                    found.push(value);
                }
                found
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
        }
    }

    fn has_object(value: &Value) -> bool {
        match value {
            Value::Array(elements) => elements.iter().any(has_object),
            Value::Object(_) => true,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<u32>().prop_map(Value::from),
            "[a-z_]{0,12}".prop_map(Value::from),
            "https://[a-z]{1,8}\\.example/".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-z_]{1,10}", inner, 0..4).prop_map(|members| json!(members)),
            ]
        })
    }

    proptest! {
        /// Attack corpus K135. An unknown member at any place of a request that passes.
        #[test]
        fn no_unknown_member_passes(
            which in 0..RECORDED.len(), at in any::<prop::sample::Index>(), name in "x_[a-z]{1,12}", value in any_json(),
        ) {
            let (api, ask, recorded) = RECORDED[which];
            let mut body = body_of(recorded);
            prop_assert_eq!(refused(&gatekeeper(&[]), api, ask, &body), None);
            {
                let mut places = objects(&mut body);
                let place = at.index(places.len());
                places[place][&name] = value.clone();
            }
            prop_assert_eq!(refused(&gatekeeper(&[]), api, ask, &body), Some(name.clone()));
            prop_assert_eq!(refused(&gatekeeper(&[&name]), api, ask, &body), None);
            let mut top = body_of(recorded);
            top[&name] = value;
            prop_assert_eq!(refused(&gatekeeper(&[]), api, ask, &top), Some(name));
        }

        /// Attack corpus K135. Any JSON as a request, a tool or a message.
        #[test]
        fn of_any_json_nothing_unknown_passes(value in any_json(), name in "x_[a-z]{1,8}") {
            for (api, ask) in [
                (Api::Anthropic, Ask::Messages),
                (Api::OpenAi, Ask::Messages),
                (Api::OpenAi, Ask::Responses),
                (Api::Gemini, Ask::Messages),
            ] {
                for member in ["tools", "messages", "input", "contents"] {
                    let typed = json!({ member: [{ "type": name, "x": value }] });
                    prop_assert!(refused(&gatekeeper(&[]), api, ask, &typed).is_some(), "{typed}");
                }
                let top = json!({ "model": "m", &name: value });
                prop_assert_eq!(refused(&gatekeeper(&[]), api, ask, &top), Some(name.clone()));
                if !value.is_object() {
                    let not_one = json!([value]);
                    prop_assert!(refused(&gatekeeper(&[]), api, ask, &not_one).is_some());
                }
            }
        }
    }

    /// Attack corpus K135, K140.
    #[test]
    fn what_reaches_the_network_is_kept_or_billed_otherwise_is_refused_by_its_name() {
        let (anthropic, chat, responses) =
            ((Api::Anthropic, Ask::Messages), (Api::OpenAi, Ask::Messages), (Api::OpenAi, Ask::Responses));
        let gemini = (Api::Gemini, Ask::Messages);
        let said = |block: Value| json!({ "messages": [{ "role": "user", "content": [block] }] });
        let tool = |tool: Value| json!({ "tools": [tool] });
        let far = "https://attacker.example/?secret";
        for ((api, ask), body, name) in [
            (anthropic, tool(json!({ "type": "web_fetch_20250910", "name": "web_fetch" })), "web_fetch"),
            (anthropic, tool(json!({ "type": "web_search_20250305", "name": "web_search" })), "web_search"),
            (anthropic, tool(json!({ "type": "code_execution_20250825", "name": "x" })), "code_execution"),
            (anthropic, tool(json!({ "type": "mcp_toolset", "mcp_server_name": "x" })), "mcp"),
            (anthropic, json!({ "mcp_servers": [{ "type": "url", "url": far, "name": "x" }] }), "mcp"),
            (anthropic, json!({ "container": "c" }), "code_execution"),
            (anthropic, json!({ "speed": "fast" }), "speed"),
            (anthropic, json!({ "fallbacks": [{ "model": "other" }] }), "fallbacks"),
            (anthropic, said(json!({ "type": "image", "source": { "type": "url", "url": far } })), "urls"),
            (anthropic, said(json!({ "type": "document", "source": { "type": "url", "url": far } })), "urls"),
            (anthropic, said(json!({ "type": "image", "source": { "type": "file", "file_id": "f" } })), "files"),
            (
                anthropic,
                said(json!({ "type": "tool_result", "tool_use_id": "t", "content": [
                    { "type": "image", "source": { "type": "url", "url": far } },
                ] })),
                "urls",
            ),
            (chat, said(json!({ "type": "image_url", "image_url": { "url": far } })), "urls"),
            (chat, said(json!({ "type": "file", "file": { "file_id": "f" } })), "files"),
            (chat, json!({ "web_search_options": {} }), "web_search"),
            (chat, json!({ "store": true }), "store"),
            (chat, json!({ "service_tier": "priority" }), "service_tier"),
            (chat, json!({ "prediction": { "type": "content", "content": "x" } }), "prediction"),
            (chat, json!({ "modalities": ["text", "audio"] }), "modalities"),
            (responses, tool(json!({ "type": "web_search", "external_web_access": true })), "web_search"),
            (responses, tool(json!({ "type": "web_search_preview" })), "web_search"),
            (responses, tool(json!({ "type": "mcp", "server_label": "x", "server_url": far })), "mcp"),
            (responses, tool(json!({ "type": "mcp", "connector_id": "connector_gmail" })), "mcp"),
            (responses, tool(json!({ "type": "code_interpreter", "container": "c" })), "code_execution"),
            (responses, tool(json!({ "type": "file_search", "vector_store_ids": ["v"] })), "files"),
            (responses, tool(json!({ "type": "image_generation" })), "image_generation"),
            (responses, tool(json!({ "type": "namespace", "tools": [{ "type": "mcp" }] })), "mcp"),
            (responses, json!({ "background": true }), "background"),
            (responses, json!({ "store": true }), "store"),
            (responses, json!({ "previous_response_id": "r" }), "store"),
            (responses, json!({ "conversation": "c" }), "store"),
            (responses, json!({ "service_tier": "flex" }), "service_tier"),
            (responses, json!({ "prompt": { "id": "p" } }), "prompt"),
            (responses, json!({ "input": [{ "type": "item_reference", "id": "i" }] }), "store"),
            (
                responses,
                json!({ "input": [{ "role": "user", "content": [{ "type": "input_image", "image_url": far }] }] }),
                "urls",
            ),
            (
                responses,
                json!({ "input": [{ "type": "function_call_output", "call_id": "c", "output": [
                    { "type": "input_image", "image_url": far },
                ] }] }),
                "urls",
            ),
            (responses, json!({ "input": [{ "content": [{ "type": "input_file", "file_url": far }] }] }), "files"),
            (gemini, json!({ "tools": [{ "googleSearch": {} }] }), "web_search"),
            (gemini, json!({ "tools": [{ "url_context": {} }] }), "web_fetch"),
            (gemini, json!({ "tools": [{ "codeExecution": {} }] }), "code_execution"),
            (gemini, json!({ "contents": [{ "parts": [{ "fileData": { "fileUri": far } }] }] }), "urls"),
            (gemini, json!({ "cachedContent": "cachedContents/1" }), "store"),
        ] {
            assert_eq!(refused(&gatekeeper(&[]), api, ask, &body).as_deref(), Some(name), "{body}");
            assert_eq!(refused(&gatekeeper(&[name]), api, ask, &body), None, "{body}");
        }
        let twice = json!({ "generationConfig": { "maxOutputTokens": 1 }, "generation_config": {} });
        assert!(refused(&gatekeeper(&[]), Api::Gemini, Ask::Messages, &twice).is_some());
        let names = Refused { name: "a`\u{1b}b".to_owned(), place: ".tools[0]".to_owned() }.to_string();
        assert_eq!(
            names,
            "`a`b` at `tools[0]` is not among what passes to a model's service; the agent's setting `allow = [\"a`b\"]` \
             lets it pass"
        );
    }

    /// Gives each description this text.
    fn lengthen(body: &mut Value, text: &str) {
        match body {
            Value::Array(elements) => elements.iter_mut().for_each(|element| lengthen(element, text)),
            Value::Object(members) => members.iter_mut().for_each(|(name, value)| match name.as_str() {
                "description" => *value = text.into(),
                _ => lengthen(value, text),
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// Prints the cost of reading and checking a request as large as those of Claude Code and Codex, 116 and 40 KB:
    /// `cargo test --release -p hob-egress --lib how_long -- --ignored --nocapture`.
    #[test]
    #[ignore = "it prints a figure, and holds nothing"]
    #[expect(clippy::print_stdout, reason = "that is all it does")]
    fn how_long_a_look_at_a_request_takes() {
        const TIMES: u32 = 2_000;
        for ((api, ask, recorded), bytes) in [(RECORDED[1], 116_000), (RECORDED[3], 40_000)] {
            let mut body = body_of(recorded);
            let texts = body.to_string().matches("\"description\"").count();
            let text = "a line of text as it is in a prompt\n".repeat((bytes - body.to_string().len()) / texts / 37);
            lengthen(&mut body, &text);
            let body = Bytes::from(body.to_string());
            let (gatekeeper, bounds) = (gatekeeper(&[]), crate::bound::Bounds::default());
            bounds.counted("m", &body, 1);
            let began = std::time::Instant::now();
            for _ in 0..TIMES {
                let json: Json<'_> = serde_json::from_slice(&body).unwrap();
                gatekeeper.check_body(api, ask, &json).unwrap();
                assert!(bounds.most(api, "m", &body, &json).input > 0);
            }
            println!("{} bytes: {:?} each", body.len(), began.elapsed() / TIMES);
        }
    }

    #[test]
    fn an_answer_is_not_kept_unless_the_settings_allow_it() {
        let unstored = |allowed: &[&str], text: &'static str| {
            let json = serde_json::from_str(text).unwrap();
            gatekeeper(allowed).unstored(Api::OpenAi, Ask::Responses, Bytes::from(text), &json)
        };
        assert_eq!(unstored(&[], r#"{"model":"m"}"#), r#"{"store":false,"model":"m"}"#);
        assert_eq!(unstored(&[], r#"{"store":false}"#), r#"{"store":false}"#);
        assert_eq!(unstored(&["store"], r#"{"model":"m"}"#), r#"{"model":"m"}"#);
    }

    /// Attack corpus K152.
    #[test]
    fn queries_and_beta_flags_that_are_not_listed_do_not_pass() {
        let gatekeeper = gatekeeper(&["mine-2026-01-01"]);
        assert_eq!(gatekeeper.query("beta=true&key=abc&alt=sse&%6bey=b&$httpMethod=DELETE"), "beta=true&alt=sse");
        let flags = |flags: &'static str| {
            let headers = HeaderMap::from_iter([(BETA.parse().unwrap(), HeaderValue::from_static(flags))]);
            gatekeeper.check_headers(&headers).err().map(|refused| refused.name)
        };
        assert_eq!(flags("claude-code-20250219, mine-2026-01-01"), None);
        assert_eq!(flags("claude-code-20250219,files-api-2025-04-14").as_deref(), Some("files-api-2025-04-14"));
    }
}
