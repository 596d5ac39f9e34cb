//! Hob's reactions, which tell people what becomes of what they said.

/// Hob's reaction to a comment that is meant for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaction {
    /// It was read and followed.
    Eyes,
    /// It cannot be followed.
    Confused,
}

impl Reaction {
    /// Its name in the REST API.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Eyes => "eyes",
            Self::Confused => "confused",
        }
    }

    /// Its name in GraphQL.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Eyes => "EYES",
            Self::Confused => "CONFUSED",
        }
    }
}
