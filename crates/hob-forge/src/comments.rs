//! Comments: read for answers, and written for the status comment.

use chrono::SecondsFormat;
use hob_domain::{Actor, CommentId, IssueNumber, Note, OWN_MARK, Timestamp};
use hob_text::authored;
use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    Forge, ForgeError, HeldLease, Reaction,
    TokenPermission::{IssuesRead, IssuesWrite},
    issues::UserWire,
};

/// Whether a comment or a review was edited; only GraphQL knows.
pub(super) const EDITED: &str = "query($id: ID!) { node(id: $id) { ... on Comment { lastEditedAt } } }";

/// A comment.
#[derive(Debug, Clone)]
pub struct Comment {
    /// Its id.
    pub id: CommentId,
    /// Its author. `None` if the account is gone.
    pub author: Option<Actor>,
    /// What its author wrote of its Markdown, without quotations and mail. Of a comment with Hob's own mark, all of it.
    pub body: String,
    /// When it was written.
    pub created_at: Timestamp,
    /// Whether it was changed afterwards.
    pub edited: Edited,
}

/// Whether a comment was edited, as far as the answer with the comment shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edited {
    /// Not edited.
    No,
    /// Edited.
    Yes,
    /// Its times differ, which GitHub allows without an edit (`docs/design/github.md`, `comment.edited`). This is its id in
    /// GraphQL.
    Unclear(String),
}

impl Edited {
    /// As its times show, of the comment that is `node` in GraphQL.
    pub(super) fn by_times(created_at: Timestamp, updated_at: Option<Timestamp>, node: &str) -> Self {
        let differs = updated_at.is_some_and(|updated| updated > created_at);
        if differs { Self::Unclear(node.to_owned()) } else { Self::No }
    }
}

#[derive(Serialize, Deserialize)]
struct CommentWire {
    id: CommentId,
    user: Option<UserWire>,
    body: Option<String>,
    created_at: Timestamp,
    updated_at: Option<Timestamp>,
    #[serde(default)]
    node_id: String,
}

/// What an edit tells of the comment.
#[derive(Deserialize)]
struct NodeWire {
    #[serde(default)]
    node_id: String,
}

impl From<CommentWire> for Comment {
    fn from(wire: CommentWire) -> Self {
        Self {
            edited: Edited::by_times(wire.created_at, wire.updated_at, &wire.node_id),
            id: wire.id,
            author: wire.user.map(Actor::from),
            body: said(wire.body.unwrap_or_default()),
            created_at: wire.created_at,
        }
    }
}

/// What the author of a comment or a review wrote. This is the one place where texts of people come in, so that nobody
/// reads what they quote or answer by mail as their words.
pub(crate) fn said(markdown: String) -> String {
    if markdown.starts_with(OWN_MARK) { markdown } else { authored(&markdown) }
}

/// The comments on a repository's issues.
#[derive(Debug, Clone, Copy)]
pub struct Comments<'a> {
    pub(super) forge: &'a Forge,
}

impl Comments<'_> {
    /// The comments on an issue, oldest first.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn of(self, issue: IssueNumber) -> Result<Vec<Comment>, ForgeError> {
        self.list(issue, "").await
    }

    /// The comments on an issue that changed at `time` or later, oldest first.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn since(self, issue: IssueNumber, time: Timestamp) -> Result<Vec<Comment>, ForgeError> {
        self.list(issue, &format!("&since={}", time.to_rfc3339_opts(SecondsFormat::Secs, true))).await
    }

    async fn list(self, issue: IssueNumber, filter: &str) -> Result<Vec<Comment>, ForgeError> {
        let path = self.forge.path(&format!("/issues/{issue}/comments?per_page=100{filter}"));
        let purpose = IssuesRead.to("read the issue's comments");
        let found: Vec<CommentWire> = self.forge.get_all(&path, purpose, "continue in a new issue").await?;
        Ok(found.into_iter().map(Comment::from).collect())
    }

    /// One comment. `None` if it was deleted.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn read(self, id: CommentId) -> Result<Option<Comment>, ForgeError> {
        let path = self.forge.path(&format!("/issues/comments/{id}"));
        match self.forge.connection().get::<CommentWire>(&path, IssuesRead.to("read the status comment")).await {
            Ok(found) => Ok(Some(found.into())),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Learns a comment's id in GraphQL, which a request that shows a state needs. If it cannot be read, that is shown over REST.
    pub(super) async fn learn_node(self, lease: &HeldLease, id: CommentId) {
        let path = self.forge.path(&format!("/issues/comments/{id}"));
        match self.forge.connection().get::<CommentWire>(&path, IssuesRead.to("read the status comment")).await {
            Ok(found) => lease.know_comment(id, found.node_id),
            Err(error) => tracing::debug!(%error, "the id of comment {id} in GraphQL is not known: {error}"),
        }
    }

    /// Whether a comment or a review was edited. If GraphQL does not say, it counts as edited where that is not clear.
    ///
    /// # Errors
    /// [`ForgeError`] of the query.
    pub async fn is_edited(self, edited: &Edited) -> Result<bool, ForgeError> {
        let id = match edited {
            Edited::No => return Ok(false),
            Edited::Yes => return Ok(true),
            Edited::Unclear(id) => id,
        };
        let purpose = IssuesRead.to("read whether a comment was edited");
        match self.forge.connection().query(EDITED, json!({ "id": id }), purpose).await {
            // A node that is null, or of another type, says nothing.
            Ok(answered) => Ok(answered.data["node"].get("lastEditedAt").is_none_or(|at| !at.is_null())),
            Err(error) if error.is_not_found() => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Writes a comment on the lease's issue.
    ///
    /// # Errors
    /// [`ForgeError`] of the write; if its outcome is unknown, look before you write again.
    pub async fn create(self, lease: &HeldLease, body: &str) -> Result<CommentId, ForgeError> {
        self.create_on(lease, lease.issue(), body).await
    }

    /// Writes a comment on the issue, or on the pull request of that number.
    ///
    /// # Errors
    /// As for [`create`](Self::create).
    pub async fn create_on(self, lease: &HeldLease, on: IssueNumber, body: &str) -> Result<CommentId, ForgeError> {
        let path = self.forge.path(&format!("/issues/{on}/comments"));
        let what = format!("comment on issue {on}");
        let made: CommentWire =
            self.forge.create_held(lease, Method::POST, &path, &json!({ "body": body }), IssuesWrite.to(&what)).await?;
        if let Some(writer) = made.user {
            // The first one shows whose token this is.
            self.forge.connection().writer.get_or_init(|| Actor::from(writer).login);
        }
        if on == lease.issue() {
            lease.know_comment(made.id, made.node_id);
            lease.note(Note::Commented).await;
        }
        Ok(made.id)
    }

    /// Reacts to a comment on the lease's issue.
    ///
    /// # Errors
    /// [`ForgeError`] of the write.
    pub async fn react(self, lease: &HeldLease, id: CommentId, reaction: Reaction) -> Result<(), ForgeError> {
        let path = self.forge.path(&format!("/issues/comments/{id}/reactions"));
        let what = format!("react to a comment on issue {}", lease.issue());
        let body = json!({ "content": reaction.as_str() });
        self.forge.write_held::<serde_json::Value>(lease, Method::POST, &path, &body, IssuesWrite.to(&what)).await?;
        Ok(())
    }

    /// Replaces the text of a comment.
    ///
    /// # Errors
    /// [`ForgeError::NotFound`] if it was deleted.
    pub async fn edit(self, lease: &HeldLease, id: CommentId, body: &str) -> Result<(), ForgeError> {
        let path = self.forge.path(&format!("/issues/comments/{id}"));
        let what = format!("edit a comment on issue {}", lease.issue());
        let (body, purpose) = (json!({ "body": body }), IssuesWrite.to(&what));
        let NodeWire { node_id } = self.forge.write_held(lease, Method::PATCH, &path, &body, purpose).await?;
        lease.know_comment(id, node_id);
        Ok(())
    }
}
