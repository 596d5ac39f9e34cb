//! What a look at something that the worker needs found.

use serde::Serialize;

/// How a look at something ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// As it should be.
    Ok,
    /// Hob works, but somebody should know.
    Note,
    /// Hob does not work.
    Bad,
}

/// What one look found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How it ended.
    pub health: Health,
    /// What was looked at, one or two words.
    pub about: &'static str,
    /// What was found, and what to do about it, one sentence.
    pub says: String,
}
