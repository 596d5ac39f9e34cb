//! A reply as every protocol gets it, and the events that it is streamed as.

use serde_json::Value;

use crate::{INPUT_TOKENS, OUTPUT_TOKENS, tool::Turn};

/// One server-sent event.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    pub(crate) name: Option<&'static str>,
    pub(crate) data: String,
}

impl Event {
    /// An event with a name.
    pub(super) fn named(name: &'static str, data: &Value) -> Self {
        Self { name: Some(name), data: data.to_string() }
    }

    /// An event of data alone.
    pub(super) fn data(data: &Value) -> Self {
        Self { name: None, data: data.to_string() }
    }

    /// The bytes on the wire.
    pub(crate) fn bytes(&self) -> bytes::Bytes {
        let name = self.name.map_or_else(String::new, |name| format!("event: {name}\n"));
        format!("{name}data: {}\n\n", self.data).into()
    }
}

/// A turn with its number, which makes the ids.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) turn: Turn,
    pub(crate) number: usize,
    pub(crate) model: String,
}

/// A text in a few pieces, so that a stream has a middle.
pub(super) fn pieces(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(characters.len().div_ceil(4).max(1)).map(|piece| piece.iter().collect()).collect()
}

/// Tokens of a reply with its question.
pub(super) const TOTAL_TOKENS: u64 = INPUT_TOKENS + OUTPUT_TOKENS;
