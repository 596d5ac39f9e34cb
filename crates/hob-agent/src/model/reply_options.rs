//! How a model's client asks for replies. The settings' names for it are in `models.rs`.

use hob_config::Effort;

/// What the settings say about a model's replies.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReplyOptions {
    /// Tokens of a reply at most, without its reasoning.
    pub(super) max_tokens: u32,
    pub(super) effort: Option<Effort>,
    /// Whether the model is shown images.
    pub(super) sees: bool,
}

impl ReplyOptions {
    /// Tokens of a reply at most, with the room that its reasoning takes.
    pub(super) fn with_reasoning(self) -> u32 {
        self.max_tokens + self.effort.map_or(0, Effort::room)
    }
}
