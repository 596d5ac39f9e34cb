//! The result of checking something that the worker needs.

use serde::Serialize;

/// The outcome of one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// As it should be.
    Ok,
    /// Hob works, but the operator should know.
    Note,
    /// Hob does not work.
    Bad,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The outcome.
    pub health: Health,
    /// The thing that was checked, one or two words.
    pub about: &'static str,
    /// The result and its remedy, one sentence.
    pub says: String,
}
