//! One attempt at one issue: from the lease that was won to a pull request, a question, or another try later.

use std::{
    sync::{Arc, Mutex, OnceLock},
    time::Duration,
};

use tokio::time::Instant;

use crate::{
    agent::{AgentBackend, Registry},
    config::{REPOSITORY_SETTINGS_PATH, RepositorySettings},
    domain::{
        Allowance, BlockKind, Blocked, Event, FailureClass, Login, RunId, STATUS_MARK, Sha, Spend, State, branch_for,
        has_label, title,
    },
    forge::{BaseBranch, ForgeError, HeldLease, Issue},
    worker::{Notice, WorkError, Worker, claim::Taken, control::uncount, trust::approved_hash},
    workspace::{BranchName, Checkout, Foreign, Leftover, WorkspaceError},
};

/// The pause before a mirror that is in use is tried again.
const BUSY_PAUSE: Duration = Duration::from_millis(100);

/// The wait for a model's quota whose reset is not known.
const QUOTA_PAUSE: Duration = Duration::from_secs(3_600);

/// The longest time for keeping the work of an attempt that ends early; a worker that is stopped has 5 s in all.
const KEEP_TIME: Duration = Duration::from_secs(3);

/// All that a run and its proof need.
pub(super) struct Job<'a> {
    pub(super) lease: &'a HeldLease,
    pub(super) issue: &'a Issue,
    pub(super) base: &'a BaseBranch,
    pub(super) rules: RepositorySettings,
    pub(super) agent_name: String,
    pub(super) agent: Arc<dyn AgentBackend>,
    pub(super) checkout: Checkout,
    pub(super) comments: Vec<(Login, String)>,
    pub(super) run: RunId,
    /// The session of its runs: that of an earlier attempt where this machine has it, else their own.
    pub(super) session: RunId,
    pub(super) ends: Instant,
    /// What the attempt may take.
    pub(super) allowance: Allowance,
    /// The issue's bill when the attempt began.
    pub(super) began: Spend,
    /// Where the branch stands on the server, as far as this attempt knows.
    pub(super) pushed: Mutex<Option<Sha>>,
}

impl Worker {
    /// Works on the issue whose lease is held, and lets the lease go.
    pub(super) async fn attempt(&self, lease: &HeldLease, issue: Issue, base: &BaseBranch) -> Result<Taken, WorkError> {
        let mut labels = issue.labels.clone();
        let began = lease.record().spend;
        // What the agent works on outlives a run that is cut short: its work is kept.
        let begun = OnceLock::new();
        // Boxed, here and below: the future of a whole attempt is too large for a small thread's stack.
        let work = Box::pin(self.work(lease, &issue, &mut labels, base, &begun));
        let worked = self.with_heartbeat(lease, &issue, work).await;
        let ended = Box::pin(self.end(lease, &mut labels, (base, began), begun.get(), worked)).await;
        // A bill that the forge would not take is not forgotten. One whose write had its effect unseen is paid twice, which
        // is the safer side.
        self.keep_bill(lease.issue(), lease.unwritten());
        ended.map(|()| Taken::Worked)
    }

    /// What follows from how the work went; at last the lease is let go.
    async fn end(
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

    async fn work<'a>(
        &self,
        lease: &'a HeldLease,
        issue: &'a Issue,
        labels: &mut Vec<String>,
        base: &'a BaseBranch,
        begun: &OnceLock<Job<'a>>,
    ) -> Result<(), WorkError> {
        let ends = Instant::now() + self.settings.limits.issue_time;
        self.label(lease, labels, State::Assigned).await?;
        self.tell(&Notice::Moved {
            issue: issue.number,
            state: State::Assigned,
            why: format!("claimed, generation {}", lease.generation()),
        });
        let record = lease.record();
        if record.attempt > self.settings.limits.attempts {
            let text = format!("All {} attempts are used up.", self.settings.limits.attempts);
            return self.block(lease, labels, self.limit_reached(text)).await;
        }
        if record.trigger.as_ref().is_some_and(|trigger| trigger.approved != approved_hash(issue)) {
            return self.block(lease, labels, self.edited()).await;
        }
        let allowance = match self.issue_allowance(lease) {
            Ok(allowance) => Box::pin(self.reserve(lease, base, allowance)).await??,
            Err(exhausted) => {
                return self.block(lease, labels, self.used_up(&exhausted.to_string(), record.spend)).await;
            }
        };
        let prepared = Box::pin(self.prepare(lease, issue, base, (allowance, ends))).await?;
        let identity = &self.settings.identity.email;
        if let Some(foreign) = prepared.checkout.foreign_commit(identity, record.accepted.as_ref()).await? {
            return Box::pin(self.step_aside(lease, labels, &prepared, &foreign)).await;
        }
        let job = begun.get_or_init(|| prepared);
        let settle = self.settle(lease, labels, |record| {
            record.state = record.state.after(Event::AgentStarted).unwrap_or(State::InProgress);
            record.branch = Some(job.checkout.branch().to_string());
            record.base_sha = Some(job.checkout.base().clone());
            record.session = Some(job.session.clone());
            format!("the agent `{}` started on `{}`", job.agent_name, job.checkout.branch())
        });
        settle.await?;
        if job.checkout.is_kept() {
            self.keep_what_there_is(job).await;
        }
        Box::pin(self.rounds(job, labels)).await
    }

    async fn prepare<'a>(
        &self,
        lease: &'a HeldLease,
        issue: &'a Issue,
        base: &'a BaseBranch,
        (allowance, ends): (Allowance, Instant),
    ) -> Result<Job<'a>, WorkError> {
        self.progress(issue, "fetching the repository");
        let base_branch: BranchName = base.name.parse()?;
        let remote = self.remote().await?;
        let base_sha = self.when_free(async || self.workspace.fetch(&remote, &base_branch).await).await?;
        let text = self.forge.file(REPOSITORY_SETTINGS_PATH, &base_sha).await?.unwrap_or_default();
        let rules = RepositorySettings::parse(&text)?;
        let (agent_name, agent) = self.choose_agent(issue, &rules)?;
        let branch = self.choose_branch(lease, issue).await?;
        let earlier = lease.record().session.and_then(|session| self.executor.resumable(&session, &agent_name));
        let leftover = match &earlier {
            // A session goes on in the folder that it left.
            Some(session) => {
                self.executor.end_leftovers(session);
                // What the run that was killed spent after its worker's last heartbeat.
                lease.note_spend(session.bill().since(lease.record().spend)).await;
                Leftover::Keep
            }
            None => Leftover::Remove,
        };
        let prepare = async || self.workspace.prepare((&remote, issue.number), &branch, &base_sha, leftover).await;
        let checkout = self.when_free(prepare).await?;
        let comments = self.trusted_comments(issue).await?;
        let nonce = lease.record().nonce;
        let (repo, nonce) = (self.forge.repo(), nonce.as_str().get(..8).unwrap_or_default().to_owned());
        let run = RunId(format!("{}-{}-{}-{}-{nonce}", repo.owner(), repo.name(), issue.number, lease.generation()));
        let session = earlier.map_or_else(|| run.clone(), |session| session.id);
        let (began, pushed) = (lease.record().spend, Mutex::new(checkout.pushed().cloned()));
        Ok(Job {
            lease,
            issue,
            base,
            rules,
            agent_name,
            agent,
            checkout,
            comments,
            run,
            session,
            ends,
            allowance,
            began,
            pushed,
        })
    }

    /// Another process of Hob may use the same mirror just now: waits for it, as long as a transfer may take.
    async fn when_free<T>(&self, step: impl AsyncFn() -> Result<T, WorkspaceError>) -> Result<T, WorkspaceError> {
        let ends = Instant::now() + self.settings.workspace.transfer_time;
        loop {
            match step().await {
                Err(WorkspaceError::Busy { .. }) if Instant::now() < ends => tokio::time::sleep(BUSY_PAUSE).await,
                result => return result,
            }
        }
    }

    /// The agent that works: the flag's, else the label's, else the repository's, else the process's.
    fn choose_agent(
        &self,
        issue: &Issue,
        rules: &RepositorySettings,
    ) -> Result<(String, Arc<dyn AgentBackend>), WorkError> {
        let label = self.settings.labels.agent(&issue.labels).map(str::to_owned);
        let chosen = self.agent.clone().or(label).or_else(|| rules.agent.clone());
        let name = chosen.unwrap_or_else(|| self.settings.agent.default.clone());
        let mut parts = self.agents.clone();
        // What whoever runs Hob calls by a name stays what it is, whatever a repository calls so.
        for (name, settings) in &rules.agents {
            parts.agents.entry(name.clone()).or_insert_with(|| settings.clone());
        }
        for (name, recipe) in &rules.recipes {
            parts.recipes.entry(name.clone()).or_insert_with(|| recipe.clone());
        }
        let agent = Registry::new(parts)?.get(&name)?;
        Ok((name, agent))
    }

    /// The issue's branch. One that is there already and that the ledger does not know is somebody else's: then
    /// another name is taken.
    async fn choose_branch(&self, lease: &HeldLease, issue: &Issue) -> Result<BranchName, WorkError> {
        if let Some(known) = lease.record().branch {
            return Ok(known.parse()?);
        }
        let remote = self.remote().await?;
        let wanted = branch_for(&self.settings.workspace.branch_prefix, issue.number, &issue.title);
        let mut name = wanted.clone();
        for n in 2..100 {
            let branch: BranchName = name.parse()?;
            // All branches below the prefix were fetched just now, and the push expects that this one is not there.
            if self.workspace.fetched_tip(&remote, &branch).await?.is_none() {
                return Ok(branch);
            }
            name = format!("{wanted}-{n}");
        }
        Err(WorkError::Forge(ForgeError::Refused {
            what: format!("make a branch `{wanted}`"),
            status: 422,
            message: "99 branches of that name are there already: delete some".to_owned(),
        }))
    }

    /// Comments of people whose word counts; nobody else's reach the agent.
    async fn trusted_comments(&self, issue: &Issue) -> Result<Vec<(Login, String)>, WorkError> {
        let mut trusted = Vec::new();
        if issue.comments == 0 {
            return Ok(trusted);
        }
        for comment in self.forge.comments(issue.number, None).await? {
            let Some(author) = comment.author else { continue };
            // The status comment is all that Hob writes; whoever else sets its mark is left out too.
            if !comment.body.starts_with(STATUS_MARK) && self.judge(&author).await?.is_ok() {
                trusted.push((author.login, comment.body));
            }
        }
        Ok(trusted)
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

    /// A person pushed to Hob's branch: it is theirs until they say otherwise.
    async fn step_aside(
        &self,
        lease: &HeldLease,
        labels: &mut Vec<String>,
        job: &Job<'_>,
        foreign: &Foreign,
    ) -> Result<(), WorkError> {
        let (branch, start, since) = (job.checkout.branch(), job.checkout.start().clone(), self.forge.now());
        let blocked = Blocked {
            kind: BlockKind::PersonPushed,
            text: format!(
                "{} pushed the commit {} to `{branch}`, so Hob steps aside.",
                title(&foreign.author, 80),
                foreign.sha.short()
            ),
            question: "Should Hob go on from the branch as it stands? An answer says yes.".to_owned(),
            since,
        };
        let settle = self.settle(lease, labels, |record| {
            let sentence = format!("needs a person: {}", blocked.text);
            record.state = State::Blocked;
            record.blocked = Some(blocked);
            record.branch = Some(branch.to_string());
            record.accepted = Some(start);
            sentence
        });
        settle.await
    }

    /// A budget of the issue's whole life is spent.
    pub(super) fn used_up(&self, budget: &str, bill: Spend) -> Blocked {
        Blocked {
            kind: BlockKind::LimitReached,
            text: format!("The issue's {budget} is used up. Its bill so far: {bill}."),
            question: "Is it worth more? Then raise the limit in Hob's settings and answer; no answer or label alone \
                       lets it go on. Else do the rest by hand."
                .to_owned(),
            since: self.forge.now(),
        }
    }

    pub(super) fn limit_reached(&self, text: String) -> Blocked {
        let question = "Should Hob try again? An answer starts the count anew.".to_owned();
        Blocked { kind: BlockKind::LimitReached, text, question, since: self.forge.now() }
    }

    pub(super) fn edited(&self) -> Blocked {
        Blocked {
            kind: BlockKind::EditedMeanwhile,
            text: "The issue's title or body was edited after Hob was set to work on it.".to_owned(),
            question: "Is the text as it stands now what Hob should work on?".to_owned(),
            since: self.forge.now(),
        }
    }

    pub(super) fn progress(&self, issue: &Issue, text: &str) {
        self.tell(&Notice::Progress { issue: issue.number, text: text.to_owned() });
    }

    /// Whether the issue still asks for the work.
    pub(super) fn still_wanted(&self, issue: &Issue) -> bool {
        issue.status == crate::domain::IssueStatus::Open && has_label(&issue.labels, &self.settings.labels.trigger)
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
