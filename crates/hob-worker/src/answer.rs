//! Blocked issues: did a person answer?

use hob_domain::{
    Answer, BlockKind, Blocked, Command, Event, IssueNumber, LabelEventKind, Login, Record, STATUS_MARK, State,
    command_in, has_label, latest,
};
use hob_forge::{BaseBranch, Comment};

use crate::{
    WorkError, Worker,
    approve::approval_words,
    claim::{Seen, Taken, start_attempt},
    trust::approved_hash,
};

/// What trusted people said since the issue was blocked.
pub(super) enum Said {
    Nothing,
    Go(Answer, Grant),
    Cancel,
}

/// Whether an answer allows the action that waits for a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grant {
    Nothing,
    TheAction,
}

impl Worker {
    /// Goes on with a blocked issue when a trusted person answered or took the label off.
    pub(super) async fn seek_answer(&self, seen: Seen, base: &BaseBranch) -> Result<Taken, WorkError> {
        let Some(blocked) = seen.entry.as_ref().and_then(|entry| entry.record.blocked.clone()) else {
            // A blocked record without a reason can only be resumed.
            let empty = Answer { actor: "hob".into(), text: String::new(), question: None, comment: None, event: None };
            return self.go_on(seen, empty, Grant::Nothing, base).await;
        };
        let said = match self.words_since(&seen, &blocked).await? {
            Said::Nothing if !has_label(&seen.issue.labels, &self.settings.labels.blocked) => {
                self.label_taken_off(&seen, &blocked).await?
            }
            said => said,
        };
        match said {
            Said::Go(answer, grant) => self.go_on(seen, answer, grant, base).await,
            Said::Cancel => self.cancel(seen, base).await,
            Said::Nothing if self.shows_blocked(&seen) => Ok(Taken::Nothing),
            // The label went missing, an account whose word does not count took it off, or the worker that blocked the
            // issue died before it had asked its question.
            Said::Nothing => {
                let lease = self.acquire(&seen, base, |_| "shows again that a person is needed".to_owned()).await?;
                self.show_and_release(seen, lease, "still blocked: nobody with the permission answered").await
            }
        }
    }

    fn shows_blocked(&self, seen: &Seen) -> bool {
        let let_go = seen.entry.as_ref().is_none_or(|entry| entry.record.holder.is_none());
        let_go && self.settings.labels.changes(&seen.issue.labels, State::Blocked).is_empty()
    }

    pub(super) async fn words_since(&self, seen: &Seen, blocked: &Blocked) -> Result<Said, WorkError> {
        if seen.issue.comments == 0 {
            return Ok(Said::Nothing);
        }
        let record = seen.entry.as_ref().map(|entry| &entry.record);
        let own = record.and_then(|record| record.status_comment);
        // Times have whole seconds: what was taken for an answer before is told by its id.
        let heard = record.and_then(|record| record.answer.as_ref()).and_then(|answer| answer.comment);
        let comments = self.forge.comments(seen.issue.number, Some(blocked.since)).await?;
        let new = |comment: &&Comment| {
            comment.created_at >= blocked.since
                && Some(comment.id) > heard
                && Some(comment.id) != own
                && !comment.body.starts_with(STATUS_MARK)
        };
        for comment in comments.iter().filter(new) {
            let Some(author) = &comment.author else { continue };
            let command = command_in(&comment.body);
            let Some(meant) = meant(command, comment, record, blocked) else { continue };
            if self.judge(author).await?.is_err() {
                continue;
            }
            let (text, grant) = match meant {
                Meant::Cancel => return Ok(Said::Cancel),
                Meant::Words(text) => (text, Grant::Nothing),
                Meant::Approval(text) => (text, Grant::TheAction),
            };
            let question = Some(blocked.question.clone());
            let answer = Answer { actor: author.login.clone(), text, question, comment: Some(comment.id), event: None };
            return Ok(Said::Go(answer, grant));
        }
        Ok(Said::Nothing)
    }

    async fn label_taken_off(&self, seen: &Seen, blocked: &Blocked) -> Result<Said, WorkError> {
        let events = self.forge.label_events(seen.issue.number).await?;
        let Some(event) = latest(&events, LabelEventKind::Unlabeled, &self.settings.labels.blocked) else {
            return Ok(Said::Nothing);
        };
        let answer = seen.entry.as_ref().and_then(|entry| entry.record.answer.as_ref());
        let is_new = event.at >= blocked.since && Some(event.id) > answer.and_then(|answer| answer.event);
        let Some(actor) = event.actor.as_ref().filter(|_| is_new) else { return Ok(Said::Nothing) };
        if self.judge(actor).await?.is_err() {
            return Ok(Said::Nothing);
        }
        let question = Some(blocked.question.clone());
        let (actor, event) = (actor.login.clone(), Some(event.id));
        let answer = Answer { actor, text: String::new(), question, comment: None, event };
        Ok(Said::Go(answer, Grant::Nothing))
    }

    pub(super) async fn go_on(
        &self,
        seen: Seen,
        answer: Answer,
        grant: Grant,
        base: &BaseBranch,
    ) -> Result<Taken, WorkError> {
        let now = self.forge.now();
        let lease = self.acquire(&seen, base, |record| {
            let freed = freed(record, &answer.actor, grant);
            let sentence = format!("{freed}; claimed by {}, generation {}", self.id, record.generation);
            record.state = State::Blocked
                .after(Event::Unblocked)
                .and_then(|state| state.after(Event::ClaimWon))
                .unwrap_or(State::Assigned);
            // A person had their say: the attempts begin anew, and the issue as it stands now is what they saw.
            record.attempt = 0;
            record.last_failure = None;
            record.answer = Some(answer.after(record.answer.as_ref()));
            if let Some(trigger) = record.trigger.as_mut() {
                trigger.approved = approved_hash(&seen.issue);
            }
            start_attempt(record, now);
            sentence
        });
        let lease = lease.await?;
        let (mut issue, blocked) = (seen.issue, &self.settings.labels.blocked);
        // Reads can lag: one that does not show the label yet must not leave it on, where it would count as a person's.
        if !has_label(&issue.labels, blocked) {
            issue.labels.push(blocked.clone());
        }
        self.attempt(&lease, issue, base).await
    }

    /// Answers a blocked issue from the command line: it is free again, and the next worker takes it with these words.
    ///
    /// # Errors
    /// [`WorkError::NotBlocked`] when the issue waits for nobody.
    pub async fn unblock(&self, number: IssueNumber, text: &str) -> Result<(), WorkError> {
        let (seen, record) = self.blocked_now(number).await?.ok_or(WorkError::NotBlocked(number))?;
        self.free(seen, record, text.to_owned(), Grant::Nothing).await
    }

    /// An issue that is blocked now.
    pub(super) async fn blocked_now(&self, number: IssueNumber) -> Result<Option<(Seen, Record)>, WorkError> {
        let Some((issue, Some(entry), _)) = self.look_at(number).await? else { return Ok(None) };
        let record = entry.record.clone();
        Ok((record.state == State::Blocked).then_some((Seen { issue, entry: Some(entry) }, record)))
    }

    /// Frees a blocked issue, in the name of whoever has the token.
    pub(super) async fn free(&self, seen: Seen, record: Record, text: String, grant: Grant) -> Result<(), WorkError> {
        let base = self.forge.base_branch().await?;
        let actor = self.own_login().await?.cloned().unwrap_or_else(|| "the operator".into());
        let question = record.blocked.map(|blocked| blocked.question);
        let lease = self.acquire(&seen, &base, |record| {
            record.state = record.state.after(Event::Unblocked).unwrap_or(State::Ready);
            record.attempt = 0;
            record.last_failure = None;
            let sentence = freed(record, &actor, grant);
            record.blocked = None;
            record.proposed = None;
            if let Some(trigger) = record.trigger.as_mut() {
                trigger.approved = approved_hash(&seen.issue);
            }
            let answer = Answer { actor, text, question, comment: None, event: None };
            record.answer = Some(answer.after(record.answer.as_ref()));
            sentence
        });
        let lease = lease.await?;
        let mut labels = seen.issue.labels;
        self.show(&lease, &mut labels, "unblocked from the command line").await?;
        self.release(&lease).await
    }
}

/// What a comment means for a blocked issue, if its author's word counts.
enum Meant {
    Cancel,
    Words(String),
    Approval(String),
}

/// None: it means nothing here. Only what asks is answered by any reply; what is more needs a command.
fn meant(command: Option<Command>, comment: &Comment, record: Option<&Record>, blocked: &Blocked) -> Option<Meant> {
    let reply = || Meant::Words(comment.body.trim().to_owned());
    match (command, blocked.kind) {
        (Some(Command::Cancel), _) => Some(Meant::Cancel),
        (Some(Command::Retry), _) => Some(Meant::Words(String::new())),
        (Some(Command::Unblock(text)), _) => Some(Meant::Words(text)),
        // Times have whole seconds: what came in the very second of the question may be about another one.
        (Some(Command::Approve(words)), BlockKind::ApprovalNeeded) => {
            let waiting = record.and_then(Record::waiting_action).filter(|_| comment.created_at > blocked.since);
            waiting.map(|action| Meant::Approval(approval_words(action, &words)))
        }
        (Some(Command::Approve(_)) | None, BlockKind::Question) | (None, BlockKind::ApprovalNeeded) => Some(reply()),
        (Some(Command::Approve(_)) | None, _) => None,
    }
}

/// Allows what is to be allowed; the sentence that says who freed the issue.
fn freed(record: &mut Record, actor: &Login, grant: Grant) -> String {
    match grant {
        Grant::Nothing => format!("unblocked by {actor}"),
        Grant::TheAction => {
            record.approve();
            format!("approved by {actor}")
        }
    }
}
