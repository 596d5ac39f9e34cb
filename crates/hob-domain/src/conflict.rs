//! A merge conflict, as an agent or a person who resolves it has to know it.

use std::fmt;

/// A file that an issue's branch and its base changed in ways that do not go together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Where, as [`shown_path`](crate::shown_path) writes it.
    pub path: String,
    /// What the two sides did.
    pub kind: ConflictKind,
}

/// What a conflict is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConflictKind {
    /// Both changed the same lines: the file has both versions between markers.
    Lines,
    /// The base deleted or moved what the branch changed: the file has the branch's version.
    GoneFromBase,
    /// The branch deleted or moved what the base changed: the file has the base's version.
    GoneFromBranch,
    /// It is no text: the file has the branch's version.
    Binary,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            ConflictKind::Lines => "both changed the same lines; both versions are in it, between markers",
            ConflictKind::GoneFromBase => "the base deleted or moved it; the branch's version is there",
            ConflictKind::GoneFromBranch => "the branch deleted or moved it; the base's version is there",
            ConflictKind::Binary => "both changed it, and it is not text; the branch's version is there",
        };
        write!(f, "`{}`: {what}", self.path)
    }
}
