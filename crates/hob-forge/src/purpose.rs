//! What a call is for: its words in messages, and the permission that the token needs for it.

use std::fmt;

/// A permission of a token, as GitHub's settings name it.
/// <https://docs.github.com/rest/authentication/permissions-required-for-fine-grained-personal-access-tokens>
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TokenPermission {
    /// To read what a repository is and who may do what in it.
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
    /// To read jobs of workflows and their logs.
    ActionsRead,
    /// To let jobs of workflows run again.
    ActionsWrite,
}

impl TokenPermission {
    /// A call that needs this permission to `what`.
    pub(super) fn to(self, what: &str) -> Purpose<'_> {
        Purpose { what, needs: Some(self), share: Share::Common }
    }

    /// What to do where a token lacks it.
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
            Self::ActionsRead => "actions: read",
            Self::ActionsWrite => "actions: write",
        })
    }
}

/// What to do where the token lacks a permission, which is named in backquotes.
pub(super) fn permission_advice(named: &str) -> String {
    format!("give it the permission {named}")
}

/// What a call is for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Purpose<'a> {
    /// Completes "asked to …" in messages.
    pub(super) what: &'a str,
    /// The permission it needs; none: every token may.
    pub(super) needs: Option<TokenPermission>,
    /// Which part of the writes it may take.
    pub(super) share: Share,
}

/// A part of the writes of a minute or an hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Share {
    /// What is left beside the part of the leases.
    Common,
    /// All of it: what keeps a lease, and what its holder notes in the ledger.
    Lease,
}

impl<'a> Purpose<'a> {
    /// A call that every token may make.
    pub(super) fn without_permission(what: &'a str) -> Self {
        Self { what, needs: None, share: Share::Common }
    }

    /// The same call, with this part of the writes.
    pub(super) fn with(self, share: Share) -> Self {
        Self { share, ..self }
    }
}
