//! Builds a reply from the chunks of a chat completion.

use std::collections::BTreeMap;

use hob_egress::{Bill, ServiceTier};
use serde::Deserialize;
use serde_json::Value;

use crate::model::{
    ModelError, ModelReply, Stop, ToolCall, Usage, Verbatim,
    classify::stream_error,
    http::Collect,
    openai::calls::{CallDelta, Calls},
};

/// The parts of a reply so far.
#[derive(Debug, Default)]
pub(super) struct Collected {
    text: String,
    refusal: String,
    calls: Calls,
    /// Its reasoning, by the member that has it: servers have no common name for it.
    reasoning: BTreeMap<&'static str, String>,
    details: Vec<Value>,
    stop: Option<Stop>,
    usage: Option<Usage>,
    tier: ServiceTier,
    complete: bool,
}

#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Vec<Choice>,
    usage: Option<Counted>,
    service_tier: Option<String>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(alias = "message")]
    delta: Option<Delta>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Delta {
    content: Option<Value>,
    refusal: Option<String>,
    reasoning_content: Option<String>,
    reasoning: Option<Value>,
    reasoning_details: Option<Vec<Value>>,
    tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Deserialize)]
struct Counted {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
    prompt_tokens_details: Option<Details>,
}

#[derive(Deserialize)]
struct Details {
    cached_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
}

impl Collect for Collected {
    fn event(&mut self, data: &str) -> Result<(), ModelError> {
        if data.trim() == "[DONE]" {
            self.complete = true;
            return Ok(());
        }
        let chunk: Chunk = serde_json::from_str(data).map_err(|error| ModelError::Garbage(error.to_string()))?;
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            return Err(stream_error(&error));
        }
        if let Some(counted) = chunk.usage {
            let (input, output) = (counted.prompt_tokens, counted.completion_tokens);
            let details = counted.prompt_tokens_details.as_ref();
            let of = |count: fn(&Details) -> Option<u64>| details.and_then(count).unwrap_or(0);
            let cached_input = of(|details| details.cached_tokens).min(input);
            let cache_write = of(|details| details.cache_write_tokens).min(input - cached_input);
            self.usage = Some(Usage { input, cached_input, cache_write, output });
        }
        if let Some(tier) = &chunk.service_tier {
            self.tier = ServiceTier::named(tier);
        }
        // One choice was requested: others from the server are ignored.
        let Some(choice) = chunk.choices.into_iter().next() else { return Ok(()) };
        if let Some(reason) = choice.finish_reason {
            self.stop = Some(match reason.as_str() {
                "length" => Stop::Length,
                "content_filter" => Stop::Refused,
                _ => Stop::Finished,
            });
        }
        let Some(delta) = choice.delta else { return Ok(()) };
        if let Some(content) = &delta.content {
            push_words(content, &mut self.text);
        }
        self.refusal.push_str(&delta.refusal.unwrap_or_default());
        let reasoning = delta.reasoning.as_ref().and_then(Value::as_str);
        for (member, more) in [("reasoning_content", delta.reasoning_content.as_deref()), ("reasoning", reasoning)] {
            if let Some(more) = more.filter(|more| !more.is_empty()) {
                self.reasoning.entry(member).or_default().push_str(more);
            }
        }
        self.details.extend(delta.reasoning_details.unwrap_or_default());
        delta.tool_calls.unwrap_or_default().into_iter().try_for_each(|call| self.calls.add(call))
    }

    /// Some servers never send the last event and leave the connection open.
    fn is_complete(&self) -> bool {
        self.complete || (self.stop.is_some() && self.usage.is_some())
    }

    fn is_counted(&self) -> bool {
        self.usage.is_some()
    }

    fn bill(&self) -> Bill {
        Bill { tier: self.tier, ..Bill::default() }
    }

    /// If a server does not count tokens, they are estimated at four bytes a token, so that a budget still ends.
    fn finish(self, of: &str, sent: usize) -> Result<ModelReply, ModelError> {
        let calls = self.calls.finish();
        // Some servers say that a reply is complete, and not why it ends.
        let ends = self.complete && !(calls.is_empty() && self.text.is_empty() && self.refusal.is_empty());
        let Some(stop) = self.stop.or(ends.then_some(Stop::Finished)) else { return Err(ModelError::Cut) };
        let calls: Vec<_> = calls
            .into_iter()
            .map(|call| match call.id.as_str() {
                "" => ToolCall { id: format!("call_{:016x}", rand::random::<u64>()), ..call },
                _ => call,
            })
            .collect();
        let verbatim = verbatim(of, &self.reasoning, &self.details);
        let received = self.text.len() + calls.iter().map(|call| call.arguments.len()).sum::<usize>();
        let estimate = || Usage { input: sent as u64 / 4, output: received as u64 / 4, ..Usage::default() };
        let usage = self.usage.unwrap_or_else(estimate);
        match self.refusal.is_empty() {
            true => Ok(ModelReply { text: self.text, calls, verbatim, stop, usage }),
            false => {
                let calls = Vec::new();
                Ok(ModelReply { text: self.refusal, calls, verbatim: None, stop: Stop::Refused, usage })
            }
        }
    }
}

/// Adds the words of a content: a text, or a list of parts. A part of thinking is none.
fn push_words(content: &Value, text: &mut String) {
    match content {
        Value::String(more) => text.push_str(more),
        Value::Array(parts) => parts.iter().for_each(|part| match part {
            Value::String(more) => text.push_str(more),
            part => text.push_str(part.get("text").and_then(Value::as_str).unwrap_or_default()),
        }),
        _ => {}
    }
}

/// The members with the reasoning. Details, if a server sends them, replace the text beside them.
fn verbatim(of: &str, reasoning: &BTreeMap<&'static str, String>, details: &[Value]) -> Option<Verbatim> {
    if !details.is_empty() {
        return Verbatim::new(of, format!(r#""reasoning_details":{}"#, Value::from(joined(details))));
    }
    let members: Vec<_> =
        reasoning.iter().map(|(member, text)| format!(r#""{member}":{}"#, Value::from(text.as_str()))).collect();
    if members.is_empty() { None } else { Verbatim::new(of, members.join(",")) }
}

/// The pieces of details, merged by index and kind: a stream cuts their texts.
fn joined(pieces: &[Value]) -> Vec<Value> {
    let mut whole: Vec<Value> = Vec::new();
    for piece in pieces {
        let same = |other: &&mut Value| {
            piece.get("index").is_some() && ["index", "type"].iter().all(|key| other.get(key) == piece.get(key))
        };
        let Some(last) = whole.last_mut().filter(same) else {
            whole.push(piece.clone());
            continue;
        };
        let (Some(last), Some(piece)) = (last.as_object_mut(), piece.as_object()) else { continue };
        for (key, value) in piece {
            match (last.get_mut(key), value) {
                (Some(Value::String(text)), Value::String(more))
                    if matches!(key.as_str(), "text" | "summary" | "data") =>
                {
                    text.push_str(more);
                }
                (Some(Value::Null) | None, value) => drop(last.insert(key.clone(), value.clone())),
                (Some(_), _) => {}
            }
        }
    }
    whole
}
