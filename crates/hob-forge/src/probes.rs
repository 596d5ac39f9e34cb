//! Tests whether the token has a permission, which only an attempt can tell.
//!
//! Each attempt is a write that every forge refuses because of its content: an issue without a title, a pull request
//! without branches, a status of a commit that is not there. A forge checks the permission before the content, so a 422 proves the permission.

use hob_domain::PROOF_CONTEXT;
use http::Method;
use serde_json::json;

use crate::{
    Forge, ForgeError,
    TokenPermission::{IssuesWrite, PullRequestsWrite, StatusesWrite},
    purpose::Purpose,
};

impl Forge {
    /// Tests whether the token may write to issues.
    ///
    /// # Errors
    /// [`ForgeError::Forbidden`] if it may not.
    pub async fn try_issues(&self) -> Result<(), ForgeError> {
        self.refused_for_its_content("/issues", &json!({ "title": "" }), IssuesWrite.to("write to issues")).await
    }

    /// Tests whether the token may open pull requests.
    ///
    /// # Errors
    /// [`ForgeError::Forbidden`] if it may not.
    pub async fn try_pulls(&self) -> Result<(), ForgeError> {
        let nothing = json!({ "title": "", "head": "", "base": "" });
        self.refused_for_its_content("/pulls", &nothing, PullRequestsWrite.to("open pull requests")).await
    }

    /// Tests whether the token may set commit statuses, on a commit that is not there.
    ///
    /// # Errors
    /// [`ForgeError::Forbidden`] if it may not.
    pub async fn try_statuses(&self) -> Result<(), ForgeError> {
        let path = format!("/statuses/{}", "0".repeat(40));
        let nothing = json!({ "state": "pending", "context": PROOF_CONTEXT });
        self.refused_for_its_content(&path, &nothing, StatusesWrite.to("set a commit status")).await
    }

    async fn refused_for_its_content(
        &self,
        path: &str,
        body: &serde_json::Value,
        purpose: Purpose<'_>,
    ) -> Result<(), ForgeError> {
        match self.write::<serde_json::Value>(Method::POST, &self.path(path), body, purpose).await {
            Ok(_) | Err(ForgeError::Refused { status: 422, .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
