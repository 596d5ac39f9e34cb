//! Where something was said, and the id that it has there: comments, reviews and comments on lines are numbered apart.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::CommentId;

/// Where something was said.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SaidIn {
    /// A comment on an issue or in a pull request's conversation.
    #[default]
    Comment,
    /// The words of a review.
    Review,
    /// A comment on a line of a diff.
    Line,
}

impl SaidIn {
    /// Whether it is a comment.
    pub fn is_comment(&self) -> bool {
        *self == Self::Comment
    }
}

/// Something that was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SaidId {
    /// Where.
    #[serde(rename = "in")]
    pub said_in: SaidIn,
    /// Its id there.
    pub id: CommentId,
}

impl From<CommentId> for SaidId {
    fn from(id: CommentId) -> Self {
        Self { said_in: SaidIn::Comment, id }
    }
}

impl fmt::Display for SaidId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.said_in {
            SaidIn::Comment => write!(out, "{}", self.id),
            SaidIn::Review => write!(out, "review {}", self.id),
            SaidIn::Line => write!(out, "line {}", self.id),
        }
    }
}
