//! `session.json`: the description and progress of a session, without its transcript.

use hob_domain::{FailureClass, IssueNumber, LastLines, Outcome, RepoName, RunId, Spend};
use serde::{Deserialize, Serialize};

use crate::session::{Header, Line, RunLimits, SessionEvent, Transcript};

/// The format of `session.json`.
const VERSION: u32 = 1;

/// The state of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    /// Made; no run has begun.
    Pending,
    /// A run is under way.
    Running,
    /// The last run ended well.
    Completed,
    /// The last run ended with a question, or needs something that only a person can give.
    Blocked,
    /// The last run failed.
    Failed,
    /// A person stopped the last run; or it was under way and its process is gone, which a reader notices.
    Interrupted,
}

impl SessionState {
    /// The state after a run that ended so.
    pub(super) fn after(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Done { .. } | Outcome::NothingToDo { .. } | Outcome::HandOff(_) => Self::Completed,
            Outcome::Question { .. }
            | Outcome::ApprovalNeeded { .. }
            | Outcome::Failed { failure: FailureClass::NeedsHuman | FailureClass::Misconfigured, .. } => Self::Blocked,
            Outcome::Failed { failure: FailureClass::Cancelled, .. } => Self::Interrupted,
            Outcome::Failed { .. } => Self::Failed,
        }
    }
}

impl std::fmt::Display for SessionState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Blocked => "blocked",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        })
    }
}

/// The cost and the counts of a session.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metrics {
    /// Turns of the model.
    pub turns: u32,
    /// Actions.
    pub actions: u32,
    /// Actions that failed.
    pub errors: u32,
    /// Runs that have ended, with what they cost; the wall time is theirs alone.
    pub spend: Spend,
    /// The cost of the run under way so far, with the most that its requests under way can cost.
    pub running: Spend,
    /// Tokens that the service had cached.
    pub cached_tokens: u64,
    /// Milliseconds spent waiting for the model.
    pub model_ms: u64,
    /// Milliseconds in which tools ran.
    pub tools_ms: u64,
}

/// A session without its transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRecord {
    /// The format of this file.
    pub session: u32,
    /// Its id.
    pub id: RunId,
    /// The repository.
    pub repo: RepoName,
    /// The issue.
    pub issue: IssueNumber,
    /// The agent's name.
    pub agent: String,
    /// Its state.
    pub state: SessionState,
    /// Its runs, in order.
    pub runs: Vec<RunId>,
    /// The limits of the last run.
    pub limits: RunLimits,
    /// Its cost and counts.
    pub metrics: Metrics,
    /// The issue's bill without this session's part when its last run began.
    #[serde(default)]
    pub beside: Spend,
    /// When its first run began, in milliseconds since 1970.
    pub started_ms: u64,
    /// When something last happened.
    pub updated_ms: u64,
    /// The outcome of its last run.
    pub outcome: Option<Outcome>,
    /// The checks that failed on the work of its last run, with what each printed last.
    #[serde(default)]
    pub failed_checks: Vec<LastLines>,
    /// The time since which the model or the tools are waited for.
    #[serde(skip)]
    waiting_since: Option<u64>,
    /// Whether the run under way notes its spending, so that its replies need not be summed up.
    #[serde(skip)]
    is_metered: bool,
}

impl SessionRecord {
    /// A session without events.
    pub(super) fn new(header: &Header, now_ms: u64) -> Self {
        Self {
            session: VERSION,
            id: header.session.clone(),
            repo: header.repo.clone(),
            issue: header.issue,
            agent: header.agent.clone(),
            state: SessionState::Pending,
            runs: Vec::new(),
            limits: RunLimits::default(),
            metrics: Metrics::default(),
            beside: Spend::default(),
            started_ms: now_ms,
            updated_ms: now_ms,
            outcome: None,
            failed_checks: Vec::new(),
            waiting_since: None,
            is_metered: false,
        }
    }

    /// The record of a transcript's session.
    pub(super) fn from_transcript(transcript: &Transcript) -> Self {
        let began = transcript.lines.first().map_or(0, |line| line.at_ms);
        let mut record = Self::new(&transcript.header, began);
        for line in &transcript.lines {
            record.see(line);
        }
        record
    }

    /// Whether a written record is up to date: nothing happens in its session.
    pub(super) fn is_settled(&self) -> bool {
        self.session == VERSION && !matches!(self.state, SessionState::Running | SessionState::Pending)
    }

    /// The outcome that ends it for good, as a person wants it.
    pub fn end_for_good() -> Outcome {
        Outcome::NothingToDo { reason: "a person ended the session".to_owned() }
    }

    /// Whether a person ended it for good.
    pub fn is_ended_for_good(&self) -> bool {
        self.outcome.as_ref() == Some(&Self::end_for_good())
    }

    /// The cost of all of it, the run under way included.
    pub fn bill(&self) -> Spend {
        self.metrics.spend + self.metrics.running
    }

    /// The issue's bill once it counts this session, as far as this machine knows.
    pub fn issue_bill(&self) -> Spend {
        self.beside + self.bill()
    }

    /// Applies an event; returns whether the state has changed.
    pub(super) fn see(&mut self, line: &Line) -> bool {
        let (before, metrics) = (self.state, &mut self.metrics);
        self.updated_ms = self.updated_ms.max(line.at_ms);
        let waited = self.waiting_since.map_or(0, |since| line.at_ms.saturating_sub(since));
        match &line.event {
            SessionEvent::Started { run, limits, bill, .. } => {
                // A run that was cut off has no end of its own.
                metrics.spend = metrics.spend + std::mem::take(&mut metrics.running);
                (self.state, self.limits, self.outcome) = (SessionState::Running, *limits, None);
                self.is_metered = false;
                self.failed_checks.clear();
                // A retry in place belongs to the same run.
                if self.runs.last() != Some(run) {
                    self.beside = bill.since(metrics.spend);
                    self.runs.push(run.clone());
                }
                return true;
            }
            SessionEvent::Progress { .. } | SessionEvent::Noted { .. } | SessionEvent::Told { .. } => {}
            SessionEvent::Asked { .. } => self.waiting_since = Some(line.at_ms),
            SessionEvent::Replied { input_tokens, cached_tokens, output_tokens, usd_micros, .. } => {
                metrics.model_ms += waited;
                metrics.turns += 1;
                metrics.cached_tokens += cached_tokens;
                let (usd_micros, input_tokens, output_tokens) = (*usd_micros, *input_tokens, *output_tokens);
                if !self.is_metered {
                    metrics.running =
                        metrics.running + Spend { usd_micros, input_tokens, output_tokens, ..Spend::default() };
                }
                self.waiting_since = Some(line.at_ms);
            }
            SessionEvent::Spending { spend } => (metrics.running, self.is_metered) = (*spend, true),
            SessionEvent::Action { .. } => metrics.actions += 1,
            SessionEvent::Result { is_error, .. } => metrics.errors += u32::from(*is_error),
            SessionEvent::Turned { .. } => {
                metrics.tools_ms += waited;
                self.waiting_since = None;
            }
            SessionEvent::Ended { outcome, spend } => {
                self.waiting_since = None;
                metrics.spend = metrics.spend + *spend;
                metrics.running = Spend::default();
                self.state = SessionState::after(outcome);
                self.outcome = Some(outcome.clone());
            }
        }
        self.state != before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An amount that is money alone.
    fn usd(usd_micros: u64) -> Spend {
        Spend { usd_micros, ..Spend::default() }
    }

    fn begun() -> SessionRecord {
        let header = Header {
            transcript: VERSION,
            session: RunId("s".to_owned()),
            repo: "o/n".parse().unwrap(),
            issue: IssueNumber(7),
            agent: "a".to_owned(),
        };
        SessionRecord::new(&header, 0)
    }

    fn started(run: &str, bill: u64) -> SessionEvent {
        let (run, brief) = (RunId(run.to_owned()), "Do it.".to_owned());
        SessionEvent::Started { run, brief, limits: RunLimits::default(), bill: usd(bill) }
    }

    fn ended(spend: u64) -> SessionEvent {
        SessionEvent::Ended { outcome: Outcome::done("Done."), spend: usd(spend) }
    }

    /// A worker that is killed between the reservation of a request and its answer loses none of its most.
    #[test]
    fn what_is_reserved_is_in_the_bill_until_its_cost_is_known() {
        let mut record = begun();
        let spending = |micros| SessionEvent::Spending { spend: usd(micros) };
        for (event, bill) in [
            (started("r1", 100), 100),
            (spending(50), 150),
            (spending(20), 120),
            (spending(70), 170),
            // The next run begins after a kill.
            (started("r2", 170), 170),
            (spending(9), 179),
            (ended(3), 173),
        ] {
            record.see(&Line { at_ms: 1, event });
            assert_eq!(record.issue_bill(), usd(bill), "{record:?}");
        }
    }

    /// What other sessions cost is in the issue's bill and in none of this one's.
    #[test]
    fn the_issues_bill_has_this_session_and_what_was_spent_beside_it() {
        let mut record = begun();
        for (event, bill) in [
            (started("r1", 100), 100),
            (ended(5), 105),
            // A retry in place: the ledger does not have the first try yet.
            (started("r1", 100), 105),
            (ended(6), 111),
            // Meanwhile a reviewer cost 20.
            (started("r2", 131), 131),
            (ended(7), 138),
        ] {
            record.see(&Line { at_ms: 1, event });
            assert_eq!(record.issue_bill(), usd(bill), "{record:?}");
        }
        assert_eq!(record.bill(), usd(18));
    }
}
