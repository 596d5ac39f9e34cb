//! The request in a model's reply.

use crate::model::ToolCall;

/// The content of a reply.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::native) enum Understood {
    /// Calls to make.
    Calls(Vec<ToolCall>),
    /// Words, and no call.
    Words,
    /// A call that cannot be parsed, with the reason.
    Unreadable(String),
}
