//! What people see of a round in review beside the issue: that their words were seen, and at its end the replies, the threads that are
//! resolved, and who is asked for another review.
//!
//! # Guarantees
//! What a round has to tell is in the ledger with its work before any of it is sent, and each answer begins with a mark that names what
//! it answers: a worker that takes over posts only the missing ones. The lease is not released before all is told.

use std::sync::atomic::Ordering;

use futures_util::future::BoxFuture;
use hob_domain::{EventAnswer, IssueNumber, Login, Note, PullNumber, Reviewers};
use hob_forge::{ForgeError, HeldLease, Look, OnPull, Reaction, Shown, once};
use hob_words::answered_by;

use crate::{WorkError, Worker, held_issue::HeldIssue, inbox::Conversation};

/// Shows on reviews, and on comments on lines, of the round under way that they were seen. Nothing depends on a reaction that is not
/// allowed; one that can be tried again is an error.
pub(super) async fn see(worker: &Worker, held: &HeldIssue) -> Result<(), WorkError> {
    let (nodes, pull) = (held.unseen.lock().clone(), held.lease.record().pull.number);
    let Some(pull) = pull.filter(|_| !nodes.is_empty()) else { return Ok(()) };
    match worker.forge.reviews(pull).react(&held.lease, &nodes, Reaction::Eyes).await {
        Err(error) if error.class().is_temporary() => return Err(error.into()),
        Err(error) => {
            tracing::warn!(issue = held.issue.number.0, %error, "what people said in a review got no reaction: {error}");
        }
        Ok(()) => {}
    }
    held.unseen.lock().clear();
    Ok(())
}

/// What the last round has to tell people.
pub(super) struct RoundEnd {
    pull: PullNumber,
    answers: Vec<EventAnswer>,
    /// The threads that were followed, by their first comments.
    resolved: Vec<u64>,
    asks: Vec<Login>,
    look: Look,
}

impl RoundEnd {
    /// That of an issue's last round, which is told from now on. `None` if people have all of it.
    pub(super) fn to_tell(worker: &Worker, held: &HeldIssue) -> Option<Self> {
        let record = held.lease.record();
        let pull = record.pull.number.filter(|_| record.review.is_unanswered())?;
        // Others stay open.
        let resolves = |answer: &&EventAnswer| worker.settings.review.resolve && answer.resolves;
        let resolved = record.review.answers.iter().filter(resolves).filter_map(|answer| answer.thread).collect();
        let look = if held.is_untold.swap(false, Ordering::Relaxed) { Look::AfterFailure } else { Look::First };
        Some(Self { pull, answers: record.review.answers, resolved, asks: record.review.asks, look })
    }

    /// Whether none of it can be there already.
    pub(super) fn is_untold(&self) -> bool {
        self.look == Look::AfterFailure
    }

    /// What the pull request is to show of it.
    pub(super) fn on_pull(&self) -> (PullNumber, OnPull<'_>) {
        (self.pull, OnPull { answers: &self.answers, resolved: &self.resolved, reviewers: &self.asks })
    }

    /// Tells what of it `shown` has not, part by part, and notes that people have it.
    pub(super) async fn finish(self, worker: &Worker, held: &HeldIssue, shown: Shown) -> Result<(), WorkError> {
        let lease = &held.lease;
        if !shown.told {
            worker.activity(held.issue.number, &format!("answering on pull request {}", self.pull));
            // What was sent may have been made in part.
            let look = if shown.sent { Look::First } else { self.look };
            let said = if look == Look::First { answers_there(worker, lease, self.pull).await? } else { Vec::new() };
            for answer in self.answers.iter().filter(|answer| !has_answer(&said, answer)) {
                self.post(worker, lease, answer, look).await?;
            }
        }
        if !shown.resolved && !self.resolved.is_empty() {
            let resolved = worker.forge.reviews(self.pull).resolve(lease, &self.resolved).await;
            // People resolve them.
            note_failure(held, resolved, "threads that were followed stay open")?;
        }
        if !shown.asked && !self.asks.is_empty() {
            let reviewers = Reviewers { users: self.asks, teams: Vec::new() };
            let asked = worker.forge.reviews(self.pull).ask(lease, &reviewers).await;
            note_failure(held, asked, "no new review was requested")?;
        }
        lease.note(Note::RoundAnswered).await;
        Ok(())
    }

    /// Posts one answer. One that the forge takes nowhere must not hold the issue up for ever.
    async fn post(
        &self,
        worker: &Worker,
        lease: &HeldLease,
        answer: &EventAnswer,
        look: Look,
    ) -> Result<(), WorkError> {
        let posted = match self.post_in(worker, lease, answer, look, answer.thread).await {
            // What it answers was deleted.
            Err(error) if error.is_not_found() => return Ok(()),
            // As while this account has a review that it has not submitted: it is told where it can be.
            Err(error) if answer.thread.is_some() && !error.class().is_temporary() => {
                tracing::info!(issue = lease.issue().0, %error, "a reply goes into the conversation: {error}");
                self.post_in(worker, lease, answer, look, None).await
            }
            posted => posted,
        };
        match posted {
            Err(error) if error.class().is_temporary() || matches!(error, ForgeError::Lost(_)) => Err(error.into()),
            Err(error) => {
                let reason = format!("an answer on pull request {} could not be posted: {error}", self.pull);
                tracing::warn!(issue = lease.issue().0, %error, "{reason}");
                worker.progress(lease.issue(), &reason);
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Posts an answer in the thread that begins with this comment, or in the conversation.
    async fn post_in(
        &self,
        worker: &Worker,
        lease: &HeldLease,
        answer: &EventAnswer,
        look: Look,
        thread: Option<u64>,
    ) -> Result<(), ForgeError> {
        let find = || -> BoxFuture<'_, _> {
            Box::pin(async { Ok(has_answer(&answers_there(worker, lease, self.pull).await?, answer).then_some(())) })
        };
        let write = || -> BoxFuture<'_, _> {
            Box::pin(async move {
                match thread {
                    Some(first) => worker.forge.reviews(self.pull).reply(lease, first, &answer.text).await,
                    None => {
                        let on = IssueNumber(self.pull.0);
                        worker.forge.comments().create_on(lease, on, &answer.text).await.map(drop)
                    }
                }
            })
        };
        once(&worker.forge, lease, look, find, write).await
    }
}

/// Nothing depends on it but the lease.
fn note_failure(held: &HeldIssue, made: Result<(), ForgeError>, what: &str) -> Result<(), WorkError> {
    match made {
        Err(error @ ForgeError::Lost(_)) => Err(error.into()),
        Err(error) => {
            tracing::warn!(issue = held.issue.number.0, %error, "{what}: {error}");
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

/// What the lease's own account said on the pull request.
async fn answers_there(worker: &Worker, lease: &HeldLease, pull: PullNumber) -> Result<Vec<String>, ForgeError> {
    let own = worker.forge.comments().own_account(lease).await?;
    own_answers(worker, own.as_ref(), pull).await
}

fn has_answer(said: &[String], answer: &EventAnswer) -> bool {
    said.iter().any(|body| answered_by(body, &answer.to))
}

/// The answers of Hob's own account on the pull request; empty if that account is unknown, because anyone can write the
/// marks.
pub(super) async fn own_answers(
    worker: &Worker,
    own: Option<&Login>,
    pull: PullNumber,
) -> Result<Vec<String>, ForgeError> {
    let Some(own) = own else { return Ok(Vec::new()) };
    let is_own = |author: Option<&Login>| author.is_some_and(|author| author.is(own));
    let conversation = Conversation::on(Some(pull));
    let remarks = conversation.remarks(worker).await?.iter().map(|remark| (&remark.author, &remark.body));
    let comments = conversation.on_pull(worker).await?.iter().map(|comment| (&comment.author, &comment.body));
    let all = remarks.chain(comments).filter(|(author, _)| is_own(author.as_ref().map(|author| &author.login)));
    Ok(all.map(|(_, body)| body.clone()).collect())
}
