//! The ways to merge a pull request.

use serde::{Deserialize, Serialize};

/// How a pull request is merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum MergeMethod {
    Merge,
    Squash,
    Rebase,
}

impl MergeMethod {
    /// The method of this name, in the REST API's words.
    pub(super) fn named(name: &str) -> Option<Self> {
        [Self::Merge, Self::Squash, Self::Rebase].into_iter().find(|method| method.name() == name)
    }

    /// The REST API's name of it; GraphQL's is in capitals.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::Squash => "squash",
            Self::Rebase => "rebase",
        }
    }
}
