//! A merge conflict, for the agent or person who resolves it.

use std::fmt;

/// A file in which an issue's branch and its base conflict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Its path, as [`shown_path`](crate::shown_path) writes it.
    pub path: String,
    /// What the two sides did.
    pub kind: ConflictKind,
}

/// The kinds of conflicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConflictKind {
    /// Both changed the same lines: the file has both versions between markers.
    Lines,
    /// The base deleted or moved what the branch changed: the file has the branch's version.
    GoneFromBase,
    /// The branch deleted or moved what the base changed: the file has the base's version.
    GoneFromBranch,
    /// It is not text: the file has the branch's version.
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
