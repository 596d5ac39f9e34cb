//! Clients for language models behind one trait: an OpenAI-compatible interface, Anthropic's, and recorded replies;
//! lists of fallback models; and recordings. All use the types [`ModelRequest`] and [`ModelReply`]; a service's own
//! types do not leave this module.
//!
//! Leaves out: the content of the questions and the use of the answers (`agent`).

mod adapted;
mod anthropic;
mod call_ids;
mod cassette;
mod chat_span;
mod classify;
mod collect;
mod conversation;
mod error;
mod fallback_chain;
mod funds;
mod http;
mod lenient;
mod memoized;
mod message;
mod models;
mod notices;
mod openai;
mod pieces;
mod reader;
mod recording;
mod reply_options;
mod responses;
mod sse;
mod tape;
mod verbatim;

pub use anthropic::Anthropic;
pub use cassette::Cassette;
pub use conversation::{Answer, Conversation};
pub use error::ModelError;
pub use fallback_chain::FallbackChain;
pub use funds::Funds;
pub use http::use_ring;
pub use memoized::Memoized;
pub(crate) use message::TEXT;
pub use message::{
    Message, ModelClient, ModelReply, ModelRequest, Picture, Rest, ServiceTier, Stop, Tool, ToolCall, ToolResult, Usage,
};
pub use models::Models;
pub(crate) use models::is_loopback;
pub use openai::OpenAi;
pub use responses::Responses;
pub(crate) use sse::Events;
pub use verbatim::Verbatim;
