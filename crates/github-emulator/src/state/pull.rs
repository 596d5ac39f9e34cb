//! The data of a pull request beyond an issue.

use super::{Edited, History, Original, Reaction};
use crate::names::{Login, Timestamp};
use serde::{Deserialize, Serialize};

/// The pull request's half of an issue.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in super::super) struct Pull {
    pub(in super::super) id: u64,
    /// The branch it comes from, without `refs/heads/`.
    pub(in super::super) head_ref: String,
    pub(in super::super) head_sha: String,
    /// The branch it goes to.
    pub(in super::super) base_ref: String,
    pub(in super::super) base_sha: String,
    pub(in super::super) draft: bool,
    pub(in super::super) maintainer_can_modify: bool,
    pub(in super::super) merged: Option<Merged>,
    pub(in super::super) reviews: Vec<Review>,
    pub(in super::super) review_comments: Vec<ReviewComment>,
    pub(in super::super) reviewers: Vec<Login>,
}

/// The merge of a pull request.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in super::super) struct Merged {
    pub(in super::super) at: Timestamp,
    pub(in super::super) by: Login,
    pub(in super::super) sha: String,
}

/// The verdict of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in super::super) enum ReviewState {
    Pending,
    Commented,
    Approved,
    ChangesRequested,
    Dismissed,
}

impl Pull {
    /// Whether `reader` can see a comment: those of a pending review only its author can.
    pub(in super::super) fn shows(&self, comment: &ReviewComment, reader: Option<&Login>) -> bool {
        let pending = self.reviews.iter().find(|review| Some(review.id) == comment.review);
        pending.is_none_or(|review| review.is_shown(reader))
    }
}

impl Review {
    /// Whether it can be seen by `reader`.
    pub(in super::super) fn is_shown(&self, reader: Option<&Login>) -> bool {
        self.state != ReviewState::Pending || reader.is_some_and(|reader| self.author.is(reader))
    }
}

impl ReviewState {
    /// GitHub's name of it.
    pub(in super::super) fn name(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::Commented => "COMMENTED",
            Self::Approved => "APPROVED",
            Self::ChangesRequested => "CHANGES_REQUESTED",
            Self::Dismissed => "DISMISSED",
        }
    }
}

/// A review.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in super::super) struct Review {
    pub(in super::super) id: u64,
    pub(in super::super) author: Login,
    pub(in super::super) body: String,
    pub(in super::super) state: ReviewState,
    pub(in super::super) commit: String,
    pub(in super::super) at: Timestamp,
    /// The id under which its submission is reported; its own if it was never pending.
    pub(in super::super) submission: u64,
    #[serde(default)]
    pub(in super::super) reactions: Vec<Reaction>,
}

/// A comment on a line of a pull request's diff.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in super::super) struct ReviewComment {
    pub(in super::super) id: u64,
    pub(in super::super) review: Option<u64>,
    pub(in super::super) author: Login,
    pub(in super::super) body: String,
    pub(in super::super) path: String,
    pub(in super::super) line: Option<u64>,
    /// `LEFT` for the old file, `RIGHT` for the new one.
    pub(in super::super) side: String,
    /// The first line and its side, if the comment is on several.
    pub(in super::super) start: Option<(u64, String)>,
    /// The line's position in the file's diff, from 1.
    pub(in super::super) position: Option<u64>,
    pub(in super::super) commit: String,
    pub(in super::super) hunk: String,
    pub(in super::super) reply_to: Option<u64>,
    pub(in super::super) created_at: Timestamp,
    pub(in super::super) updated_at: Timestamp,
    #[serde(default)]
    pub(in super::super) history: History,
    #[serde(default)]
    pub(in super::super) reactions: Vec<Reaction>,
    /// Why it is hidden, in GraphQL's words; `None` if it is not.
    #[serde(default)]
    pub(in super::super) minimized: Option<String>,
    /// The account that resolved the thread that this comment begins; `None` if it is open, or the comment is a reply.
    #[serde(default)]
    pub(in super::super) resolved_by: Option<Login>,
}

impl ReviewComment {
    /// Changes its text, and keeps the old one.
    pub(in super::super) fn edit(&mut self, ids: impl Fn() -> u64, editor: &Login, now: Timestamp, body: String) {
        let original = Original { author: &self.author, at: self.created_at, text: &self.body };
        if body != self.body {
            self.history.note(ids, original, Edited { editor, at: now, text: &body });
        }
        self.body = body;
        self.updated_at = now;
    }
}
