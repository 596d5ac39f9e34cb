//! The words of people that sent finished work of one attempt back to its agent.

use hob_domain::{ChangeText, Diff};

/// The words that sent finished work back to the agent.
#[derive(Debug, Default)]
pub(super) struct Hearings {
    /// How often that happened.
    pub(super) count: u32,
    /// The work that went back last, and what its author said of it.
    pub(super) sent_back: Option<(Diff, ChangeText)>,
}
