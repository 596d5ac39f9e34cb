//! The data of a reaction.

use crate::names::{Login, Timestamp};
use serde::{Deserialize, Serialize};

/// A reaction to an issue, a comment, a review, or a comment on a line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in super::super) struct Reaction {
    pub(in super::super) id: u64,
    pub(in super::super) author: Login,
    pub(in super::super) content: String,
    pub(in super::super) at: Timestamp,
}
