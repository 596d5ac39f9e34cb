//! `[profiles]`: where profiles are looked for, and what those of a repository may choose.

use serde::{Deserialize, Serialize};

/// The section `[profiles]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileSettings {
    /// A folder of profiles; empty: none.
    pub folder: String,
    /// The models that a repository's profiles may choose.
    pub models: Vec<String>,
    /// How many files are read at most, beside Hob's own.
    pub max: usize,
}
