//! Builds a reply from the events of a message. Unknown kinds of events are ignored, as the service asks.

use std::collections::BTreeMap;

use hob_egress::Bill;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::model::{
    ModelError, ModelReply, Stop, ToolCall, Usage, Verbatim,
    classify::stream_error,
    collect::Collect,
    lenient::{lenient, list, text},
    pieces::Pieces,
};

/// Blocks one reply may have.
const BLOCKS_MAX: usize = 256;

/// The parts of a reply so far.
#[derive(Debug, Default)]
pub(super) struct Collected {
    /// The blocks, in the order in which they began.
    blocks: Vec<Block>,
    /// The place of the block that began last with an index.
    open: BTreeMap<u64, usize>,
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
        json: Pieces,
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
    /// The whole message, of a server that does not stream.
    Message {
        #[serde(default, deserialize_with = "list")]
        content: Vec<BlockStart>,
        stop_reason: Option<String>,
        #[serde(default, deserialize_with = "lenient")]
        usage: Option<Counted>,
    },
    MessageStart {
        message: Started,
    },
    ContentBlockStart {
        index: u64,
        content_block: BlockStart,
    },
    ContentBlockDelta {
        /// That of the last block, if it is missing.
        index: Option<u64>,
        delta: Delta,
    },
    MessageDelta {
        delta: End,
        #[serde(default, deserialize_with = "lenient")]
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
    #[serde(default, deserialize_with = "lenient")]
    usage: Option<Counted>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum BlockStart {
    Text {
        #[serde(default, deserialize_with = "text")]
        text: String,
    },
    ToolUse {
        #[serde(default, deserialize_with = "text")]
        id: String,
        #[serde(default, deserialize_with = "text")]
        name: String,
        #[serde(default)]
        input: Value,
    },
    Thinking {
        #[serde(default, deserialize_with = "text")]
        thinking: String,
        #[serde(default, deserialize_with = "text")]
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

    /// Begins a block. An index that came before begins another one, as some servers count.
    fn begin(&mut self, index: u64, block: BlockStart) -> Result<(), ModelError> {
        self.open.insert(index, self.blocks.len());
        self.blocks.push(match block {
            BlockStart::Text { text } => Block::Text(text),
            BlockStart::ToolUse { id, name, input } => {
                Block::Call { id, name, given: object(input), json: Pieces::default() }
            }
            BlockStart::Thinking { thinking, signature } => Block::Thinking { thinking, signature },
            BlockStart::RedactedThinking { data } => Block::Redacted(data),
            BlockStart::Other => Block::Other,
        });
        if self.blocks.len() > BLOCKS_MAX {
            return Err(ModelError::Garbage(format!("it has more than {BLOCKS_MAX} blocks")));
        }
        Ok(())
    }

    fn delta(&mut self, index: Option<u64>, delta: Delta) -> Result<(), ModelError> {
        let place = index.map_or_else(|| self.blocks.len().checked_sub(1), |index| self.open.get(&index).copied());
        match (place.and_then(|place| self.blocks.get_mut(place)), delta) {
            (Some(Block::Text(text)), Delta::Text { text: more }) => text.push_str(&more),
            (Some(Block::Call { json, .. }), Delta::InputJson { partial_json }) => json.push(&partial_json),
            (Some(Block::Thinking { thinking, .. }), Delta::Thinking { thinking: more }) => thinking.push_str(&more),
            (Some(Block::Thinking { signature, .. }), Delta::Signature { signature: more }) => {
                signature.push_str(&more)
            }
            (_, Delta::Other) | (Some(Block::Other), _) => {}
            (_, Delta::InputJson { partial_json }) if partial_json.trim().is_empty() => {}
            // Words whose block did not begin, or began as another one.
            (_, Delta::Text { text }) => self.begin(index.unwrap_or_default(), BlockStart::Text { text })?,
            (_, Delta::Thinking { thinking }) => {
                self.begin(index.unwrap_or_default(), BlockStart::Thinking { thinking, signature: String::new() })?;
            }
            (_, Delta::InputJson { .. } | Delta::Signature { .. }) => {
                return Err(ModelError::Garbage("a delta fits no block".to_owned()));
            }
        }
        Ok(())
    }

    fn ends(&mut self, reason: Option<String>) {
        let stop = reason.map(|reason| match reason.as_str() {
            "max_tokens" | "model_context_window_exceeded" => Stop::Length,
            "refusal" => Stop::Refused,
            _ => Stop::Finished,
        });
        self.stop = stop.or(self.stop);
    }
}

/// The input of a call; some servers quote it.
fn object(input: Value) -> Value {
    match input.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok()) {
        Some(quoted @ Value::Object(_)) => quoted,
        Some(_) | None => input,
    }
}

impl Collect for Collected {
    fn event(&mut self, data: &str) -> Result<(), ModelError> {
        match serde_json::from_str(data).map_err(|error| ModelError::Garbage(error.to_string()))? {
            StreamEvent::MessageStart { message } => {
                message.usage.iter().for_each(|counted| self.count(counted));
            }
            StreamEvent::Message { content, stop_reason, usage } => {
                for (index, block) in (0..).zip(content) {
                    self.begin(index, block)?;
                }
                usage.iter().for_each(|counted| self.count(counted));
                self.ends(stop_reason);
                self.complete = true;
            }
            StreamEvent::ContentBlockStart { index, content_block } => self.begin(index, content_block)?,
            StreamEvent::ContentBlockDelta { index, delta } => self.delta(index, delta)?,
            StreamEvent::MessageDelta { delta, usage } => {
                usage.iter().for_each(|counted| self.count(counted));
                self.ends(delta.stop_reason);
            }
            StreamEvent::MessageStop => self.complete = true,
            StreamEvent::Error { error } => return Err(stream_error(&error)),
            StreamEvent::Other => {}
        }
        Ok(())
    }

    fn done(&mut self) {
        self.complete = true;
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
        // Some servers say that a reply is complete, and not why it ends.
        let ends = self.complete && !self.blocks.is_empty();
        let Some(stop) = self.stop.or(ends.then_some(Stop::Finished)) else { return Err(ModelError::Cut) };
        // A reply that was cut off may lack its signature.
        let verbatim = if stop == Stop::Finished { self.verbatim(of) } else { None };
        let (mut text, mut calls) = (String::new(), Vec::new());
        for block in self.blocks {
            match block {
                Block::Text(more) => text.push_str(&more),
                Block::Call { id, name, given, json } => {
                    let arguments = if json.is_empty() && given.is_object() { given.to_string() } else { json.whole() };
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
        if !self.blocks.iter().any(thinks) {
            return None;
        }
        let blocks = self.blocks.iter().filter_map(|block| match block {
            Block::Text(text) if text.trim().is_empty() => None,
            Block::Text(text) => Some(json!({ "type": "text", "text": text })),
            Block::Call { id, name, given, json } => {
                let input = serde_json::from_str::<Value>(&json.clone().whole()).ok().filter(Value::is_object);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::reader::tests::holds;

    #[test]
    fn an_answer_says_the_same_however_it_is_framed_and_cut() {
        holds::<Collected>("messages", 36);
    }
}
