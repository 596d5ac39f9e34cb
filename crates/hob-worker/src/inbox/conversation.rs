//! The comments on an issue and what people wrote on its pull request, each list read at most once in a stage.
//!
//! The reads of later stages are answered 304 and not counted while nothing changes.

use std::{collections::HashMap, sync::Arc};

use hob_domain::{IssueNumber, PullNumber, Record, SaidId, SaidIn, State, Timestamp};
use hob_forge::{Comment, Edited, ForgeError, Issue, LineRemark, Review};
use parking_lot::Mutex;
use tokio::sync::OnceCell;

use crate::Worker;

/// What was written on an issue and on its pull request, as it is read in one stage of the work.
#[derive(Default)]
pub(crate) struct Conversation {
    pull: Option<PullNumber>,
    /// When the pull request last changed. `None` if it is not known.
    pull_changed: Option<Timestamp>,
    on_issue: Mutex<Option<OnIssue>>,
    on_pull: OnceCell<Vec<Comment>>,
    reviews: OnceCell<Vec<Review>>,
    remarks: OnceCell<Vec<LineRemark>>,
    /// Whether messages were edited, which costs a query where their times do not show it.
    edited: Mutex<HashMap<SaidId, bool>>,
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

    /// The same with these comments on the issue, which are all of them.
    pub(crate) fn with_comments(self, comments: Vec<Comment>) -> Self {
        let on_issue = OnIssue { since: None, comments: Arc::new(comments) };
        Self { on_issue: Mutex::new(Some(on_issue)), ..self }
    }

    /// Takes these for the comments in the pull request's conversation, unless they were read.
    pub(crate) fn found_on_pull(&self, comments: &[Comment]) {
        if !self.on_pull.initialized() {
            // If another task was faster, its comments are as good.
            drop(self.on_pull.set(comments.to_vec()));
        }
    }

    /// The same of a pull request that changed last at this time.
    pub(crate) fn changed_at(self, pull_changed: Option<Timestamp>) -> Self {
        Self { pull_changed, ..self }
    }

    /// Whether something may have been said on the pull request at this time or later.
    pub(crate) fn may_have_news(&self, since: Timestamp) -> bool {
        self.pull.is_some() && self.pull_changed.is_none_or(|changed| changed >= since)
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

    /// Whether a message that was read here was edited.
    pub(crate) async fn is_edited(&self, worker: &Worker, said: SaidId) -> Result<bool, ForgeError> {
        if let Some(known) = self.edited.lock().get(&said).copied() {
            return Ok(known);
        }
        let edited = match self.edited_as_read(said) {
            Some(edited) => worker.forge.comments().is_edited(&edited).await?,
            // It is not known who wrote its words.
            None => true,
        };
        self.edited.lock().insert(said, edited);
        Ok(edited)
    }

    /// What the read of a message shows of whether it was edited. `None` if it was not read here.
    fn edited_as_read(&self, said: SaidId) -> Option<Edited> {
        match said.said_in {
            SaidIn::Comment => {
                let on_issue = self.on_issue.lock().clone();
                let on_issue = on_issue.iter().flat_map(|read| read.comments.iter());
                let mut all = on_issue.chain(self.on_pull.get().into_iter().flatten());
                all.find(|comment| comment.id == said.id).map(|comment| comment.edited.clone())
            }
            SaidIn::Review => {
                let mut all = self.reviews.get().into_iter().flatten();
                all.find(|review| review.id == said.id.0).map(Review::edited)
            }
            SaidIn::Line => {
                let mut all = self.remarks.get().into_iter().flatten();
                all.find(|remark| remark.id == said.id.0).map(|remark| remark.edited.clone())
            }
        }
    }
}
