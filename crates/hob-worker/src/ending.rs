//! How an attempt ends: let go, cut short, put off, or handed to a person.

use std::time::Duration;

use hob_domain::{BlockKind, Blocked, Event, FailureClass, Spend, State, has_label};
use hob_forge::{BaseBranch, HeldLease};
use hob_workspace::WorkspaceError;

use crate::{Notice, WorkError, Worker, attempt::Job, control::uncount};

/// The wait for a model's quota whose reset is not known.
const QUOTA_PAUSE: Duration = Duration::from_secs(3_600);

/// The longest time for keeping the work of an attempt that ends early; a worker that is stopped has 5 s in all.
const KEEP_TIME: Duration = Duration::from_secs(3);

impl Worker {
    /// What follows from how the work went; at last the lease is let go.
    pub(super) async fn end(
        &self,
        lease: &HeldLease,
        labels: &mut Vec<String>,
        (base, began): (&BaseBranch, Spend),
        begun: Option<&Job<'_>>,
        worked: Result<(), WorkError>,
    ) -> Result<(), WorkError> {
        match worked {
            Ok(()) => {}
            Err(
                error @ (WorkError::Stopped | WorkError::Paused(_) | WorkError::Terminated(_) | WorkError::Withdrawn),
            ) => return self.cut_short(lease, labels, begun, error).await,
            // Others took the room that the poll had seen.
            Err(WorkError::Full(full)) => {
                self.label(lease, labels, State::Ready).await?;
                return self.hand_back(lease, &format!("put back: {full}")).await;
            }
            Err(error) => {
                if let Err(error) = Box::pin(self.fall_back(lease, labels, error)).await {
                    // A lease that is let go tells nobody that there is more to show.
                    if !is_only_to_be_shown(lease, &error) || lease.record().state == State::Done {
                        return Err(error);
                    }
                    self.tell(&Notice::Failed { issue: Some(lease.issue()), reason: error.to_string() });
                }
            }
        }
        self.settle_day(lease, base, began).await;
        self.release(lease).await
    }

    /// Ends an attempt that somebody cut short, after keeping its work on the branch.
    async fn cut_short(
        &self,
        lease: &HeldLease,
        labels: &mut Vec<String>,
        begun: Option<&Job<'_>>,
        end: WorkError,
    ) -> Result<(), WorkError> {
        if has_ended(lease) && matches!(end, WorkError::Stopped) {
            return self.show_the_end(lease, labels).await;
        }
        self.settings.labels.presume(labels, lease.record().state);
        if let Some(job) = begun {
            self.keep_what_there_is(job).await;
        }
        let why = end.to_string();
        match end {
            WorkError::Paused(pause) => self.pause_held(lease, labels, pause).await?,
            WorkError::Terminated(_) => self.end_held(lease, labels, &format!("finished: {why}")).await?,
            WorkError::Withdrawn => {
                let settle = self.settle(lease, labels, |record| {
                    record.state = State::Done;
                    format!("finished: {why}")
                });
                settle.await?;
                self.release(lease).await?;
            }
            // The worker was stopped.
            _other => return self.put_back(lease, labels).await,
        }
        if let Some(job) = begun {
            self.settle_day(lease, job.base, job.began).await;
        }
        Ok(())
    }

    /// Nothing is put back where the ledger says already how the attempt ended: that is shown. What cannot be shown in
    /// time is shown by whoever finds the lease run out.
    async fn show_the_end(&self, lease: &HeldLease, labels: &mut Vec<String>) -> Result<(), WorkError> {
        let show = async {
            self.show(lease, labels, "shown before the worker stopped").await?;
            self.release(lease).await
        };
        tokio::time::timeout(KEEP_TIME, show).await.map_err(|_elapsed| WorkError::Stopped)?
    }

    /// Ends the attempt of a worker that was asked to stop, in few seconds: the lease is let go, so that the next worker
    /// goes on at once.
    async fn put_back(&self, lease: &HeldLease, labels: &mut Vec<String>) -> Result<(), WorkError> {
        self.label(lease, labels, State::Ready).await?;
        let release = self.hand_back(lease, "put back: the worker was stopped");
        // A forge that does not answer now is not waited for: then the lease runs out.
        tokio::time::timeout(KEEP_TIME, release).await.map_err(|_elapsed| WorkError::Stopped)?
    }

    /// Lets an issue go whose attempt does not count.
    async fn hand_back(&self, lease: &HeldLease, why: &str) -> Result<(), WorkError> {
        let release = self.forge.release(lease, |record| {
            record.state = State::Ready;
            uncount(record);
            why.to_owned()
        });
        release.await?;
        self.tell(&Notice::Moved { issue: lease.issue(), state: State::Ready, why: why.to_owned() });
        Ok(())
    }

    /// Keeps the work of an attempt that ends early, where that can be done soon.
    pub(super) async fn keep_what_there_is(&self, job: &Job<'_>) {
        let kept = tokio::time::timeout(KEEP_TIME, Box::pin(self.keep_work(job))).await;
        let failed = kept.map_or_else(
            |_elapsed| Some("it took too long".to_owned()),
            |kept| kept.err().map(|error| error.to_string()),
        );
        if let Some(reason) = failed {
            tracing::warn!(issue.number = job.issue.number.0, reason, "the work so far could not be kept: {reason}");
        }
    }

    /// What follows from a failure, by its class.
    async fn fall_back(&self, lease: &HeldLease, labels: &mut Vec<String>, error: WorkError) -> Result<(), WorkError> {
        let reason = error.to_string();
        self.tell(&Notice::Failed { issue: Some(lease.issue()), reason: reason.clone() });
        if is_only_to_be_shown(lease, &error) {
            return self.show(lease, labels, "labels and comment are shown again").await;
        }
        match error.class() {
            // The lease is another's: nothing more is written.
            FailureClass::Cancelled => Err(error),
            // On a free issue the label would count as a person's: the lease runs out, and who takes over takes it off.
            FailureClass::Transient { .. } if has_label(labels, &self.settings.labels.blocked) => Err(error),
            FailureClass::Transient { retry_after } => self.try_later(lease, labels, reason, retry_after).await,
            FailureClass::QuotaExhausted { reset_after } => {
                self.pause_for_quota(lease, labels, reason, reset_after).await
            }
            FailureClass::Permanent | FailureClass::NeedsHuman => {
                let refused = matches!(&error, WorkError::Workspace(WorkspaceError::PushRefused { .. }));
                let kind = if refused { BlockKind::PushRefused } else { BlockKind::SetUpNeeded };
                let question = "Can you set this right, and then let Hob try again?".to_owned();
                self.block(lease, labels, Blocked { kind, text: reason, question, since: self.forge.now() }).await
            }
        }
    }

    /// Puts the issue back for a later attempt, or hands it to a person when the attempts are used up.
    pub(super) async fn try_later(
        &self,
        lease: &HeldLease,
        labels: &mut Vec<String>,
        reason: String,
        asked: Option<Duration>,
    ) -> Result<(), WorkError> {
        let limits = &self.settings.limits;
        let attempt = lease.record().attempt;
        if attempt >= limits.attempts {
            let text = format!("{attempt} attempts failed, the last one so: {reason}");
            return self.block(lease, labels, self.limit_reached(text)).await;
        }
        let pause = limits.retry_delay.saturating_mul(1 << attempt.saturating_sub(1).min(10));
        let until = self.forge.now() + pause.max(asked.unwrap_or_default());
        let settle = self.settle(lease, labels, |record| {
            record.state = record.state.after(Event::TransientFailure).unwrap_or(State::Ready);
            record.retry_after = Some(until);
            record.last_failure = Some(reason.clone());
            format!("attempt {attempt} failed, the next starts after {}: {reason}", until.format("%H:%M:%S UTC"))
        });
        settle.await
    }

    /// Waits for a model's quota: no attempt is used up by it.
    pub(super) async fn pause_for_quota(
        &self,
        lease: &HeldLease,
        labels: &mut Vec<String>,
        reason: String,
        reset_after: Option<Duration>,
    ) -> Result<(), WorkError> {
        let until = self.forge.now() + reset_after.unwrap_or(QUOTA_PAUSE);
        let settle = self.settle(lease, labels, |record| {
            record.state = record.state.after(Event::TransientFailure).unwrap_or(State::Ready);
            uncount(record);
            record.retry_after = Some(until);
            record.last_failure = Some(reason.clone());
            format!("the model's quota is used up, work goes on after {}: {reason}", until.format("%H:%M:%S UTC"))
        });
        settle.await
    }
}

/// Whether the ledger says already how the attempt ended, and what failed may pass: only labels and comment are missing,
/// and the next pass repairs them.
fn is_only_to_be_shown(lease: &HeldLease, error: &WorkError) -> bool {
    has_ended(lease) && matches!(error.class(), FailureClass::Transient { .. })
}

/// Whether the ledger says already how the attempt ended.
fn has_ended(lease: &HeldLease) -> bool {
    match lease.record().state {
        State::Ready | State::InReview | State::Blocked | State::Done => true,
        State::Assigned | State::InProgress => false,
    }
}
