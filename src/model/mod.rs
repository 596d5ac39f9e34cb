//! Clients for language models behind one trait: an OpenAI-compatible interface, Anthropic's, and recorded replies.
//! All speak in the types of [`ModelRequest`] and [`ModelReply`], none of a service's own types leaves this module.
//!
//! Leaves out: what is asked and what is done with the answer (`agent`).

mod anthropic;
mod cassette;
mod classify;
mod error;
mod http;
mod kept;
mod message;
mod models;
mod openai;
mod sse;

pub use anthropic::Anthropic;
pub use cassette::Cassette;
pub use error::ModelError;
pub use http::use_ring;
pub use kept::Kept;
pub use message::{Message, ModelClient, ModelReply, ModelRequest, Stop, Tool, ToolCall, ToolResult, Usage};
pub use models::{Billing, Models};
pub use openai::OpenAi;
