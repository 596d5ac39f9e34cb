//! The protocols: the tools that a request offers, and a turn in the protocol's format, streamed or whole.

mod anthropic;
mod chat;
mod gemini;
mod protocol;
mod reply;
mod responses;

pub(super) use protocol::Protocol;
pub(super) use reply::{Event, Reply};
