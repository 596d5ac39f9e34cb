//! From a decision about an issue to the lease on it, and on to what the decision asks for.

use hob_domain::{
    Action, BlockKind, Blocked, Decision, Ending, Event, IssueNumber, LabelChange, PullNumber, Record, Recovery,
    Refusal, Snapshot, State, Trigger, plan,
};
use hob_forge::{BaseBranch, ForgeError, HeldLease, Issue, LedgerEntry};

use crate::{Notice, WorkError, Worker, trust::Vetted};

/// What became of an issue that was taken up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// Nothing was to be done, or another worker was faster.
    Nothing,
    /// Its labels, ledger or comment were brought up to date.
    Tended,
    /// It was worked on.
    Worked,
}

/// An issue as it was looked at just now.
pub(super) struct Seen {
    pub(super) issue: Issue,
    pub(super) entry: Option<LedgerEntry>,
}

impl Worker {
    /// Looks at an issue anew and does what is to be done about it, to the end of this attempt.
    pub(super) async fn take(&self, number: IssueNumber, base: &BaseBranch) -> Result<Taken, WorkError> {
        let Some((issue, entry, view)) = self.look_at(number).await? else { return Ok(Taken::Nothing) };
        let snapshot = Snapshot { issues: vec![view], repository: None };
        let decision = plan(&snapshot, &self.settings.plan_rules(), self.forge.now()).into_iter().next();
        let Some(Decision::Act(action)) = decision.map(|planned| planned.decision) else { return Ok(Taken::Nothing) };
        let seen = Seen { issue, entry };
        match Box::pin(self.act(action, seen, base)).await {
            // Somebody was faster: they do what there is to do.
            Err(WorkError::Forge(ForgeError::Held(_) | ForgeError::Lost(_))) => Ok(Taken::Nothing),
            result => result,
        }
    }

    async fn act(&self, action: Action, seen: Seen, base: &BaseBranch) -> Result<Taken, WorkError> {
        match action {
            Action::Claim => match self.vet(&seen.issue).await? {
                // A status comment without a ledger: the ledger was deleted, and the work may still be there.
                Vetted::Trusted(trigger) if seen.entry.is_none() && seen.issue.comments > 0 => {
                    match Box::pin(self.rebuild(&seen, base)).await? {
                        Some(taken) => Ok(taken),
                        None => self.claim(seen, trigger, base).await,
                    }
                }
                Vetted::Trusted(trigger) => self.claim(seen, trigger, base).await,
                Vetted::Refused(refusal) => self.refuse(seen, refusal, base).await,
            },
            Action::Recover(recovery) => self.recover(seen, recovery, base).await,
            Action::SeekAnswer => Box::pin(self.seek_answer(seen, base)).await,
            Action::SeekCommand => Box::pin(self.seek_command(seen, base)).await,
            Action::Obey(request) => Box::pin(self.obey(seen, request, base)).await,
            Action::Rebuild => Ok(Box::pin(self.rebuild(&seen, base)).await?.unwrap_or(Taken::Nothing)),
            Action::ReturnToReview(pull) => Box::pin(self.return_to_review(seen, pull, base)).await,
            Action::AskAboutRejection(pull) => self.ask_about_rejection(seen, pull, base).await,
            Action::Finish(ending) => Box::pin(self.finish(seen, ending, base)).await,
            Action::RepairLabels(changes) => self.repair_labels(seen, &changes, base).await,
            Action::ShowState => {
                let sentence = "shows what its dead worker had not".to_owned();
                let lease = self.acquire(&seen, base, |_| sentence).await?;
                self.show_and_release(seen, lease, "its labels and its comment follow the ledger again").await
            }
        }
    }

    /// Takes the lease with the record changed by `change`.
    pub(super) async fn acquire(
        &self,
        seen: &Seen,
        base: &BaseBranch,
        change: impl FnOnce(&mut Record) -> String,
    ) -> Result<HeldLease, WorkError> {
        let claimant = self.claimant();
        Ok(self.forge.acquire(seen.issue.number, seen.entry.as_ref(), &claimant, &base.tree, change).await?)
    }

    async fn claim(&self, seen: Seen, trigger: Trigger, base: &BaseBranch) -> Result<Taken, WorkError> {
        let now = self.forge.now();
        let lease = self.acquire(&seen, base, |record| {
            if record.state == State::Done {
                *record = asked_anew(record);
            }
            // A retry is for what was approved: an edit since then shows.
            let approved = record.trigger.take().filter(|old| old.event == trigger.event).map(|old| old.approved);
            record.trigger = Some(match approved {
                Some(approved) => Trigger { approved, ..trigger },
                None => trigger,
            });
            record.state = record.state.after(Event::ClaimWon).unwrap_or(State::Assigned);
            start_attempt(record, now);
            format!("claimed by {}, generation {}", self.id, record.generation)
        });
        self.attempt(&lease.await?, seen.issue, base).await
    }

    async fn recover(&self, seen: Seen, recovery: Recovery, base: &BaseBranch) -> Result<Taken, WorkError> {
        let now = self.forge.now();
        let lease = self.acquire(&seen, base, |record| {
            let before = seen.entry.as_ref().and_then(|entry| entry.record.holder.as_ref());
            let dead = before.map_or("a worker that stopped", |holder| holder.worker.as_str());
            record.state = record.state.after(Event::LeaseExpired(recovery)).unwrap_or(State::Assigned);
            if record.state == State::Assigned {
                start_attempt(record, now);
            }
            format!("taken over from {dead} by {}, generation {}", self.id, record.generation)
        });
        let lease = lease.await?;
        match recovery {
            Recovery::Resume => self.attempt(&lease, seen.issue, base).await,
            Recovery::Abandon => self.show_and_release(seen, lease, "its worker died; it is free again").await,
            Recovery::Block => {
                let blocked = Blocked {
                    kind: BlockKind::WorkerDied,
                    text: "The worker that had this issue died in the middle of it.".to_owned(),
                    question: "Should Hob go on with it?".to_owned(),
                    since: now,
                };
                let mut labels = seen.issue.labels;
                self.block(&lease, &mut labels, blocked).await?;
                self.release(&lease).await?;
                Ok(Taken::Tended)
            }
        }
    }

    async fn refuse(&self, seen: Seen, refusal: Refusal, base: &BaseBranch) -> Result<Taken, WorkError> {
        let known = seen.entry.as_ref().and_then(|entry| entry.record.refused.as_ref());
        if known.is_some_and(|known| known.event == refusal.event && known.reason == refusal.reason) {
            return Ok(Taken::Nothing);
        }
        let reason = refusal.reason.clone();
        let lease = self.acquire(&seen, base, |record| {
            if record.state == State::Done {
                *record = asked_anew(record);
            }
            record.state = State::Ready;
            record.refused = Some(refusal);
            format!("refused: {reason}")
        });
        let lease = lease.await?;
        self.comment(&lease).await?;
        let forge = &self.forge;
        // The comment has touched the issue: what comes after this moment is news.
        let release = forge.release(&lease, |record| {
            if let Some(refusal) = record.refused.as_mut() {
                refusal.at = forge.now();
            }
            "released the lease".to_owned()
        });
        release.await?;
        self.tell(&Notice::Refused { issue: seen.issue.number, reason });
        Ok(Taken::Tended)
    }

    async fn ask_about_rejection(&self, seen: Seen, pull: PullNumber, base: &BaseBranch) -> Result<Taken, WorkError> {
        let since = self.forge.now();
        let lease = self.acquire(&seen, base, |record| {
            record.state = record.state.after(Event::PullRequestRejected).unwrap_or(State::Blocked);
            record.blocked = Some(Blocked {
                kind: BlockKind::Rejected,
                text: format!("The pull request of this issue, number {pull}, was closed without a merge."),
                question: "What should be done differently?".to_owned(),
                since,
            });
            format!("the pull request {pull} was closed without a merge")
        });
        let lease = lease.await?;
        self.show_and_release(seen, lease, "its pull request was closed without a merge").await
    }

    async fn finish(&self, seen: Seen, ending: Ending, base: &BaseBranch) -> Result<Taken, WorkError> {
        let why = match ending {
            Ending::Merged => "its pull request was merged",
            Ending::Closed => "the issue was closed",
            Ending::Cancelled => "the trigger label was taken off",
            Ending::Gone => "the issue was deleted or transferred",
        };
        if ending == Ending::Merged && self.still_wanted(&seen.issue) {
            let sentence = format!("finishing: {why}");
            return self
                .end_seen(seen, base, &sentence, &format!("finished: {why}, and the issue was left open"))
                .await;
        }
        let lease = self.acquire(&seen, base, |record| {
            record.state = State::Done;
            record.retry_after = None;
            record.request = None;
            format!("finished: {why}")
        });
        let lease = lease.await?;
        if ending == Ending::Gone {
            // There is nothing to show it on.
            self.release(&lease).await?;
            self.tell(&Notice::Moved { issue: seen.issue.number, state: State::Done, why: why.to_owned() });
            return Ok(Taken::Tended);
        }
        self.show_and_release(seen, lease, why).await
    }

    /// Ends the work on a person's word: the trigger label goes too.
    pub(super) async fn cancel(&self, seen: Seen, base: &BaseBranch) -> Result<Taken, WorkError> {
        self.end_seen(seen, base, "cancelled by a command", "finished: cancelled by a command").await
    }

    async fn end_seen(&self, seen: Seen, base: &BaseBranch, begun: &str, ended: &str) -> Result<Taken, WorkError> {
        let lease = self.acquire(&seen, base, |_| begun.to_owned()).await?;
        let mut labels = self.labels_before(&seen, State::Done);
        self.end_held(&lease, &mut labels, ended).await?;
        Ok(Taken::Tended)
    }

    /// Ends the work on the issue whose lease is held.
    pub(super) async fn end_held(
        &self,
        lease: &HeldLease,
        labels: &mut Vec<String>,
        ended: &str,
    ) -> Result<(), WorkError> {
        // The label goes first: on a finished ledger it would ask for the work anew if this worker died in between.
        self.forge.change_label(lease, &LabelChange::Remove(self.settings.labels.trigger.clone())).await?;
        let settle = self.settle(lease, labels, |record| {
            record.state = State::Done;
            record.request = None;
            ended.to_owned()
        });
        settle.await?;
        self.release(lease).await
    }

    pub(super) async fn show_and_release(&self, seen: Seen, lease: HeldLease, why: &str) -> Result<Taken, WorkError> {
        let mut labels = self.labels_before(&seen, lease.record().state);
        self.show(&lease, &mut labels, why).await?;
        self.release(&lease).await?;
        Ok(Taken::Tended)
    }

    /// The labels that were read, and the one of the state that the issue leaves for `next`: a read that lags may not show
    /// it yet.
    fn labels_before(&self, seen: &Seen, next: State) -> Vec<String> {
        let mut labels = seen.issue.labels.clone();
        let left = seen.entry.as_ref().map(|entry| entry.record.state).filter(|state| *state != next);
        left.into_iter().for_each(|state| self.settings.labels.presume(&mut labels, state));
        labels
    }

    async fn repair_labels(&self, seen: Seen, changes: &[LabelChange], base: &BaseBranch) -> Result<Taken, WorkError> {
        let names: Vec<&str> = changes
            .iter()
            .map(|change| match change {
                LabelChange::Add(name) | LabelChange::Remove(name) => name.as_str(),
            })
            .collect();
        let lease = self.acquire(&seen, base, |_| format!("repaired the labels: {}", names.join(", "))).await?;
        // Whoever died before the labels died before the comment too.
        self.show_and_release(seen, lease, "its labels follow the ledger again").await
    }
}

/// The next attempt at an issue begins.
pub(super) fn start_attempt(record: &mut Record, now: hob_domain::Timestamp) {
    record.attempt += 1;
    record.attempts_ever += 1;
    record.claimed_at = now;
    record.retry_after = None;
    record.refused = None;
    record.blocked = None;
    record.proposed = None;
}

/// The record of an issue that was finished once and is asked for again: its spend counts on, its work does not.
fn asked_anew(old: &Record) -> Record {
    Record {
        state: State::Ready,
        attempt: 0,
        round: 0,
        last_failure: None,
        proposed: None,
        approved: Vec::new(),
        answer: None,
        branch: None,
        base_sha: None,
        head_sha: None,
        pull_request: None,
        session: None,
        trigger: None,
        checks: None,
        accepted: None,
        stalled: None,
        paused: None,
        request: None,
        ..old.clone()
    }
}
