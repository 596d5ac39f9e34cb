//! Blocked issues: did a person answer?

use crate::{
    domain::{
        Answer, BlockKind, Blocked, Command, Event, IssueNumber, LabelEventKind, STATUS_MARK, State, command_in,
        has_label, latest,
    },
    forge::{BaseBranch, Comment},
    worker::{
        WorkError, Worker,
        claim::{Seen, Taken, start_attempt},
        trust::approved_hash,
    },
};

/// What trusted people said since the issue was blocked.
pub(super) enum Said {
    Nothing,
    Go(Answer),
    Cancel,
}

impl Worker {
    /// Goes on with a blocked issue when a trusted person answered or took the label off.
    pub(super) async fn seek_answer(&self, seen: Seen, base: &BaseBranch) -> Result<Taken, WorkError> {
        let Some(blocked) = seen.entry.as_ref().and_then(|entry| entry.record.blocked.clone()) else {
            // A blocked record without a reason can only be resumed.
            let empty = Answer { actor: "hob".into(), text: String::new(), question: None, comment: None, event: None };
            return self.go_on(seen, empty, base).await;
        };
        let said = match self.words_since(&seen, &blocked).await? {
            Said::Nothing if !has_label(&seen.issue.labels, &self.settings.labels.blocked) => {
                self.label_taken_off(&seen, &blocked).await?
            }
            said => said,
        };
        match said {
            Said::Go(answer) => self.go_on(seen, answer, base).await,
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
            // Only a question is answered by any reply; what is more needs a command.
            if (command.is_none() && blocked.kind != BlockKind::Question) || self.judge(author).await?.is_err() {
                continue;
            }
            let text = match command {
                Some(Command::Cancel) => return Ok(Said::Cancel),
                Some(Command::Retry) => String::new(),
                Some(Command::Unblock(text)) => text,
                None => comment.body.trim().to_owned(),
            };
            let question = Some(blocked.question.clone());
            return Ok(Said::Go(Answer {
                actor: author.login.clone(),
                text,
                question,
                comment: Some(comment.id),
                event: None,
            }));
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
        Ok(Said::Go(Answer {
            actor: actor.login.clone(),
            text: String::new(),
            question,
            comment: None,
            event: Some(event.id),
        }))
    }

    pub(super) async fn go_on(&self, seen: Seen, answer: Answer, base: &BaseBranch) -> Result<Taken, WorkError> {
        let now = self.forge.now();
        let lease = self.acquire(&seen, base, |record| {
            let sentence =
                format!("unblocked by {}; claimed by {}, generation {}", answer.actor, self.id, record.generation);
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
        self.attempt(&lease.await?, seen.issue, base).await
    }

    /// Answers a blocked issue from the command line: it is free again, and the next worker takes it with these words.
    ///
    /// # Errors
    /// [`WorkError::NotBlocked`] when the issue waits for nobody.
    pub async fn unblock(&self, number: IssueNumber, text: &str) -> Result<(), WorkError> {
        let looked = self.look_at(number).await?;
        let record = looked.as_ref().and_then(|(_, entry, _)| entry.as_ref()).map(|entry| entry.record.clone());
        let (Some((issue, entry, _)), Some(record)) = (looked, record.filter(|record| record.state == State::Blocked))
        else {
            return Err(WorkError::NotBlocked(number));
        };
        let base = self.forge.base_branch().await?;
        let actor = self.own_login().await?.cloned().unwrap_or_else(|| "the operator".into());
        let seen = Seen { issue, entry };
        let question = record.blocked.map(|blocked| blocked.question);
        let lease = self.acquire(&seen, &base, |record| {
            record.state = record.state.after(Event::Unblocked).unwrap_or(State::Ready);
            record.attempt = 0;
            record.last_failure = None;
            record.blocked = None;
            if let Some(trigger) = record.trigger.as_mut() {
                trigger.approved = approved_hash(&seen.issue);
            }
            let sentence = format!("unblocked by {actor}");
            let answer = Answer { actor, text: text.to_owned(), question, comment: None, event: None };
            record.answer = Some(answer.after(record.answer.as_ref()));
            sentence
        });
        let lease = lease.await?;
        let mut labels = seen.issue.labels;
        self.show(&lease, &mut labels, "unblocked from the command line").await?;
        self.release(&lease).await
    }
}
