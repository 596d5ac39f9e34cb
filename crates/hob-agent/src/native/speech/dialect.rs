//! The two ways to speak with a model, behind one interface.

use hob_config::Speech;
use serde_json::{Map, Value};

use crate::{
    model::{Memoized, Message, ModelReply, Tool, ToolCall, ToolResult},
    native::{
        speech::{
            Understood,
            forms::in_name,
            json,
            words::{looks_called, written},
        },
        tools::Toolset,
    },
    report::clip,
};

/// Bytes of a model's words that stay in the conversation.
const WORDS_MAX: usize = 64 * 1024;
/// Bytes of a call's arguments that stay in the conversation.
const ARGUMENTS_MAX: usize = 64 * 1024;
/// The system role: the same bytes in every request, so that a service's cache hits.
const PROMPT: &str = include_str!("../prompt.md");

/// The system role of an investigation.
const INVESTIGATE: &str = include_str!("../investigate.md");

/// The form in which one run speaks with its model.
#[derive(Debug)]
pub(in crate::native) struct Dialect {
    speech: Speech,
    system: String,
    tools: Memoized<Vec<Tool>>,
}

impl Dialect {
    /// The dialect `speech` for these tools.
    pub(in crate::native) fn new(speech: Speech, toolset: &Toolset) -> Self {
        let prompt = if toolset.has("conclude") { INVESTIGATE } else { PROMPT };
        match speech {
            Speech::Calls => Self { speech, system: prompt.to_owned(), tools: toolset.shown().clone() },
            Speech::Json => {
                let system = format!("{prompt}\n{}", json::instructions(toolset.shown()));
                Self { speech, system, tools: Memoized::default() }
            }
        }
    }

    /// The system role.
    pub(in crate::native) fn system(&self) -> &str {
        &self.system
    }

    /// The tools of a request.
    pub(in crate::native) fn tools(&self) -> &Memoized<Vec<Tool>> {
        &self.tools
    }

    /// The reply with the calls that it has in its words as calls: its server did not read them.
    pub(in crate::native) fn taken(&self, reply: ModelReply, turn: u32) -> ModelReply {
        if self.speech == Speech::Json {
            return reply;
        }
        if !reply.calls.is_empty() {
            let calls = reply.calls.into_iter().map(|call| match in_name(&call.name) {
                Some((name, given)) => ToolCall { name, arguments: Value::Object(given).to_string(), ..call },
                None => call,
            });
            return ModelReply { calls: calls.collect(), ..reply };
        }
        let Some(found) = written(&reply.text) else { return reply };
        let call = |(index, (name, given)): (usize, (String, Map<String, Value>))| {
            let (id, arguments) = (format!("call_{turn}_{}", index + 1), Value::Object(given).to_string());
            ToolCall { id, name, arguments }
        };
        let (text, calls) = (found.before.to_owned(), found.calls.into_iter().enumerate().map(call).collect());
        // The service's own form has the calls as words.
        let verbatim = reply.verbatim.filter(|verbatim| !verbatim.holds_calls());
        ModelReply { text, calls, verbatim, stop: reply.stop, usage: reply.usage }
    }

    /// Whether a reply that has no call looks as if one were meant.
    pub(in crate::native) fn looks_called(&self, text: &str) -> bool {
        self.speech == Speech::Calls && looks_called(text)
    }

    /// The request in `reply`.
    pub(in crate::native) fn understand(&self, reply: &ModelReply, turn: u32, toolset: &Toolset) -> Understood {
        match self.speech {
            Speech::Calls if reply.calls.is_empty() => Understood::Words,
            Speech::Calls => Understood::Calls(reply.calls.clone()),
            Speech::Json => json::read(&reply.text, turn, toolset),
        }
    }

    /// The part of a reply that stays in the conversation, bounded in any case.
    pub(in crate::native) fn said(&self, reply: &ModelReply) -> Message {
        let calls = match self.speech {
            Speech::Calls => reply.calls.iter().map(bounded).collect(),
            Speech::Json => Vec::new(),
        };
        // In JSON speech, native calls are not answered, so they must not be in it.
        let verbatim = reply.verbatim.clone().filter(|_| self.speech == Speech::Calls || reply.calls.is_empty());
        Message::Assistant { text: clip(&reply.text, WORDS_MAX), calls, verbatim }
    }

    /// The answers to `calls`, followed by a note of Hob's.
    pub(in crate::native) fn answer(&self, calls: &[ToolCall], mut results: Vec<ToolResult>, note: &str) -> Message {
        match self.speech {
            Speech::Calls => {
                if let Some(last) = results.last_mut() {
                    last.text.push_str("\n\n");
                    last.text.push_str(note);
                }
                Message::Results { results }
            }
            Speech::Json => {
                let (mut text, mut images) = (String::new(), Vec::new());
                for (call, result) in calls.iter().zip(results) {
                    let kind = if result.is_error { "Error" } else { "Result" };
                    text.push_str(&format!("{kind} of `{}`:\n{}\n\n", call.name, result.text));
                    images.extend(result.images);
                }
                text.push_str(note);
                Message::User { text, images }
            }
        }
    }
}

fn bounded(call: &ToolCall) -> ToolCall {
    let mut call = call.clone();
    if call.arguments.len() > ARGUMENTS_MAX {
        call.arguments = format!("{{\"left_out\":\"{} bytes\"}}", call.arguments.len());
    }
    call
}
