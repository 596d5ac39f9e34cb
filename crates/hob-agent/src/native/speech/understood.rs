//! What a reply of a model asks for.

use crate::model::ToolCall;

/// What a reply says.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::native) enum Understood {
    /// What is to be done.
    Calls(Vec<ToolCall>),
    /// Words, and no call.
    Words,
    /// Something that is meant as a call and cannot be read, with why.
    Unreadable(String),
}
