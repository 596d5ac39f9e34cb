//! Why a pull request left the merge queue, which does not exist here: a test says that it did.

use serde::{Deserialize, Serialize};

/// Why a pull request left the merge queue.
/// <https://docs.github.com/webhooks/webhook-events-and-payloads?actionType=dequeued#pull_request>
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RemovalReason {
    /// GitHub does not say.
    UnknownRemovalReason,
    /// A person removed it.
    #[default]
    Manual,
    /// It was merged.
    Merge,
    /// It conflicts with an earlier entry.
    MergeConflict,
    /// A required check failed.
    CiFailure,
    /// A required check took too long.
    CiTimeout,
    /// It had been merged before.
    AlreadyMerged,
    /// The whole queue was cleared.
    QueueCleared,
    /// The merge of its group was taken back.
    RollBack,
    /// The protection of the branch forbids it.
    BranchProtections,
    /// Its merge has no valid tree.
    GitTreeInvalid,
    /// Its merge is not a valid commit.
    InvalidMergeCommit,
}

impl RemovalReason {
    /// GitHub's name of it.
    pub fn name(self) -> &'static str {
        match self {
            Self::UnknownRemovalReason => "UNKNOWN_REMOVAL_REASON",
            Self::Manual => "MANUAL",
            Self::Merge => "MERGE",
            Self::MergeConflict => "MERGE_CONFLICT",
            Self::CiFailure => "CI_FAILURE",
            Self::CiTimeout => "CI_TIMEOUT",
            Self::AlreadyMerged => "ALREADY_MERGED",
            Self::QueueCleared => "QUEUE_CLEARED",
            Self::RollBack => "ROLL_BACK",
            Self::BranchProtections => "BRANCH_PROTECTIONS",
            Self::GitTreeInvalid => "GIT_TREE_INVALID",
            Self::InvalidMergeCommit => "INVALID_MERGE_COMMIT",
        }
    }
}
