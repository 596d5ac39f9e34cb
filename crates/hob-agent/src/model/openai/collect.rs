//! Builds a reply from the chunks of a chat completion.

use std::collections::BTreeMap;

use hob_egress::{Bill, ServiceTier};
use serde::Deserialize;
use serde_json::Value;

use crate::model::{
    ModelError, ModelReply, Stop, ToolCall, Usage, Verbatim,
    classify::stream_error,
    collect::Collect,
    lenient::{lenient, list, tokens},
    openai::calls::{CallDelta, Calls, FunctionDelta},
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
    #[serde(default, deserialize_with = "list")]
    choices: Vec<Choice>,
    #[serde(default, deserialize_with = "lenient")]
    usage: Option<Counted>,
    #[serde(default, deserialize_with = "lenient")]
    service_tier: Option<String>,
    error: Option<Value>,
    /// Says `error` where the members of an error are those of the chunk.
    #[serde(default, deserialize_with = "lenient")]
    object: Option<String>,
}

#[derive(Deserialize)]
struct Choice {
    delta: Option<Delta>,
    /// The whole reply, of a server that does not stream.
    message: Option<Delta>,
    #[serde(default, deserialize_with = "lenient")]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Delta {
    content: Option<Value>,
    #[serde(default, deserialize_with = "lenient")]
    refusal: Option<String>,
    reasoning_content: Option<Value>,
    reasoning: Option<Value>,
    #[serde(default, deserialize_with = "lenient")]
    reasoning_details: Option<Vec<Value>>,
    #[serde(default, deserialize_with = "list")]
    tool_calls: Vec<CallDelta>,
    /// The one call of a server of before `tool_calls`.
    function_call: Option<FunctionDelta>,
}

#[derive(Deserialize)]
struct Counted {
    #[serde(default, deserialize_with = "tokens")]
    prompt_tokens: u64,
    #[serde(default, deserialize_with = "tokens")]
    completion_tokens: u64,
    #[serde(default, deserialize_with = "lenient")]
    prompt_tokens_details: Option<Details>,
}

#[derive(Deserialize)]
struct Details {
    cached_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
}

/// The member of what goes back, which is kept, with one value for each call; it is sent in the calls.
pub(super) const EXTRAS: &str = "calls_extra_content";
/// The end of a reply that its server broke off: OpenRouter, vLLM and SGLang, DeepSeek, and GLM, in this order.
const BROKEN_OFF: [&str; 4] = ["error", "abort", "insufficient_system_resource", "network_error"];

impl Collected {
    /// Why the reply ends; an error if its server broke it off.
    fn ends(&mut self, reason: &str) -> Result<(), ModelError> {
        let reason = reason.to_ascii_lowercase();
        self.stop = Some(match reason.as_str() {
            "length" | "max_tokens" | "model_length" => Stop::Length,
            "content_filter" | "safety" | "sensitive" => Stop::Refused,
            reason if BROKEN_OFF.contains(&reason) => return Err(ModelError::Cut),
            _ => Stop::Finished,
        });
        Ok(())
    }

    fn counted(&mut self, counted: &Counted) {
        let (input, output) = (counted.prompt_tokens, counted.completion_tokens);
        let details = counted.prompt_tokens_details.as_ref();
        let of = |count: fn(&Details) -> Option<u64>| details.and_then(count).unwrap_or(0);
        let cached_input = of(|details| details.cached_tokens).min(input);
        let cache_write = of(|details| details.cache_write_tokens).min(input - cached_input);
        // Zeros of a server that does not count.
        if input + output > 0 {
            self.usage = Some(Usage { input, cached_input, cache_write, output });
        }
    }

    fn delta(&mut self, delta: Delta) -> Result<(), ModelError> {
        if let Some(content) = &delta.content {
            push_words(content, &mut self.text);
        }
        self.refusal.push_str(&delta.refusal.unwrap_or_default());
        for (member, more) in [("reasoning_content", &delta.reasoning_content), ("reasoning", &delta.reasoning)] {
            if let Some(more) = more.as_ref().and_then(Value::as_str).filter(|more| !more.is_empty()) {
                self.reasoning.entry(member).or_default().push_str(more);
            }
        }
        self.details.extend(delta.reasoning_details.unwrap_or_default());
        let calls = delta.tool_calls.into_iter().chain(delta.function_call.map(CallDelta::from));
        calls.into_iter().try_for_each(|call| self.calls.add(call))
    }
}

impl Collect for Collected {
    fn event(&mut self, data: &str) -> Result<(), ModelError> {
        let garbage = |error: serde_json::Error| ModelError::Garbage(error.to_string());
        let chunk: Chunk = serde_json::from_str(data).map_err(garbage)?;
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            return Err(stream_error(&error));
        }
        if chunk.object.as_deref() == Some("error") {
            return Err(stream_error(&serde_json::from_str(data).map_err(garbage)?));
        }
        if let Some(counted) = &chunk.usage {
            self.counted(counted);
        }
        if let Some(tier) = &chunk.service_tier {
            self.tier = ServiceTier::named(tier);
        }
        // One choice was requested: others from the server are ignored.
        let Some(choice) = chunk.choices.into_iter().next() else { return Ok(()) };
        [choice.delta, choice.message].into_iter().flatten().try_for_each(|delta| self.delta(delta))?;
        choice.finish_reason.map_or(Ok(()), |reason| self.ends(&reason))
    }

    fn done(&mut self) {
        self.complete = true;
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
    fn finish(mut self, of: &str, sent: usize) -> Result<ModelReply, ModelError> {
        let extras = self.calls.extras();
        let calls = self.calls.finish();
        // Some servers take a whole reply for reasoning, with a call in it that the model wrote.
        if self.text.is_empty() && calls.is_empty() && self.stop == Some(Stop::Finished) {
            self.text = std::mem::take(&mut self.reasoning).into_values().next().unwrap_or_default();
        }
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
        let verbatim = verbatim(of, &self.reasoning, &self.details, extras.as_ref());
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
        Value::Object(_) => push_words(&Value::Array(vec![content.clone()]), text),
        Value::Array(parts) => parts.iter().for_each(|part| match part {
            Value::String(more) => text.push_str(more),
            part => text.push_str(part.get("text").and_then(Value::as_str).unwrap_or_default()),
        }),
        _ => {}
    }
}

/// The members with the reasoning, and those of the calls. Details, if a server sends them, replace the text beside them.
fn verbatim(
    of: &str,
    reasoning: &BTreeMap<&'static str, String>,
    details: &[Value],
    extras: Option<&Value>,
) -> Option<Verbatim> {
    let mut members: Vec<String> = match details {
        [] => reasoning.iter().map(|(member, text)| format!(r#""{member}":{}"#, Value::from(text.as_str()))).collect(),
        details => vec![format!(r#""reasoning_details":{}"#, Value::from(joined(details)))],
    };
    members.extend(extras.map(|extras| format!(r#""{EXTRAS}":{extras}"#)));
    Verbatim::new(of, members.join(","))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::reader::tests::holds;

    #[test]
    fn an_answer_says_the_same_however_it_is_framed_and_cut() {
        holds::<Collected>("chat", 64);
    }
}
