//! The most that a request can cost, before it is sent.
//!
//! - Tokens sent: a token has at least one byte, so a body has no more tokens than bytes. Pictures have a bound of their own.
//!   A conversation sends its beginning again with each request: the service counted that, so that only the new bytes count.
//! - Tokens produced: the request's own limit, else the model's, else [`OUTPUT_MAX`].
//! - Assumption: every long text of a request is sent to the model, so that what the service counted of one body bounds the
//!   parts that the next one repeats.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use bytes::Bytes;
use hob_config::known_model;

use crate::{
    json::Json,
    usage::{Most, ServiceTier},
    vendor::Api,
};

/// Tokens produced by a model whose limit is not known: that of current models, except of Google's latest.
const OUTPUT_MAX: u64 = 131_072;
/// Tokens that a service adds to a request by itself: its own instructions for tools and formats.
const OVERHEAD: u64 = 1_024;
/// Tokens of a picture: more than any size and detail of the services costs (from memory of their pages about images).
const PICTURE: u64 = 16_384;
/// Tokens of a document, whose pages count and not its bytes: the largest window.
const DOCUMENT: u64 = 1_000_000;
/// Searches of a request that limits none, and how often a service asks its model again between them.
const SEARCHES: u64 = 10;
/// Bodies whose tokens are known, and the most bytes of one.
const BODIES: usize = 4;
const BODY_MAX: usize = 8 << 20;
/// Bytes that are compared at once.
const STEP: usize = 4_096;

/// Bounds requests, and remembers what services counted of earlier ones.
#[derive(Debug, Default)]
pub struct Bounds(Mutex<VecDeque<Counted>>);

#[derive(Debug)]
struct Counted {
    model: String,
    body: Bytes,
    input: u64,
}

impl Bounds {
    /// The most of a request of `model` with this body. A body that is not JSON counts by its bytes.
    pub fn of_body(&self, api: Api, model: &str, body: &Bytes) -> Most {
        let json = serde_json::from_slice(body).unwrap_or(Json::Null);
        self.most(api, model, body, &json)
    }

    /// The same, for a body that was read.
    pub(crate) fn most(&self, api: Api, model: &str, body: &Bytes, json: &Json<'_>) -> Most {
        let mut media = Media::default();
        for name in ["messages", "input", "contents"] {
            json.get(name).into_iter().for_each(|said| media.look(said));
        }
        let by_bytes = size(body).saturating_sub(media.bytes).saturating_add(media.tokens).saturating_add(OVERHEAD);
        let (searches, micros_each) = searches(api, json);
        // A service that searches asks its model again with what it found.
        let rounds = 1 + searches;
        let input = self.repeated(model, body).map_or(by_bytes, |repeated| repeated.min(by_bytes));
        let named = |name: &str| {
            json.get(name).and_then(Json::text).map(ServiceTier::named).filter(|tier| *tier != ServiceTier::Standard)
        };
        let tier = named("speed").or_else(|| named("service_tier")).unwrap_or_default();
        Most {
            input: input.saturating_mul(rounds),
            output: output(model, json),
            hour: says(json, "1h"),
            tier,
            searches_micros: searches.saturating_mul(micros_each),
        }
    }

    /// Remembers that the service counted `input` tokens in this body.
    pub fn counted(&self, model: &str, body: &Bytes, input: u64) {
        if body.len() > BODY_MAX {
            return;
        }
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.push_front(Counted { model: model.to_owned(), body: body.clone(), input });
        known.truncate(BODIES);
    }

    /// The bound by what an earlier request has in common with it; `None` if none is known.
    fn repeated(&self, model: &str, body: &[u8]) -> Option<u64> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_model = known.iter().filter(|counted| counted.model == model);
        let bounds = of_model.map(|counted| {
            let new = body.len() - shared(&counted.body, body);
            counted.input.saturating_add(new as u64).saturating_add(OVERHEAD)
        });
        bounds.min()
    }
}

/// Bytes at the beginning and at the end that both have.
fn shared(one: &[u8], other: &[u8]) -> usize {
    let most = one.len().min(other.len());
    let mut start = 0;
    while start + STEP <= most && one[start..start + STEP] == other[start..start + STEP] {
        start += STEP;
    }
    start += one[start..most].iter().zip(&other[start..most]).take_while(|(one, other)| one == other).count();
    let (one, other) = (&one[start..], &other[start..]);
    let most = one.len().min(other.len());
    let (one, other) = (&one[one.len() - most..], &other[other.len() - most..]);
    let mut end = most;
    while end >= STEP && one[end - STEP..end] == other[end - STEP..end] {
        end -= STEP;
    }
    let rest = one[..end].iter().rev().zip(other[..end].iter().rev());
    start + (most - end) + rest.take_while(|(one, other)| one == other).count()
}

/// Pictures and documents: their bytes say nothing of their tokens.
#[derive(Default)]
struct Media {
    bytes: u64,
    tokens: u64,
}

impl Media {
    /// Looks where services look for them: a call's arguments, and what is nested in them, are text to a model.
    fn look(&mut self, said: &Json<'_>) {
        said.elements().iter().for_each(|part| self.look(part));
        let data = |place: Option<&Json<'_>>| place.and_then(Json::text).map_or(0, |data| size(data.as_bytes()));
        let inline = said.get("inlineData").or_else(|| said.get("inline_data"));
        match (said.get("type").and_then(Json::text), inline) {
            (Some("image"), _) => self.add(PICTURE, data(said.get("source").and_then(|source| source.get("data")))),
            (Some("document"), _) => {
                self.add(DOCUMENT, data(said.get("source").and_then(|source| source.get("data"))));
            }
            (Some("image_url" | "input_image"), _) => {
                let image = said.get("image_url");
                self.add(PICTURE, data(image.and_then(|image| image.get("url")).or(image)));
            }
            (Some("input_file" | "file"), _) => self.add(DOCUMENT, 0),
            (_, Some(inline)) => self.add(PICTURE, data(inline.get("data"))),
            (_, None) => {
                for name in ["content", "output", "parts"] {
                    said.get(name).into_iter().for_each(|nested| self.look(nested));
                }
            }
        }
    }

    fn add(&mut self, tokens: u64, bytes: u64) {
        self.tokens = self.tokens.saturating_add(tokens);
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// Whether a text of it is `wanted`.
fn says(json: &Json<'_>, wanted: &str) -> bool {
    let inner = json.members().iter().map(|(_, value)| value).chain(json.elements());
    json.text() == Some(wanted) || inner.into_iter().any(|value| says(value, wanted))
}

/// Tokens that the answers can have.
fn output(model: &str, json: &Json<'_>) -> u64 {
    const LIMITS: [&str; 4] = ["max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens"];
    let inner = json.get("generationConfig").or_else(|| json.get("generation_config"));
    let number = |name: &str| {
        let found = [Some(json), inner].into_iter().flatten().filter_map(|place| place.get(name));
        found.filter_map(Json::number).max()
    };
    let limit = LIMITS
        .into_iter()
        .filter_map(number)
        .max()
        .unwrap_or_else(|| known_model(model).map_or(OUTPUT_MAX, |known| known.output));
    let answers = ["n", "best_of", "candidateCount", "candidate_count"].into_iter().filter_map(number).max();
    limit.saturating_mul(answers.unwrap_or(1).max(1))
}

/// The most searches of a request, and the price of one in millionths of a US dollar.
fn searches(api: Api, json: &Json<'_>) -> (u64, u64) {
    let of_tool = |tool: &Json<'_>| {
        let kind = tool.get("type").and_then(Json::text).unwrap_or_default();
        let is_google = ["googleSearch", "google_search", "googleSearchRetrieval", "google_search_retrieval"]
            .into_iter()
            .any(|name| tool.get(name).is_some());
        let searches = kind.starts_with("web_") || is_google;
        if searches { tool.get("max_uses").and_then(Json::number).unwrap_or(SEARCHES) } else { 0 }
    };
    let tools = json.get("tools").map_or(0, |tools| tools.elements().iter().map(of_tool).fold(0, u64::saturating_add));
    let asked = if json.get("web_search_options").is_some() { SEARCHES } else { 0 };
    (tools.saturating_add(asked), search_micros(api))
}

/// The price of one search: the highest of the service in LiteLLM's table, version 1.110.2.
pub(crate) fn search_micros(api: Api) -> u64 {
    match api {
        Api::Anthropic => 10_000,
        Api::OpenAi => 25_000,
        Api::Gemini => 35_000,
    }
}

fn size(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn most(api: Api, model: &str, body: &str) -> Most {
        Bounds::default().of_body(api, model, &Bytes::copy_from_slice(body.as_bytes()))
    }

    /// Attack corpus K136, K137.
    #[test]
    fn an_answer_is_bounded_by_the_request_or_the_model() {
        for (model, body, output) in [
            ("openai/gpt-5", r#"{"max_output_tokens":300}"#, 300),
            ("openai/gpt-5", r#"{"max_tokens":300,"max_completion_tokens":400,"n":3}"#, 1_200),
            ("openai/gpt-5", "{}", 128_000),
            ("openai/gpt-4o-mini", r#"{"max_tokens":null}"#, 16_384),
            ("gemini/gemini-4-argon", "{}", 1_048_576),
            ("openai/gpt-5-other", "{}", OUTPUT_MAX),
            ("openai/scripted", "{}", OUTPUT_MAX),
            ("gemini/gemini-2.5-pro", r#"{"generationConfig":{"maxOutputTokens":9,"candidateCount":2}}"#, 18),
            ("anthropic/claude", r#"{"max_tokens":7}"#, 7),
        ] {
            assert_eq!(most(Api::OpenAi, model, body).output, output, "{model} {body}");
        }
    }

    #[test]
    fn a_pictures_bytes_do_not_count_and_those_of_arguments_do() {
        let data = "A".repeat(1_000_000);
        let picture = format!(
            r#"{{"messages":[{{"content":[{{"type":"image","source":{{"type":"base64","data":"{data}"}}}}]}}]}}"#
        );
        let input = most(Api::Anthropic, "m", &picture).input;
        assert!((PICTURE..PICTURE + 2_000).contains(&input), "{input}");
        let call = format!(
            r#"{{"messages":[{{"content":[{{"type":"tool_use","input":{{"type":"image","source":{{"data":"{data}"}}}}}}]}}]}}"#
        );
        assert!(most(Api::Anthropic, "m", &call).input > 1_000_000);
        let url = format!(
            r#"{{"input":[{{"content":[{{"type":"input_image","image_url":"data:image/png;base64,{data}"}}]}}]}}"#
        );
        assert!(most(Api::OpenAi, "m", &url).input < PICTURE + 2_000);
    }

    /// Attack corpus K140.
    #[test]
    fn searches_tiers_and_an_hour_in_the_cache_are_in_the_most() {
        let body = r#"{"tools":[{"type":"web_search_20250305","max_uses":3}],"service_tier":"priority",
            "system":[{"cache_control":{"ttl":"1h"}}]}"#;
        let found = most(Api::Anthropic, "m", body);
        assert_eq!((found.searches_micros, found.tier, found.hour), (30_000, ServiceTier::Priority, true));
        assert_eq!(found.input, 4 * (body.len() as u64 + OVERHEAD));
        assert_eq!(most(Api::Gemini, "m", r#"{"tools":[{"googleSearch":{}}]}"#).searches_micros, 350_000);
    }

    #[test]
    fn what_the_service_counted_is_not_bounded_again() {
        let bounds = Bounds::default();
        let body =
            |said: &str| Bytes::from(format!(r#"{{"messages":["{}{said}"],"max_tokens":1}}"#, "x".repeat(50_000)));
        assert!(bounds.of_body(Api::OpenAi, "m", &body("")).input > 50_000);
        bounds.counted("m", &body(""), 900);
        let next = bounds.of_body(Api::OpenAi, "m", &body(" and more")).input;
        assert_eq!(next, 900 + 9 + OVERHEAD);
        assert!(bounds.of_body(Api::OpenAi, "other", &body("")).input > 50_000);
    }

    proptest! {
        #[test]
        fn what_two_bodies_share_is_in_both(start in ".{0,40}", end in ".{0,40}", one in ".{0,9}", other in ".{0,9}") {
            let (one, other) = (format!("{start}{one}{end}"), format!("{start}{other}{end}"));
            let found = shared(one.as_bytes(), other.as_bytes());
            prop_assert!(found >= start.len() + end.len() && found <= one.len().min(other.len()));
        }
    }
}
