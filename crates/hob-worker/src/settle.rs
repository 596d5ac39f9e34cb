//! Settling: a new state goes to the ledger first, then to the status comment, then to the labels. Whoever dies in
//! between leaves a ledger that says what the labels should.

use std::sync::atomic::Ordering;

use hob_domain::{
    BlockKind, Blocked, CommentId, FailureClass, IssueNumber, LabelChange, Record, STATUS_MARK, State, status_body,
};
use hob_forge::HeldLease;

use crate::{Notice, WorkError, Worker};

impl Worker {
    /// Writes a new state of the issue to the ledger and shows it. `labels` are the issue's labels as they were read
    /// or written last; they are brought up to date.
    pub(super) async fn settle(
        &self,
        lease: &HeldLease,
        labels: &mut Vec<String>,
        change: impl FnOnce(&mut Record) -> String,
    ) -> Result<(), WorkError> {
        let mut why = String::new();
        let transition = self.forge.transition(lease, |record| {
            why = change(record);
            why.clone()
        });
        transition.await?;
        self.show(lease, labels, &why).await
    }

    /// Makes status comment and labels say what the ledger says. The labels come last: while they are not right, the
    /// next pass knows that there is more to show.
    pub(super) async fn show(&self, lease: &HeldLease, labels: &mut Vec<String>, why: &str) -> Result<(), WorkError> {
        let state = lease.record().state;
        self.tell(&Notice::Moved { issue: lease.issue(), state, why: why.to_owned() });
        let commented = self.comment(lease).await;
        if commented.as_ref().is_err_and(|error| matches!(error.class(), FailureClass::Transient { .. })) {
            return commented;
        }
        self.label(lease, labels, state).await?;
        commented
    }

    /// Makes the labels say `state`.
    pub(super) async fn label(
        &self,
        lease: &HeldLease,
        labels: &mut Vec<String>,
        state: State,
    ) -> Result<(), WorkError> {
        for change in self.settings.labels.changes(labels, state) {
            self.forge.change_label(lease, &change).await?;
            match change {
                LabelChange::Add(name) => labels.push(name),
                LabelChange::Remove(name) => labels.retain(|label| !label.eq_ignore_ascii_case(&name)),
            }
        }
        Ok(())
    }

    /// Writes the one status comment, or edits it. Its id goes into the ledger with the next transition.
    pub(super) async fn comment(&self, lease: &HeldLease) -> Result<(), WorkError> {
        let record = lease.record();
        let body = status_body(&record, &self.settings.status_rules());
        let known = match record.status_comment {
            Some(id) => Some(id),
            None => self.find_comment(lease).await?,
        };
        let id = match known {
            Some(id) => match self.forge.edit_comment(lease, id, &body).await {
                Ok(()) => id,
                // Somebody deleted it: the next one takes its place.
                Err(error) if error.is_not_found() => self.create_comment(lease, &body).await?,
                Err(error) => return Err(error.into()),
            },
            None => self.create_comment(lease, &body).await?,
        };
        lease.note_comment(id).await;
        Ok(())
    }

    async fn create_comment(&self, lease: &HeldLease, body: &str) -> Result<CommentId, WorkError> {
        lease.comment_tried().store(true, Ordering::Relaxed);
        Ok(self.forge.create_comment(lease, body).await?)
    }

    /// Looks for a status comment that an earlier worker wrote, or this one by a write whose answer was lost, and that
    /// nobody could note. Only one by the token's own account counts: anybody can write the mark.
    async fn find_comment(&self, lease: &HeldLease) -> Result<Option<CommentId>, WorkError> {
        if lease.generation().0 <= 1 && !lease.comment_tried().load(Ordering::Relaxed) {
            return Ok(None);
        }
        self.own_comment(lease.issue()).await
    }

    /// The status comment of an issue, by the token's own account.
    pub(super) async fn own_comment(&self, issue: IssueNumber) -> Result<Option<CommentId>, WorkError> {
        let Some(own) = self.own_login().await? else { return Ok(None) };
        let comments = self.forge.comments(issue, None).await?;
        let ours = comments.into_iter().find(|comment| {
            comment.body.starts_with(STATUS_MARK) && comment.author.as_ref().is_some_and(|author| author.login.is(own))
        });
        Ok(ours.map(|comment| comment.id))
    }

    /// Hands the issue to a person.
    pub(super) async fn block(
        &self,
        lease: &HeldLease,
        labels: &mut Vec<String>,
        mut blocked: Blocked,
    ) -> Result<(), WorkError> {
        if blocked.kind == BlockKind::ApprovalNeeded {
            // What was said while the work so far was kept is about something else.
            blocked.since = self.forge.now();
        }
        let settle = self.settle(lease, labels, |record| {
            let reason = blocked.text.lines().next().unwrap_or_default();
            let sentence = format!("needs a person: {reason} {}", blocked.question);
            record.state = State::Blocked;
            record.blocked = Some(blocked);
            sentence
        });
        settle.await
    }

    /// Lets the lease go.
    pub(super) async fn release(&self, lease: &HeldLease) -> Result<(), WorkError> {
        Ok(self.forge.release(lease, |_| "released the lease".to_owned()).await?)
    }
}
