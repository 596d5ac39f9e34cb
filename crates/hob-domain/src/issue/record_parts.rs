//! The parts of the ledger's record: each is one fact, so that no field of it can contradict another.

use serde::{Deserialize, Serialize};

use crate::{CommentId, Generation, Nonce, Outage, Timestamp, WorkerId};

/// Who may write, and until when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The worker.
    pub worker: WorkerId,
    /// Drawn for each acquisition; it tells two processes with the same name apart.
    pub nonce: Nonce,
    /// When it ends without a renewal, by the forge's clock.
    pub until: Timestamp,
}

impl Lease {
    /// Whether both are of one acquisition, however often it was renewed.
    pub fn is_of(&self, other: &Self) -> bool {
        self.worker == other.worker && self.nonce == other.nonce
    }
}

/// Since when an issue is in its state. Assigned and InProgress count as one, and each attempt begins anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Since {
    /// When, by the forge's clock.
    pub at: Timestamp,
    /// Under which lease. Two changes may fall into one second of the forge's clock, but not under one lease.
    pub generation: Generation,
}

/// How often Hob tried.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Attempts {
    /// Attempts since a person last answered.
    pub now: u32,
    /// Attempts over the whole life.
    pub ever: u32,
}

impl Attempts {
    /// One more.
    pub(crate) fn begin(&mut self) {
        (self.now, self.ever) = (self.now + 1, self.ever + 1);
    }

    /// The current one does not count.
    pub(crate) fn uncount(&mut self) {
        (self.now, self.ever) = (self.now.saturating_sub(1), self.ever.saturating_sub(1));
    }
}

/// What went wrong last. The parts end at different times: a wait with the next attempt, the words with success or an
/// answer, the mark with other work.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Failure {
    /// Why the last attempt failed, or what the issue waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// No attempt begins before this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// One hash of how the last attempt failed and on what work; the same hash again means no progress.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
    /// The service that failed the last attempts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outage: Option<Outage>,
}

impl Failure {
    /// Whether nothing went wrong.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The comments on the issue that are Hob's and that it edits.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OwnComments {
    /// The only status comment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<CommentId>,
    /// The report of the investigation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<CommentId>,
}

impl OwnComments {
    /// Whether there are none yet.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
