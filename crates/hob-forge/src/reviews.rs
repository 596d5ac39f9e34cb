//! What people say on a pull request, in reviews and in comments on lines of its diff, and Hob's answers.

use hob_domain::{Actor, OWN_MARK, PullNumber, Reviewers, Timestamp};
use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    Edited, Forge, ForgeError, HeldLease, Reaction,
    TokenPermission::{PullRequestsRead, PullRequestsWrite},
    comments::said,
    issues::UserWire,
    mutations::{add_reaction, numbered},
};

/// A review's verdict on the whole change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewVerdict {
    /// It approves the change.
    Approved,
    /// It requests changes.
    ChangesRequested,
    /// It is a comment.
    Commented,
    /// It was dismissed, or is of a kind that is not known.
    Other,
}

/// A review that was submitted.
#[derive(Debug, Clone)]
pub struct Review {
    /// Its id.
    pub id: u64,
    /// Its author. `None` if the account is gone.
    pub author: Option<Actor>,
    /// Its verdict.
    pub verdict: ReviewVerdict,
    /// What its author wrote of its Markdown.
    pub body: String,
    /// When it was submitted.
    pub submitted_at: Timestamp,
    /// Its id for GraphQL.
    pub node: String,
}

impl Review {
    /// Whether it asks for work: it requests changes, or has words and no verdict. The review around a comment on a line
    /// has no words.
    pub fn asks_for_work(&self) -> bool {
        match self.verdict {
            ReviewVerdict::ChangesRequested => true,
            ReviewVerdict::Commented => has_words(&self.body),
            ReviewVerdict::Approved | ReviewVerdict::Other => false,
        }
    }

    /// Whether it may answer a question: it asks for work, or approves with words.
    pub fn may_answer(&self) -> bool {
        self.asks_for_work() || self.verdict == ReviewVerdict::Approved && has_words(&self.body)
    }

    /// Whether it was edited: its times do not show that.
    pub fn edited(&self) -> Edited {
        Edited::Unclear(self.node.clone())
    }
}

/// Whether a review has words of its author's, and is not Hob's.
pub(crate) fn has_words(body: &str) -> bool {
    !body.trim().is_empty() && !body.starts_with(OWN_MARK)
}

/// A comment on a line of the diff.
#[derive(Debug, Clone)]
pub struct LineRemark {
    /// Its id.
    pub id: u64,
    /// The first comment of its thread. `None` if it is the first.
    pub thread: Option<u64>,
    /// Its author. `None` if the account is gone.
    pub author: Option<Actor>,
    /// What its author wrote of its Markdown.
    pub body: String,
    /// The file.
    pub path: String,
    /// The line in the head. `None` if the head no longer has it.
    pub line: Option<u64>,
    /// The lines of the diff around it.
    pub hunk: String,
    /// When it was written.
    pub created_at: Timestamp,
    /// Whether it was changed afterwards.
    pub edited: Edited,
    /// Its id for GraphQL.
    pub node: String,
}

impl LineRemark {
    /// The first comment of its thread.
    pub fn first(&self) -> u64 {
        self.thread.unwrap_or(self.id)
    }
}

#[derive(Serialize, Deserialize)]
struct ReviewWire {
    id: u64,
    #[serde(default)]
    node_id: String,
    user: Option<UserWire>,
    body: Option<String>,
    #[serde(default)]
    state: String,
    /// Absent while the review is pending; then only its author sees it.
    submitted_at: Option<Timestamp>,
}

#[derive(Serialize, Deserialize)]
struct RemarkWire {
    id: u64,
    #[serde(default)]
    node_id: String,
    in_reply_to_id: Option<u64>,
    user: Option<UserWire>,
    body: Option<String>,
    #[serde(default)]
    path: String,
    line: Option<u64>,
    #[serde(default)]
    diff_hunk: String,
    created_at: Timestamp,
    updated_at: Option<Timestamp>,
}

impl From<RemarkWire> for LineRemark {
    fn from(wire: RemarkWire) -> Self {
        Self {
            id: wire.id,
            thread: wire.in_reply_to_id,
            author: wire.user.map(Actor::from),
            body: said(wire.body.unwrap_or_default()),
            path: wire.path,
            line: wire.line,
            hunk: wire.diff_hunk,
            created_at: wire.created_at,
            edited: Edited::by_times(wire.created_at, wire.updated_at, &wire.node_id),
            node: wire.node_id,
        }
    }
}

/// The reviews and comments of one pull request.
#[derive(Debug, Clone, Copy)]
pub struct Reviews<'a> {
    pub(super) forge: &'a Forge,
    pub(super) pull: PullNumber,
}

impl Reviews<'_> {
    /// The submitted reviews, oldest first.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn all(self) -> Result<Vec<Review>, ForgeError> {
        let path = self.forge.path(&format!("/pulls/{}/reviews?per_page=100", self.pull));
        let purpose = PullRequestsRead.to("read the reviews");
        let found: Vec<ReviewWire> = self.forge.get_all(&path, purpose, "continue in a new pull request").await?;
        let submitted = |wire: ReviewWire| {
            let verdict = match wire.state.as_str() {
                "APPROVED" => ReviewVerdict::Approved,
                "CHANGES_REQUESTED" => ReviewVerdict::ChangesRequested,
                "COMMENTED" => ReviewVerdict::Commented,
                _dismissed_or_new => ReviewVerdict::Other,
            };
            Some(Review {
                id: wire.id,
                author: wire.user.map(Actor::from),
                verdict,
                body: said(wire.body.unwrap_or_default()),
                submitted_at: wire.submitted_at?,
                node: wire.node_id,
            })
        };
        Ok(found.into_iter().filter_map(submitted).collect())
    }

    /// The comments on lines, oldest first.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn remarks(self) -> Result<Vec<LineRemark>, ForgeError> {
        let path = self.forge.path(&format!("/pulls/{}/comments?per_page=100", self.pull));
        let purpose = PullRequestsRead.to("read the comments on lines");
        let found: Vec<RemarkWire> = self.forge.get_all(&path, purpose, "continue in a new pull request").await?;
        Ok(found.into_iter().map(LineRemark::from).collect())
    }

    /// Replies in the thread that the comment `first` began.
    ///
    /// # Errors
    /// [`ForgeError`] of the write; if its outcome is unknown, look before you write again.
    pub async fn reply(self, lease: &HeldLease, first: u64, body: &str) -> Result<(), ForgeError> {
        let path = self.forge.path(&format!("/pulls/{}/comments/{first}/replies", self.pull));
        let purpose = PullRequestsWrite.to("reply in a thread");
        self.forge.create_held::<Value>(lease, Method::POST, &path, &json!({ "body": body }), purpose).await?;
        Ok(())
    }

    /// Reacts to reviews and to comments on lines, by their ids for GraphQL. A second reaction is the first.
    ///
    /// # Errors
    /// [`ForgeError`] of the write; [`ForgeError::Refused`] if some could not be reacted to.
    pub async fn react(self, lease: &HeldLease, nodes: &[String], reaction: Reaction) -> Result<(), ForgeError> {
        let purpose = PullRequestsWrite.to("react to reviews");
        self.forge.mutate(lease, &add_reaction(reaction, nodes.len()), numbered("s", nodes).into(), purpose).await
    }

    /// Requests reviews from these people, including those who have already given one.
    ///
    /// # Errors
    /// [`ForgeError`] of the write.
    pub async fn ask(self, lease: &HeldLease, reviewers: &Reviewers) -> Result<(), ForgeError> {
        let path = self.forge.path(&format!("/pulls/{}/requested_reviewers", self.pull));
        let purpose = PullRequestsWrite.to("ask for a review");
        let body = match reviewers.teams.is_empty() {
            true => json!({ "reviewers": reviewers.users }),
            false => json!({ "reviewers": reviewers.users, "team_reviewers": reviewers.teams }),
        };
        self.forge.write_held::<Value>(lease, Method::POST, &path, &body, purpose).await?;
        Ok(())
    }
}
