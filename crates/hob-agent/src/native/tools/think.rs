//! `think`: a thought of a model that was trained on such a tool. It is not shown: a reply has room for thoughts.

use serde::Deserialize;

/// The arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::native) struct Think {
    /// The thought.
    pub(super) thought: String,
}

impl Think {
    /// The answer.
    pub(super) fn answer() -> String {
        "noted".to_owned()
    }
}
