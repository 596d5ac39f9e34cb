//! The contract between Hob and an agent.
//!
//! Flow: the worker builds a [`RunRequest`], calls [`AgentBackend::run`], reads the [`RunReport`].
//! Guarantees required of a backend: it returns before the request's time is over or soon after `cancel`; none of its
//! children survives; it writes only into the request's folder and its own session.

use std::{
    error::Error,
    fmt::Display,
    sync::{Arc, Mutex, PoisonError},
};

use hob_domain::{
    Checklist, FailureClass, Progress, RunReport, RunRequest, Spend, TestCommand, investigation::Iteration,
};
use hob_egress::Asked;
use hob_process::Environment;
use hob_sandbox::Sandbox;
use tokio::{sync::mpsc, time::Instant};
use tokio_util::sync::CancellationToken;

use crate::{
    Advance, Approval,
    noted::Noted,
    reached::Reached,
    session::{Session, SessionEvent},
    steering::Steering,
};

/// Lines of progress that a run may report at once: as many as a busy agent has in minutes.
const LINES_AT_ONCE: u64 = 1_000;
/// Lines a second that it may report beyond these, over its whole time.
const LINES_A_SECOND: u64 = 20;

/// Counts a run's lines of progress: a program that floods its output must fill neither the disk nor the log.
#[derive(Debug)]
struct Lines {
    began: Instant,
    said: u64,
    left_out: u64,
}

impl Lines {
    /// The number of lines left out before this one; `None` if it is left out, too.
    fn admit(&mut self) -> Option<u64> {
        if self.said >= LINES_AT_ONCE + self.began.elapsed().as_secs() * LINES_A_SECOND {
            self.left_out += 1;
            return None;
        }
        self.said += 1;
        Some(std::mem::take(&mut self.left_out))
    }
}

/// The surroundings of a run.
#[derive(Debug, Clone)]
pub struct RunContext {
    /// Ends the run.
    pub cancel: CancellationToken,
    /// The channel of progress; if it is full, lines are dropped, so that it never slows the run.
    pub progress: mpsc::Sender<Progress>,
    /// The environment the agent's children start from.
    pub environment: Environment,
    /// The sandbox of its children.
    pub sandbox: Sandbox,
    /// The approver of actions with more impact than runs without approval.
    pub approval: Approval,
    /// The session that records the run.
    pub session: Session,
    /// What people say meanwhile.
    pub steering: Steering,
    /// The hosts that its programs reached.
    pub reached: Reached,
    /// The channel to the tools of an investigation; `None` if the run has none of Hob's.
    pub(super) tools: Option<mpsc::Sender<Asked>>,
    /// The bill when the run begins.
    pub(super) bill: Spend,
    /// The spend of earlier tries, if the run is retried.
    before: Spend,
    /// Where it asks before it spends; `None` if there is no ledger.
    advances: Option<mpsc::Sender<Advance>>,
    alive: Arc<Mutex<Instant>>,
    lines: Arc<Mutex<Lines>>,
}

impl RunContext {
    /// A run without a session and without an approver.
    pub fn new(
        cancel: CancellationToken,
        progress: mpsc::Sender<Progress>,
        environment: Environment,
        sandbox: Sandbox,
    ) -> Self {
        let alive = Arc::new(Mutex::new(Instant::now()));
        let (approval, session, steering) = (Approval::Nobody, Session::default(), Steering::default());
        let (bill, before) = (Spend::default(), Spend::default());
        let lines = Arc::new(Mutex::new(Lines { began: Instant::now(), said: 0, left_out: 0 }));
        let (tools, reached, advances) = (None, Reached::default(), None);
        Self {
            cancel,
            progress,
            environment,
            sandbox,
            approval,
            session,
            steering,
            reached,
            tools,
            bill,
            before,
            advances,
            alive,
            lines,
        }
    }

    /// The same run, with an approver.
    #[must_use]
    pub fn asking(self, approval: Approval) -> Self {
        Self { approval, ..self }
    }

    /// The same run, which hears what people say meanwhile.
    #[must_use]
    pub fn hearing(self, steering: Steering) -> Self {
        Self { steering, ..self }
    }

    /// The same run, with the bill when it begins; before it spends, it asks `advances`.
    #[must_use]
    pub fn billed(self, bill: Spend, advances: mpsc::Sender<Advance>) -> Self {
        Self { bill, advances: Some(advances), ..self }
    }

    /// The same run, recorded in `session`.
    #[must_use]
    pub fn in_session(self, session: Session) -> Self {
        Self { session, ..self }
    }

    /// The context of another try of the run, which counts its cost from zero.
    pub(super) fn again(&self, cancel: CancellationToken, before: Spend) -> Self {
        let alive = Arc::new(Mutex::new(Instant::now()));
        Self { cancel, before, alive, ..self.clone() }
    }

    /// Where its spending is noted.
    pub(crate) fn noted(&self) -> Noted {
        Noted { session: self.session.clone(), bill: self.bill + self.before, advances: self.advances.clone() }
    }

    /// The context of one run of a program that investigates: `cancel` ends it, and it calls Hob's tools through
    /// `tools`.
    pub(super) fn with_tools(&self, cancel: CancellationToken, tools: Option<mpsc::Sender<Asked>>) -> Self {
        Self { cancel, tools, ..self.clone() }
    }

    /// Reports progress and records it. Of a flood of lines only the beginning is reported, with the number of those
    /// left out.
    pub fn say(&self, text: impl Into<String>) {
        let Some(left_out) = self.lines.lock().unwrap_or_else(PoisonError::into_inner).admit() else {
            return self.alive();
        };
        if left_out > 0 {
            let text = format!("{left_out} lines were left out: more than {LINES_A_SECOND} a second are not kept");
            self.session.add(SessionEvent::Noted { text: text.clone() });
            self.show(text);
        }
        let text = text.into();
        self.session.add(SessionEvent::Progress { text: text.clone() });
        self.show(text);
    }

    /// Reports progress.
    pub fn show(&self, text: impl Into<String>) {
        self.alive();
        // Progress may go unread: a closed or full channel is not the agent's trouble.
        self.progress.try_send(Progress { text: text.into(), ..Progress::default() }).ok();
    }

    /// Shows that another model answers instead of the chosen one.
    pub(crate) fn show_fallback(&self, text: String) {
        self.alive();
        self.progress.try_send(Progress { text, fell_back: true, ..Progress::default() }).ok();
    }

    /// Reports the run's cost so far: if it is cut short, that much is known.
    pub fn spent(&self, spent: Spend) {
        self.progress.try_send(Progress { spent: Some(self.before + spent), ..Progress::default() }).ok();
    }

    /// Reports a step of an investigation.
    pub fn iteration(&self, iteration: Iteration) {
        self.progress.try_send(Progress { iteration: Some(iteration), ..Progress::default() }).ok();
    }

    /// Reports how far the agent is by its own checklist.
    pub fn checklist(&self, checklist: Checklist) {
        self.progress.try_send(Progress { checklist: Some(checklist), ..Progress::default() }).ok();
    }

    /// Reports a command that ran one test, or one file of tests, with success.
    pub(crate) fn tested(&self, command: TestCommand) {
        self.progress.try_send(Progress { tested: Some(command), ..Progress::default() }).ok();
    }

    /// Reports activity: a run that is idle for too long is ended.
    pub fn alive(&self) {
        self.alive_until(Instant::now());
    }

    /// Counts the run as active until `then`: each wait until then has its own limit.
    pub fn alive_until(&self, then: Instant) {
        let mut alive = self.alive.lock().unwrap_or_else(PoisonError::into_inner);
        *alive = then.max(*alive);
    }

    /// When it was last active; may be in the future.
    pub(super) fn last_alive(&self) -> Instant {
        *self.alive.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A program that works on an issue in a folder.
#[async_trait::async_trait]
pub trait AgentBackend: Send + Sync {
    /// Works until the outcome is known. An agent that fails at its work is an [`Outcome`](hob_domain::Outcome),
    /// not an error.
    ///
    /// # Errors
    /// [`AgentError`] when the agent could not be run at all.
    async fn run(&self, request: &RunRequest, context: &RunContext) -> Result<RunReport, AgentError>;

    /// Checks that it could be run on this machine, as far as that can be told without work: its program is installed,
    /// and its model has a price if the budget is one of money.
    ///
    /// # Errors
    /// [`AgentError`] says what is missing.
    async fn ready(&self, machine: &Machine<'_>) -> Result<(), AgentError>;

    /// What people should know of its models: that one is not known, or retires soon.
    fn notices(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether it can investigate: keep a record, and end with a conclusion.
    fn investigates(&self) -> bool {
        false
    }

    /// The service that it works with, as people know it: an outage fails each run. `None` if Hob knows of none.
    fn service(&self) -> Option<String> {
        None
    }

    /// The model that it is asked to use for this candidate of the work, counted from 0. `None` if Hob does not know it.
    fn model(&self, _candidate: u32) -> Option<String> {
        None
    }

    /// Whether its model can look at images.
    fn sees(&self) -> bool {
        false
    }

    /// Asks its model one short question, which proves key, name and address; returns the model that answered. `None`
    /// if it has no model that Hob asks itself.
    ///
    /// # Errors
    /// [`AgentError`] says why no model answered.
    async fn ask_model(&self) -> Result<Option<String>, AgentError> {
        Ok(None)
    }
}

/// The machine that an agent would be run on.
#[derive(Debug, Clone, Copy)]
pub struct Machine<'a> {
    /// The environment of the children.
    pub environment: &'a Environment,
    /// The sandbox of its children.
    pub sandbox: &'a Sandbox,
    /// Whether runs have a budget of money, and none of tokens that would hold a model without a price.
    pub costs_count: bool,
}

/// An agent that could not be run at all.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub struct AgentError {
    /// The problem and its remedy; it includes the source's text.
    pub reason: String,
    /// Whether trying again can help.
    pub failure: FailureClass,
    /// The error behind it, if there is one.
    pub source: Option<Box<dyn Error + Send + Sync>>,
}

impl AgentError {
    /// An error without another one behind it.
    pub fn new(failure: FailureClass, reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), failure, source: None }
    }

    /// The failure of something that the agent needs.
    pub fn caused_by(failure: FailureClass, source: impl Error + Send + Sync + 'static) -> Self {
        Self { reason: source.to_string(), failure, source: Some(Box::new(source)) }
    }

    /// Hob's settings or its machine lack something, says `source`.
    pub(crate) fn misconfigured(source: impl Error + Send + Sync + 'static) -> Self {
        Self::caused_by(FailureClass::Misconfigured, source)
    }

    /// Hob's settings or its machine lack something.
    pub(crate) fn setup(reason: impl Into<String>) -> Self {
        Self::new(FailureClass::Misconfigured, reason)
    }

    /// A budget of money cannot be held with `model`.
    pub(crate) fn unpriced(model: &str) -> Self {
        Self::setup(format!(
            "the run has a budget and the price of `{model}` is not known: add `[model.prices.\"{model}\"]` with `input` and `output` \
             in USD for a million tokens (0 where it costs nothing), or limit its tokens with `budget.tokens`"
        ))
    }

    /// The same error, with the step that failed, or the agent's name, before its reason.
    #[must_use]
    pub(crate) fn during(self, step: impl Display) -> Self {
        Self { reason: format!("{step}: {}", self.reason), ..self }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn an_error_tells_its_source_and_keeps_it() {
        let gone = io::Error::new(io::ErrorKind::NotFound, "it is gone");
        let error = AgentError::caused_by(FailureClass::Unfinished, gone).during("open the folder").during("agent `a`");
        assert_eq!(error.to_string(), "agent `a`: open the folder: it is gone");
        let source = error.source().and_then(|source| source.downcast_ref::<io::Error>());
        assert_eq!(source.map(io::Error::kind), Some(io::ErrorKind::NotFound));
        assert!(AgentError::setup("no model").source().is_none());
    }
}
