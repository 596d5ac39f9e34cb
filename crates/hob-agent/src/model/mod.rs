//! Clients for language models behind one trait: an OpenAI-compatible interface, Anthropic's, and recorded replies; lists
//! of models to fall over to; and recordings. All speak in the types of [`ModelRequest`] and [`ModelReply`], none of a
//! service's own types leaves this module.
//!
//! Leaves out: what is asked and what is done with the answer (`agent`).

mod anthropic;
mod cassette;
mod classify;
mod conversation;
mod error;
mod http;
mod kept;
mod lineup;
mod message;
mod models;
mod openai;
mod recording;
mod sse;
mod tape;

pub use anthropic::Anthropic;
pub use cassette::Cassette;
pub use conversation::{Answer, Conversation};
pub use error::ModelError;
pub use http::use_ring;
pub use kept::Kept;
pub use lineup::Lineup;
pub use message::{Message, ModelClient, ModelReply, ModelRequest, Stop, Tool, ToolCall, ToolResult, Usage};
pub use models::Models;
pub use openai::OpenAi;
