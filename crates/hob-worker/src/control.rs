//! What people ask of Hob from outside a run: pause, resume, terminate, the kill switch, and commands in comments. It
//! goes through the forge, so it reaches a worker on any machine.

use hob_domain::{
    Command, Control, Event, IssueNumber, Login, Pause, Record, RepositoryRecord, Request, STATUS_MARK, State,
    Timestamp, command_in, held_by,
};
use hob_forge::{BaseBranch, ForgeError, HeldLease, Issue};

use crate::{
    WorkError, Worker,
    claim::{Seen, Taken},
};

/// Looks at an issue whose ledger moves under a request, at most.
const TRIES: usize = 5;

/// A command of somebody whose word counts.
pub(super) struct Said {
    pub(super) command: Command,
    pub(super) by: Login,
}

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// It is done.
    Done,
    /// A worker holds the issue and does it at its next look, within `poll.interval`.
    Passed,
}

impl Worker {
    /// Leaves an issue alone until it is resumed; whoever works on it keeps the work on the branch and puts it back.
    ///
    /// # Errors
    /// [`WorkError::NoLedger`] when Hob has nothing to do with the issue.
    pub async fn pause(&self, number: IssueNumber, reason: &str) -> Result<Asked, WorkError> {
        self.control(number, Control::Pause, reason).await
    }

    /// Ends the work on an issue for good, as `/hob cancel` does.
    ///
    /// # Errors
    /// [`WorkError::NoLedger`] when Hob has nothing to do with the issue.
    pub async fn terminate(&self, number: IssueNumber) -> Result<Asked, WorkError> {
        self.control(number, Control::Terminate, "").await
    }

    /// Lets an issue go on that was paused.
    ///
    /// # Errors
    /// [`WorkError::NotPaused`] when it is not.
    pub async fn resume(&self, number: IssueNumber) -> Result<(), WorkError> {
        let Some((issue, Some(entry), _)) = self.look_at(number).await? else {
            return Err(WorkError::NoLedger(number));
        };
        let pending = entry.record.request.as_ref().is_some_and(|request| request.control == Control::Pause);
        if entry.record.paused.is_none() && !pending {
            return Err(WorkError::NotPaused(number));
        }
        let (by, base) = (self.operator().await?, self.forge.base_branch().await?);
        let seen = Seen { issue, entry: Some(entry) };
        let change = |record: &mut Record| {
            record.paused = None;
            record.request = None;
            format!("resumed by {by}")
        };
        let lease = self.acquire(&seen, &base, change).await?;
        self.show_and_release(seen, lease, "resumed").await.map(drop)
    }

    /// Sets the kill switch, or takes it back: nothing is claimed in the repository while it is set.
    ///
    /// # Errors
    /// [`WorkError`] of a call.
    pub async fn pause_all(&self, pause: Option<&str>) -> Result<(), WorkError> {
        let (by, base) = (self.operator().await?, self.forge.base_branch().await?);
        // What is known may be old; the switch has to follow the record that stands.
        self.forge.repository_entry(self.forge.tips().await?.repository.as_ref()).await?;
        let changed = self.forge.change_repository(&base.tree, |before, nonce, now| {
            let paused = pause.map(|reason| Pause { by: by.clone(), since: now, reason: reason.to_owned() });
            let sentence =
                if paused.is_some() { format!("{by} paused all work") } else { format!("{by} resumed work") };
            Ok((RepositoryRecord { paused, ..RepositoryRecord::next(before, nonce, now) }, sentence, ()))
        });
        Ok(changed.await??)
    }

    /// The repository's own ledger as it stands: the kill switch, the day, the hour. None: nothing was claimed yet.
    ///
    /// # Errors
    /// [`WorkError`] of a read.
    pub async fn repository_record(&self) -> Result<Option<RepositoryRecord>, WorkError> {
        let tip = self.forge.tips().await?.repository;
        Ok(self.forge.repository_entry(tip.as_ref()).await?.map(|entry| entry.record))
    }

    /// Does it now where nobody holds the issue, else asks the holder in the ledger.
    async fn control(&self, number: IssueNumber, control: Control, reason: &str) -> Result<Asked, WorkError> {
        let (by, base) = (self.operator().await?, self.forge.base_branch().await?);
        for _try in 0..TRIES {
            let Some((issue, Some(entry), _)) = self.look_at(number).await? else {
                return Err(WorkError::NoLedger(number));
            };
            let now = self.forge.now();
            let request = Request { control, by: by.clone(), at: now, reason: reason.to_owned() };
            let done = match held_by(&entry.record, now, self.settings.lease.skew) {
                Some(_) => self.forge.ask(&entry, request).await.map(|()| Asked::Passed).map_err(WorkError::from),
                None => {
                    let seen = Seen { issue, entry: Some(entry) };
                    self.obey(seen, request, &base).await.map(|_taken| Asked::Done)
                }
            };
            match done {
                // Its holder wrote, or somebody took it: what stands there now decides.
                Err(WorkError::Forge(ForgeError::Lost(_) | ForgeError::Held(_))) => {}
                done => return done,
            }
        }
        Err(WorkError::Restless(number))
    }

    /// Does what was asked of an issue that nobody holds.
    pub(super) async fn obey(&self, seen: Seen, request: Request, base: &BaseBranch) -> Result<Taken, WorkError> {
        match request.control {
            Control::Terminate => self.cancel(seen, base).await,
            Control::Pause => {
                let pause = request.pause(self.forge.now());
                let lease = self.acquire(&seen, base, |record| put_aside(record, pause)).await?;
                self.show_and_release(seen, lease, "paused").await
            }
        }
    }

    /// Pauses the issue whose lease is held: its attempt does not count.
    pub(super) async fn pause_held(
        &self,
        lease: &HeldLease,
        labels: &mut Vec<String>,
        pause: Pause,
    ) -> Result<(), WorkError> {
        let settle = self.settle(lease, labels, |record| {
            uncount(record);
            put_aside(record, pause)
        });
        settle.await?;
        self.release(lease).await
    }

    /// Something happened on a waiting issue: a command is obeyed.
    pub(super) async fn seek_command(&self, seen: Seen, base: &BaseBranch) -> Result<Taken, WorkError> {
        let Some(record) = seen.entry.as_ref().map(|entry| &entry.record) else { return Ok(Taken::Nothing) };
        let Some(said) = self.command_since(&seen.issue, record.renewed_at).await? else {
            return Ok(Taken::Nothing);
        };
        match (said.command, record.state) {
            (Command::Cancel, _) => self.cancel(seen, base).await,
            // Whoever says so does not want to wait.
            (Command::Retry | Command::Unblock(_), State::Ready) => {
                let change = |record: &mut Record| {
                    record.retry_after = None;
                    format!("{} asked to try again now", said.by)
                };
                let lease = self.acquire(&seen, base, change).await?;
                self.show_and_release(seen, lease, "to be tried again now").await
            }
            (Command::Retry | Command::Unblock(_) | Command::Approve(_), _) => Ok(Taken::Nothing),
        }
    }

    /// The first command since a moment by somebody whose word counts.
    pub(super) async fn command_since(&self, issue: &Issue, since: Timestamp) -> Result<Option<Said>, WorkError> {
        if issue.comments == 0 {
            return Ok(None);
        }
        for comment in self.forge.comments(issue.number, Some(since)).await? {
            let old = comment.created_at < since || comment.body.starts_with(STATUS_MARK);
            let (Some(command), Some(author), false) = (command_in(&comment.body), &comment.author, old) else {
                continue;
            };
            if self.judge(author).await?.is_ok() {
                return Ok(Some(Said { command, by: author.login.clone() }));
            }
        }
        Ok(None)
    }

    async fn operator(&self) -> Result<Login, WorkError> {
        Ok(self.own_login().await?.cloned().unwrap_or_else(|| "the operator".into()))
    }
}

fn put_aside(record: &mut Record, pause: Pause) -> String {
    let sentence = format!("paused by {}", pause.by);
    record.request = None;
    record.state = record.state.after(Event::TransientFailure).unwrap_or(record.state);
    record.paused = Some(pause);
    sentence
}

/// The attempt under way does not count.
pub(super) fn uncount(record: &mut Record) {
    record.attempt = record.attempt.saturating_sub(1);
    record.attempts_ever = record.attempts_ever.saturating_sub(1);
}
