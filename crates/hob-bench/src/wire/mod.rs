//! The protocols: which tools a request offers, and a turn in the protocol's words, streamed or whole.

mod anthropic;
mod chat;
mod gemini;
mod protocol;
mod responses;

pub(super) use protocol::{Event, Protocol, Reply};
