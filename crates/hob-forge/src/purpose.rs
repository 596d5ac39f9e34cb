//! The purpose of a call: its words in messages, and the permission that the token needs.

use std::fmt;

/// A permission of a token, as GitHub's settings name it.
/// <https://docs.github.com/rest/authentication/permissions-required-for-fine-grained-personal-access-tokens>
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TokenPermission {
    /// To read a repository's details and the permissions in it.
    MetadataRead,
    /// To read files, commits, branches and refs.
    ContentsRead,
    /// To write commits and refs.
    ContentsWrite,
    /// To read issues, their comments, events and labels.
    IssuesRead,
    /// To write comments and labels.
    IssuesWrite,
    /// To read pull requests.
    PullRequestsRead,
    /// To open and edit pull requests.
    PullRequestsWrite,
    /// To read check runs.
    ChecksRead,
    /// To read commit statuses.
    StatusesRead,
    /// To set commit statuses.
    StatusesWrite,
    /// To read jobs of workflows and their logs.
    ActionsRead,
    /// To run jobs of workflows again.
    ActionsWrite,
}

impl TokenPermission {
    /// A call that needs this permission to `what`.
    pub(super) fn to(self, what: &str) -> Purpose<'_> {
        Purpose { what, needs: Some(self), share: Share::Common, writes: 1 }
    }

    /// What to do if a token lacks it.
    pub(super) fn advice(self) -> String {
        permission_advice(&format!("`{self}`"))
    }
}

impl fmt::Display for TokenPermission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MetadataRead => "metadata: read",
            Self::ContentsRead => "contents: read",
            Self::ContentsWrite => "contents: write",
            Self::IssuesRead => "issues: read",
            Self::IssuesWrite => "issues: write",
            Self::PullRequestsRead => "pull requests: read",
            Self::PullRequestsWrite => "pull requests: write",
            Self::ChecksRead => "checks: read",
            Self::StatusesRead => "commit statuses: read",
            Self::StatusesWrite => "commit statuses: write",
            Self::ActionsRead => "actions: read",
            Self::ActionsWrite => "actions: write",
        })
    }
}

/// What to do if the token lacks a permission, which is named in backquotes.
pub(super) fn permission_advice(named: &str) -> String {
    format!("give it the permission {named}")
}

/// The purpose of a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Purpose<'a> {
    /// Completes "asked to …" in messages.
    pub(super) what: &'a str,
    /// The permission that it needs. `None` if every token may make it.
    pub(super) needs: Option<TokenPermission>,
    /// The share of the writes, and of the points of reads, that it may use.
    pub(super) share: Share,
    /// As how many writes it counts.
    pub(super) writes: usize,
}

/// A share of the writes of a minute or an hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Share {
    /// All writes that are not reserved for leases.
    Common,
    /// All writes: for calls that keep a lease, and for what its holder records in the ledger.
    Lease,
}

impl<'a> Purpose<'a> {
    /// A call that every token may make.
    pub(super) fn without_permission(what: &'a str) -> Self {
        Self { what, needs: None, share: Share::Common, writes: 1 }
    }

    /// The same call with this share of the writes.
    pub(super) fn with(self, share: Share) -> Self {
        Self { share, ..self }
    }

    /// The same call, which counts as this many writes.
    pub(super) fn counting(self, writes: usize) -> Self {
        Self { writes, ..self }
    }
}
