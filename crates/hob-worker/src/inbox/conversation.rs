//! The comments on an issue and what people wrote on its pull request, each list read at most once in a stage.
//!
//! The reads of later stages are answered 304 and not counted while nothing changes.

use std::{collections::HashMap, sync::Arc};

use hob_domain::{CommentId, IssueNumber, PullNumber, Record, State, Timestamp};
use hob_forge::{Comment, ForgeError, Issue, LineRemark, Review};
use parking_lot::Mutex;
use tokio::sync::OnceCell;

use crate::Worker;

/// What was written on an issue and on its pull request, as it is read in one stage of the work.
#[derive(Default)]
pub(crate) struct Conversation {
    pull: Option<PullNumber>,
    on_issue: Mutex<Option<OnIssue>>,
    on_pull: OnceCell<Vec<Comment>>,
    reviews: OnceCell<Vec<Review>>,
    remarks: OnceCell<Vec<LineRemark>>,
    /// Whether comments were edited, which costs a query where their times differ.
    edited: Mutex<HashMap<CommentId, bool>>,
}

/// The issue's comments that changed at a time or later. `None` for all of them.
#[derive(Clone)]
struct OnIssue {
    since: Option<Timestamp>,
    comments: Arc<Vec<Comment>>,
}

impl Conversation {
    /// Of this pull request, or of none.
    pub(crate) fn on(pull: Option<PullNumber>) -> Self {
        Self { pull, ..Self::default() }
    }

    /// Of the record's issue and pull request. When a round begins, the comments that this poll read are not read again;
    /// the attempt reads them anew.
    pub(crate) fn of(worker: &Worker, record: &Record) -> Self {
        let conversation = Self::on(record.pull.number);
        let begins = matches!(record.state, State::InReview | State::Assigned);
        let found = record.pull.number.filter(|_| begins).and_then(|pull| worker.memory.found_pulls.get(pull));
        if let Some(found) = found.filter(|found| found.open.is_whole && worker.memory.found_pulls.is_new(found)) {
            conversation.found_on_pull(&found.open.comments);
        }
        conversation
    }

    /// Takes these for the comments in the pull request's conversation, unless they were read.
    pub(crate) fn found_on_pull(&self, comments: &[Comment]) {
        if !self.on_pull.initialized() {
            // If another task was faster, its comments are as good.
            drop(self.on_pull.set(comments.to_vec()));
        }
    }

    /// The pull request.
    pub(crate) fn pull(&self) -> Option<PullNumber> {
        self.pull
    }

    /// The comments on the issue that changed at `since` or later, and maybe earlier ones; all of them for `None`.
    pub(crate) async fn on_issue(
        &self,
        worker: &Worker,
        issue: &Issue,
        since: Option<Timestamp>,
    ) -> Result<Arc<Vec<Comment>>, ForgeError> {
        if issue.comments == 0 {
            return Ok(Arc::default());
        }
        if let Some(known) = self.on_issue.lock().clone().filter(|known| known.since <= since) {
            return Ok(known.comments);
        }
        let comments = Arc::new(match since {
            Some(since) => worker.forge.comments().since(issue.number, since).await?,
            None => worker.forge.comments().of(issue.number).await?,
        });
        *self.on_issue.lock() = Some(OnIssue { since, comments: Arc::clone(&comments) });
        Ok(comments)
    }

    /// The comments in the pull request's conversation, oldest first.
    pub(crate) async fn on_pull(&self, worker: &Worker) -> Result<&[Comment], ForgeError> {
        let Some(pull) = self.pull else { return Ok(&[]) };
        let read = || worker.forge.comments().of(IssueNumber(pull.0));
        Ok(self.on_pull.get_or_try_init(read).await?)
    }

    /// The submitted reviews, oldest first.
    pub(crate) async fn reviews(&self, worker: &Worker) -> Result<&[Review], ForgeError> {
        let Some(pull) = self.pull else { return Ok(&[]) };
        Ok(self.reviews.get_or_try_init(|| worker.forge.reviews(pull).all()).await?)
    }

    /// The comments on lines, oldest first.
    pub(crate) async fn remarks(&self, worker: &Worker) -> Result<&[LineRemark], ForgeError> {
        let Some(pull) = self.pull else { return Ok(&[]) };
        Ok(self.remarks.get_or_try_init(|| worker.forge.reviews(pull).remarks()).await?)
    }

    /// Whether a comment that was read here was edited.
    pub(crate) async fn is_edited(&self, worker: &Worker, id: CommentId) -> Result<bool, ForgeError> {
        if let Some(known) = self.edited.lock().get(&id).copied() {
            return Ok(known);
        }
        let on_issue = self.on_issue.lock().clone();
        let on_issue = on_issue.iter().flat_map(|read| read.comments.iter());
        let on_pull = self.on_pull.get().into_iter().flatten();
        let comment = on_issue.chain(on_pull).find(|comment| comment.id == id).cloned();
        let edited = match comment {
            Some(comment) => worker.forge.comments().is_edited(&comment).await?,
            // It is not known who wrote its words.
            None => true,
        };
        self.edited.lock().insert(id, edited);
        Ok(edited)
    }
}
