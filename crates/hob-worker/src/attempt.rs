//! One attempt at one issue: from the lease that was won to a pull request, a question, or another try later.

use std::sync::{Arc, Mutex, OnceLock};

use hob_agent::AgentBackend;
use hob_config::RepositorySettings;
use hob_domain::{Allowance, BlockKind, Blocked, Event, Login, RunId, Sha, Spend, State, has_label, title};
use hob_forge::{BaseBranch, HeldLease, Issue};
use hob_workspace::{Checkout, Foreign};
use tokio::time::Instant;

use crate::{Notice, WorkError, Worker, claim::Taken, trust::approved_hash};

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
        issue.status == hob_domain::IssueStatus::Open && has_label(&issue.labels, &self.settings.labels.trigger)
    }
}
