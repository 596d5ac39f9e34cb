//! The events of an issue or pull request, in order.

use crate::{
    merge_queue::RemovalReason,
    names::{Login, Timestamp},
};
use serde::{Deserialize, Serialize};

/// One event.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in super::super) struct Event {
    pub(in super::super) id: u64,
    pub(in super::super) actor: Login,
    pub(in super::super) at: Timestamp,
    pub(in super::super) kind: EventKind,
}

/// The kind of an event.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in super::super) enum EventKind {
    Labeled { name: String, color: String },
    Unlabeled { name: String, color: String },
    Assigned { assignee: Login },
    Unassigned { assignee: Login },
    Closed { commit: Option<String>, reason: Option<super::StateReason> },
    Reopened,
    Renamed { from: String, to: String },
    Locked { reason: Option<String> },
    Unlocked,
    Merged { commit: String },
    HeadRefDeleted,
    HeadRefRestored,
    HeadRefForcePushed { after: String },
    BaseRefChanged,
    ReviewRequested { reviewer: Login },
    ReviewRequestRemoved { reviewer: Login },
    ReviewDismissed { review: u64, state: super::ReviewState, message: String },
    CrossReferenced { source: u64 },
    BlockedByAdded { blocker: u64 },
    BlockedByRemoved { blocker: u64 },
    SubIssueAdded { child: u64 },
    SubIssueRemoved { child: u64 },
    AddedToMergeQueue,
    RemovedFromMergeQueue { reason: RemovalReason },
}

impl EventKind {
    /// GitHub's name of it.
    pub(in super::super) fn name(&self) -> &'static str {
        match self {
            Self::Labeled { .. } => "labeled",
            Self::Unlabeled { .. } => "unlabeled",
            Self::Assigned { .. } => "assigned",
            Self::Unassigned { .. } => "unassigned",
            Self::Closed { .. } => "closed",
            Self::Reopened => "reopened",
            Self::Renamed { .. } => "renamed",
            Self::Locked { .. } => "locked",
            Self::Unlocked => "unlocked",
            Self::Merged { .. } => "merged",
            Self::HeadRefDeleted => "head_ref_deleted",
            Self::HeadRefRestored => "head_ref_restored",
            Self::HeadRefForcePushed { .. } => "head_ref_force_pushed",
            Self::BaseRefChanged => "base_ref_changed",
            Self::ReviewRequested { .. } => "review_requested",
            Self::ReviewRequestRemoved { .. } => "review_request_removed",
            Self::ReviewDismissed { .. } => "review_dismissed",
            Self::CrossReferenced { .. } => "cross-referenced",
            Self::BlockedByAdded { .. } => "blocked_by_added",
            Self::BlockedByRemoved { .. } => "blocked_by_removed",
            Self::SubIssueAdded { .. } => "sub_issue_added",
            Self::SubIssueRemoved { .. } => "sub_issue_removed",
            Self::AddedToMergeQueue => "added_to_merge_queue",
            Self::RemovedFromMergeQueue { .. } => "removed_from_merge_queue",
        }
    }
}
