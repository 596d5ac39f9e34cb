//! Runs an agent for a caller: its session, its retries and its idle timeout.
//!
//! - Flow: the session is opened or resumed; the agent runs; a transient failure is retried in place a few times; the
//!   outcome is written to the session.
//! - Guarantees: runs share no state: each has its own folder, session and limits. Cost and limits count over all its
//!   retries.
//! - Caveats: a run whose session cannot be written works without one, and cannot be resumed.

use hob_config::RunSettings;
use hob_domain::{FailureClass, IssueNumber, LastLines, Outcome, RepoName, RunId, RunReport, RunRequest, Spend};
use hob_process::TaggedProcesses;
use tokio::{task::spawn_blocking, time::Instant};
use tracing::Instrument;

use crate::{
    AgentBackend, AgentError, RunContext,
    agent_span::{agent_ended, agent_span},
    environment::RUN_VARIABLE,
    report::{cancelled, unfinished},
    session::{Header, RunLimits, Session, SessionEvent, SessionRecord, SessionState, Sessions, VERSION},
};

/// Runs agents.
#[derive(Debug, Clone)]
pub struct Executor {
    sessions: Sessions,
    rules: RunSettings,
}

impl Executor {
    /// Keeps `sessions`, and retries and waits by `rules`.
    pub fn new(sessions: Sessions, rules: RunSettings) -> Self {
        Self { sessions, rules }
    }

    /// The session `id` on this machine, if it is this issue's and `agent` can resume it. One that ended with a
    /// permanent failure is not resumed, because it would lead there again.
    pub async fn resumable(
        &self,
        id: &RunId,
        agent: &str,
        repo: &RepoName,
        issue: IssueNumber,
    ) -> Option<SessionRecord> {
        let record = self.last_session(id, repo, issue).await.filter(|record| record.agent == agent)?;
        match (&record.state, &record.outcome) {
            (SessionState::Pending | SessionState::Running, _) => None,
            (_, Some(Outcome::Failed { failure: FailureClass::Permanent, .. })) => None,
            (SessionState::Completed | SessionState::Blocked | SessionState::Failed | SessionState::Interrupted, _) => {
                Some(record)
            }
        }
    }

    /// The outcome of `agent`'s last run in the session `id`; `None` if this machine does not have it, or it is not
    /// this issue's.
    pub async fn last_outcome(&self, id: &RunId, agent: &str, repo: &RepoName, issue: IssueNumber) -> Option<Outcome> {
        self.last_session(id, repo, issue).await.filter(|record| record.agent == agent)?.outcome
    }

    /// The issue's bill with what the session `id` cost, whose worker died; `None` if this machine does not have it, it is not
    /// this issue's, or a process still runs it.
    pub async fn bill_left(&self, id: &RunId, repo: &RepoName, issue: IssueNumber) -> Option<Spend> {
        let record = self.last_session(id, repo, issue).await?;
        match record.state {
            SessionState::Pending | SessionState::Running => None,
            SessionState::Completed | SessionState::Blocked | SessionState::Failed | SessionState::Interrupted => {
                Some(record.issue_bill())
            }
        }
    }

    /// The session `id` as its last writer left it. Anyone who can write to the ledger can name any session, so one of another
    /// issue is none.
    async fn last_session(&self, id: &RunId, repo: &RepoName, issue: IssueNumber) -> Option<SessionRecord> {
        let (sessions, id) = (self.sessions.clone(), id.clone());
        let record = spawn_blocking(move || sessions.record_to_resume(&id)).await.ok()??;
        (record.repo == *repo && record.issue == issue).then_some(record)
    }

    /// Notes in a session which checks failed on its work, for people who look at it on this machine.
    pub async fn note_failed_checks(&self, id: &RunId, failed: Vec<LastLines>) {
        let (sessions, session) = (self.sessions.clone(), id.clone());
        let noted = spawn_blocking(move || sessions.note_failed_checks(&session, failed)).await;
        if let Ok(Err(error)) = noted {
            tracing::debug!(session = %id, %error, "what checks printed is not in the session `{id}`: {error}");
        }
    }

    /// Ends the remains of a session's last run whose process was killed: its agent and the agent's children.
    pub async fn end_leftovers(&self, record: &SessionRecord) {
        if let (SessionState::Interrupted, Some(run)) = (record.state, record.runs.last()) {
            TaggedProcesses::new(RUN_VARIABLE, run.as_str()).end().await;
        }
    }

    /// Runs `agent`, which is known as `name`, until its outcome is known.
    ///
    /// # Errors
    /// [`AgentError`] when the agent could not be run at all.
    pub async fn run(
        &self,
        name: &str,
        agent: &dyn AgentBackend,
        request: &RunRequest,
        context: &RunContext,
    ) -> Result<RunReport, AgentError> {
        if request.investigation.is_some() && !agent.investigates() {
            let reason = format!("the agent `{name}` cannot investigate: it only applies what its recipe says");
            return Err(AgentError::setup(reason));
        }
        let context = context.clone().in_session(self.session(name, request).await);
        let span = agent_span(name, agent, request);
        let report = self.tries(agent, request, &context).instrument(span.clone()).await;
        agent_ended(&span, &report);
        context.session.flush().await;
        report
    }

    /// Runs the agent, and retries transient failures.
    async fn tries(
        &self,
        agent: &dyn AgentBackend,
        request: &RunRequest,
        context: &RunContext,
    ) -> Result<RunReport, AgentError> {
        let (started, mut spent, mut pause) = (Instant::now(), Spend::default(), self.rules.retry_delay);
        for tries_left in (0..=self.rules.retries).rev() {
            let left = left(request, spent, started);
            context.session.add(SessionEvent::Started {
                run: request.run.clone(),
                brief: request.brief.clone(),
                limits: RunLimits { seconds: left.time.as_secs(), usd_micros: left.usd_micros, tokens: left.tokens },
                bill: context.bill,
            });
            let (report, silent) = self.watched(agent, &left, context, spent).await;
            let ended = match &report {
                Ok(report) => (report.outcome.clone(), report.spend),
                Err(error) => {
                    let outcome = Outcome::Failed { reason: error.reason.clone(), failure: error.failure.clone() };
                    (outcome, Spend::default())
                }
            };
            context.session.add(SessionEvent::Ended { outcome: ended.0, spend: ended.1 });
            let report = report?;
            spent = spent + report.spend;
            let Outcome::Failed { reason, failure } = &report.outcome else {
                return Ok(RunReport { spend: spent, ..report });
            };
            let may_pass = match failure {
                FailureClass::Transient { retry_after } => Some(retry_after.unwrap_or_default().max(pause)),
                FailureClass::Unfinished => Some(pause),
                FailureClass::QuotaExhausted { .. }
                | FailureClass::Permanent
                | FailureClass::NeedsHuman
                | FailureClass::Misconfigured
                | FailureClass::Cancelled => None,
            };
            let time_left = request.time.saturating_sub(started.elapsed());
            let pause_now = may_pass.filter(|pause| {
                !silent && tries_left > 0 && *pause <= self.rules.retry_delay_max && *pause < time_left
            });
            let Some(pause_now) = pause_now else { return Ok(RunReport { spend: spent, ..report }) };
            let text = format!("failed, and tried again in {} s: {reason}", pause_now.as_secs_f32());
            context.session.add(SessionEvent::Noted { text: text.clone() });
            context.show(text);
            tokio::select! {
                () = tokio::time::sleep(pause_now) => {}
                () = context.cancel.cancelled() => return Ok(RunReport { outcome: cancelled(), spend: spent }),
            }
            pause = (pause * 2).min(self.rules.retry_delay_max);
        }
        Ok(RunReport { outcome: cancelled(), spend: spent })
    }

    /// The session of a run. One that cannot be resumed is started over under the run's own name; one that cannot be
    /// kept is a warning: the work is worth more than its record.
    async fn session(&self, name: &str, request: &RunRequest) -> Session {
        let header = |session: &RunId| Header {
            transcript: VERSION,
            session: session.clone(),
            repo: request.repo.clone(),
            issue: request.issue,
            agent: name.to_owned(),
        };
        let (sessions, run) = (self.sessions.clone(), request.run.clone());
        let (wanted, own) = (header(&request.session), header(&request.run));
        let opened = spawn_blocking(move || {
            sessions.open(&wanted).or_else(|error| {
                tracing::warn!(run.id = %run, %error, "a session of its own for run {run}: {error}");
                sessions.open(&own)
            })
        });
        let opened = opened.await.map_err(|error| error.to_string());
        opened.and_then(|opened| opened.map_err(|error| error.to_string())).unwrap_or_else(|error| {
            tracing::warn!(run.id = %request.run, %error, "run {} has no session: {error}", request.run);
            Session::default()
        })
    }

    /// Runs the agent once; returns whether it was ended because it was idle.
    async fn watched(
        &self,
        agent: &dyn AgentBackend,
        request: &RunRequest,
        context: &RunContext,
        before: Spend,
    ) -> (Result<RunReport, AgentError>, bool) {
        let cancel = context.cancel.child_token();
        let inner = context.again(cancel.clone(), before);
        let mut work = agent.run(request, &inner);
        let mut warned = false;
        loop {
            let limit = if warned { self.rules.idle_timeout } else { self.rules.idle_warning() };
            let wait = async {
                match (limit.is_zero(), inner.last_alive().checked_add(limit)) {
                    (false, Some(then)) => tokio::time::sleep_until(then).await,
                    (true, _) | (false, None) => std::future::pending().await,
                }
            };
            tokio::select! {
                report = &mut work => return (report, false),
                () = wait => {}
            }
            let idle = inner.last_alive().elapsed();
            if idle < limit {
                warned &= idle >= self.rules.idle_warning();
                continue;
            }
            let seconds = idle.as_secs();
            if warned {
                cancel.cancel();
                let report = work.await.map(|report| RunReport {
                    outcome: unfinished(format!("the agent was idle for {seconds} s and was ended")),
                    ..report
                });
                return (report, true);
            }
            warned = true;
            let mut text = format!("idle for {seconds} s");
            if !self.rules.idle_timeout.is_zero() {
                text.push_str(&format!("; the run is ended after {} s", self.rules.idle_timeout.as_secs()));
            }
            context.session.add(SessionEvent::Noted { text: text.clone() });
            context.show(text);
        }
    }
}

/// The rest of a request's limits after the given spend and elapsed time.
fn left(request: &RunRequest, spent: Spend, started: Instant) -> RunRequest {
    RunRequest {
        time: request.time.saturating_sub(started.elapsed()),
        usd_micros: request.usd_micros.map(|limit| limit.saturating_sub(spent.usd_micros)),
        tokens: request.tokens.map(|limit| limit.saturating_sub(spent.tokens())),
        ..request.clone()
    }
}
