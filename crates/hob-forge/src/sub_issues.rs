//! The issues that an issue is split into: opened under its lease, and linked to it and to each other.

use hob_domain::{IssueNumber, Login, SUB_ISSUE_MARK};
use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    Forge, ForgeError, HeldLease,
    TokenPermission::{IssuesRead, IssuesWrite},
    pages::oldest,
    repository::encoded,
};

/// An issue that Hob opened.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OpenedIssue {
    /// The id that links use.
    id: u64,
    /// Its number.
    pub number: IssueNumber,
    #[serde(default)]
    body: Option<String>,
}

impl OpenedIssue {
    /// Whether its body begins with this mark.
    pub fn has_mark(&self, mark: &str) -> bool {
        self.body.as_deref().is_some_and(|body| body.starts_with(mark))
    }
}

/// The issues that one is split into.
#[derive(Debug, Clone, Copy)]
pub struct SubIssues<'a> {
    pub(super) forge: &'a Forge,
}

impl SubIssues<'_> {
    /// Opens an issue. Its body begins with [`SUB_ISSUE_MARK`]: no other issue is opened.
    ///
    /// # Errors
    /// [`ForgeError`] of the write; if its outcome is unknown, look before you write again.
    pub async fn open(self, lease: &HeldLease, title: &str, body: &str) -> Result<OpenedIssue, ForgeError> {
        let body = json!({ "title": title, "body": body });
        let purpose = IssuesWrite.to("open an issue");
        self.forge.create_held(lease, Method::POST, &self.forge.path("/issues"), &body, purpose).await
    }

    /// The newest issues of this kind that the account opened, for any parent.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn opened_by(self, own: &Login) -> Result<Vec<OpenedIssue>, ForgeError> {
        // If there are more than are read, these are the newest, which come first in the forge's list.
        let purpose = IssuesRead.to("look for issues that were opened");
        let found = oldest::<OpenedIssue>(self.forge.connection(), &self.forge.path(&opened_by(own)), purpose).await?;
        Ok(found.entries.into_iter().filter(|issue| issue.has_mark(SUB_ISSUE_MARK)).collect())
    }

    /// Makes `child` a sub-issue of the lease's issue, unless it already is.
    ///
    /// # Errors
    /// [`ForgeError`] of a call.
    pub async fn adopt(self, lease: &HeldLease, child: &OpenedIssue) -> Result<(), ForgeError> {
        let path = format!("/issues/{}/sub_issues", lease.issue());
        self.relate(lease, &path, child, "sub_issue_id", "add a sub-issue").await
    }

    /// Records that `issue` waits for `other`, unless that is already recorded.
    ///
    /// # Errors
    /// [`ForgeError`] of a call.
    pub async fn wait_for(self, lease: &HeldLease, issue: IssueNumber, other: &OpenedIssue) -> Result<(), ForgeError> {
        let path = format!("/issues/{issue}/dependencies/blocked_by");
        self.relate(lease, &path, other, "issue_id", "say what an issue waits for").await
    }

    /// Adds the issue to the list at `path`. The forge refuses duplicates and entries beyond its limit; the list shows
    /// which it was.
    async fn relate(
        self,
        lease: &HeldLease,
        path: &str,
        issue: &OpenedIssue,
        member: &str,
        what: &str,
    ) -> Result<(), ForgeError> {
        let (whole, body) = (self.forge.path(path), json!({ member: issue.id }));
        let written =
            self.forge.write_held::<serde_json::Value>(lease, Method::POST, &whole, &body, IssuesWrite.to(what)).await;
        match written {
            Err(refused @ ForgeError::Refused { .. }) => {
                let listed = self.list(&format!("{path}?per_page=100"), what).await?;
                if listed.iter().any(|one| one.id == issue.id) { Ok(()) } else { Err(refused) }
            }
            written => written.map(drop),
        }
    }

    async fn list(self, path: &str, what: &str) -> Result<Vec<OpenedIssue>, ForgeError> {
        self.forge.get_all(&self.forge.path(path), IssuesRead.to(what), "continue in a new issue").await
    }
}

/// The list of the issues that the account opened, below the repository's path, the newest first.
pub(super) fn opened_by(own: &Login) -> String {
    format!("/issues?state=all&creator={}&per_page=100", encoded(own.as_str()))
}
