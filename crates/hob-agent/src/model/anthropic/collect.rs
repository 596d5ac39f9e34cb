//! Builds a reply from the events of a message. Unknown kinds of events are ignored, as the service asks.

use std::collections::BTreeMap;

use hob_egress::Bill;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::model::{ModelError, ModelReply, Stop, ToolCall, Usage, Verbatim, classify::stream_error, http::Collect};

/// Blocks one reply may have.
const BLOCKS_MAX: usize = 256;

/// The parts of a reply so far.
#[derive(Debug, Default)]
pub(super) struct Collected {
    blocks: BTreeMap<u64, Block>,
    usage: Usage,
    hour_write: u64,
    stop: Option<Stop>,
    complete: bool,
}

#[derive(Debug)]
enum Block {
    Text(String),
    Call {
        id: String,
        name: String,
        given: Value,
        json: String,
    },
    Thinking {
        thinking: String,
        signature: String,
    },
    /// Thinking that only the service can read.
    Redacted(String),
    Other,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum StreamEvent {
    MessageStart {
        message: Started,
    },
    ContentBlockStart {
        index: u64,
        content_block: BlockStart,
    },
    ContentBlockDelta {
        index: u64,
        delta: Delta,
    },
    MessageDelta {
        delta: End,
        usage: Option<Counted>,
    },
    MessageStop,
    Error {
        error: Value,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Started {
    usage: Option<Counted>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum BlockStart {
    Text {
        #[serde(default)]
        text: String,
    },
    ToolUse {
        id: String,
        name: String,
        #[serde(default)]
        input: Value,
    },
    Thinking {
        #[serde(default)]
        thinking: String,
        #[serde(default)]
        signature: String,
    },
    RedactedThinking {
        data: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Delta {
    #[serde(rename = "text_delta")]
    Text { text: String },
    #[serde(rename = "input_json_delta")]
    InputJson { partial_json: String },
    #[serde(rename = "thinking_delta")]
    Thinking { thinking: String },
    #[serde(rename = "signature_delta")]
    Signature { signature: String },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct End {
    stop_reason: Option<String>,
}

/// Counts are cumulative: a later one replaces an earlier one.
#[derive(Deserialize)]
struct Counted {
    input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation: Option<Written>,
    output_tokens: Option<u64>,
}

/// The tokens of `cache_creation_input_tokens` by how long they stay.
#[derive(Deserialize)]
struct Written {
    #[serde(default)]
    ephemeral_1h_input_tokens: u64,
}

impl Collected {
    fn count(&mut self, counted: &Counted) {
        let Usage { input, cached_input, cache_write, output } = self.usage;
        let plain = counted.input_tokens.unwrap_or(input.saturating_sub(cached_input).saturating_sub(cache_write));
        let cached_input = counted.cache_read_input_tokens.unwrap_or(cached_input);
        let cache_write = counted.cache_creation_input_tokens.unwrap_or(cache_write);
        self.hour_write = counted.cache_creation.as_ref().map_or(self.hour_write, |of| of.ephemeral_1h_input_tokens);
        let input = plain.saturating_add(cached_input).saturating_add(cache_write);
        self.usage = Usage { input, cached_input, cache_write, output: counted.output_tokens.unwrap_or(output) };
    }

    fn delta(&mut self, index: u64, delta: Delta) -> Result<(), ModelError> {
        match (self.blocks.get_mut(&index), delta) {
            (Some(Block::Text(text)), Delta::Text { text: more }) => text.push_str(&more),
            (Some(Block::Call { json, .. }), Delta::InputJson { partial_json }) => json.push_str(&partial_json),
            (Some(Block::Thinking { thinking, .. }), Delta::Thinking { thinking: more }) => thinking.push_str(&more),
            (Some(Block::Thinking { signature, .. }), Delta::Signature { signature: more }) => {
                signature.push_str(&more)
            }
            (_, Delta::Other) | (Some(Block::Other), _) => {}
            (Some(_) | None, _) => return Err(ModelError::Garbage(format!("a delta fits no block {index}"))),
        }
        Ok(())
    }
}

impl Collect for Collected {
    fn event(&mut self, data: &str) -> Result<(), ModelError> {
        match serde_json::from_str(data).map_err(|error| ModelError::Garbage(error.to_string()))? {
            StreamEvent::MessageStart { message } => {
                if let Some(counted) = message.usage {
                    self.count(&counted);
                }
            }
            StreamEvent::ContentBlockStart { index, content_block } => {
                let block = match content_block {
                    BlockStart::Text { text } => Block::Text(text),
                    BlockStart::ToolUse { id, name, input } => {
                        Block::Call { id, name, given: input, json: String::new() }
                    }
                    BlockStart::Thinking { thinking, signature } => Block::Thinking { thinking, signature },
                    BlockStart::RedactedThinking { data } => Block::Redacted(data),
                    BlockStart::Other => Block::Other,
                };
                self.blocks.insert(index, block);
                if self.blocks.len() > BLOCKS_MAX {
                    return Err(ModelError::Garbage(format!("it has more than {BLOCKS_MAX} blocks")));
                }
            }
            StreamEvent::ContentBlockDelta { index, delta } => self.delta(index, delta)?,
            StreamEvent::MessageDelta { delta, usage } => {
                if let Some(counted) = usage {
                    self.count(&counted);
                }
                self.stop = delta.stop_reason.map(|reason| match reason.as_str() {
                    "max_tokens" | "model_context_window_exceeded" => Stop::Length,
                    "refusal" => Stop::Refused,
                    _ => Stop::Finished,
                });
            }
            StreamEvent::MessageStop => self.complete = true,
            StreamEvent::Error { error } => return Err(stream_error(&error)),
            StreamEvent::Other => {}
        }
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.complete
    }

    fn is_counted(&self) -> bool {
        self.usage != Usage::default()
    }

    fn bill(&self) -> Bill {
        Bill { hour_write: self.hour_write, ..Bill::default() }
    }

    fn finish(self, of: &str, _sent: usize) -> Result<ModelReply, ModelError> {
        let Some(stop) = self.stop else { return Err(ModelError::Cut) };
        // A reply that was cut off may lack its signature.
        let verbatim = if stop == Stop::Finished { self.verbatim(of) } else { None };
        let (mut text, mut calls) = (String::new(), Vec::new());
        for block in self.blocks.into_values() {
            match block {
                Block::Text(more) => text.push_str(&more),
                Block::Call { id, name, given, json } => {
                    let arguments = if json.is_empty() && given.is_object() { given.to_string() } else { json };
                    calls.push(ToolCall { id, name, arguments });
                }
                Block::Thinking { .. } | Block::Redacted(_) | Block::Other => {}
            }
        }
        Ok(ModelReply { text, calls, verbatim, stop, usage: self.usage })
    }
}

impl Collected {
    /// The blocks as they came, if one of them is thinking; empty text, which the service refuses, is left out.
    fn verbatim(&self, of: &str) -> Option<Verbatim> {
        let thinks = |block: &Block| matches!(block, Block::Thinking { .. } | Block::Redacted(_));
        if !self.blocks.values().any(thinks) {
            return None;
        }
        let blocks = self.blocks.values().filter_map(|block| match block {
            Block::Text(text) if text.trim().is_empty() => None,
            Block::Text(text) => Some(json!({ "type": "text", "text": text })),
            Block::Call { id, name, given, json } => {
                let input = serde_json::from_str::<Value>(json).ok().filter(Value::is_object);
                let input = input.unwrap_or_else(|| if given.is_object() { given.clone() } else { json!({}) });
                Some(json!({ "type": "tool_use", "id": id, "name": name, "input": input }))
            }
            Block::Thinking { thinking, signature } => {
                Some(json!({ "type": "thinking", "thinking": thinking, "signature": signature }))
            }
            Block::Redacted(data) => Some(json!({ "type": "redacted_thinking", "data": data })),
            Block::Other => None,
        });
        Verbatim::new(of, blocks.map(|block| block.to_string()).collect::<Vec<_>>().join(","))
    }
}
