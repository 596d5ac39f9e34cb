//! The additional members of a run's events: the time, a sentence, the run, and its progress. `docs/json.md` describes
//! them.

use std::collections::BTreeMap;

use chrono::SecondsFormat;
use hob_domain::{IssueNumber, RepoName, RunId, State, Timestamp};
use hob_worker::{CheckedCommit, WorkEvent};
use serde_json::Value;

use crate::cli::{
    json,
    output::Unwritable,
    words::{because, lacked_labels, plain, polled},
};

/// The progress of an attempt at its stages, in percent.
const CLAIMED: u8 = 5;
const BEGUN: u8 = 10;
const PREPARED: u8 = 15;
const AGENT_BEGINS: u8 = 20;
const CHECKED: u8 = 80;
const PUBLISHED: u8 = 95;
const ENDED: u8 = 100;

/// The progress of the work on an issue.
#[derive(Debug, Default, Clone)]
struct Standing {
    run: Option<RunId>,
    percent: u8,
}

/// The runs that are under way, and the last one on each issue.
#[derive(Debug, Default)]
pub(super) struct Stream {
    under_way: BTreeMap<(RepoName, IssueNumber), Standing>,
    last: BTreeMap<IssueNumber, RunId>,
}

impl Stream {
    /// Writes an event for programs.
    pub(super) fn write(&mut self, repo: &RepoName, event: &WorkEvent) -> Result<(), Unwritable> {
        match self.value(repo, event) {
            Ok(value) => json::event(value),
            Err(error) => {
                tracing::warn!(%error, "an event cannot be written as JSON: {error}");
                Ok(())
            }
        }
    }

    /// An event for programs.
    pub(super) fn value(&mut self, repo: &RepoName, event: &WorkEvent) -> anyhow::Result<Value> {
        let mut value = json::with_repo(repo, event)?;
        self.complete(&mut value, repo, event);
        Ok(stamped(value, &message(event)))
    }

    /// The last run on an issue.
    pub(super) fn run_on(&self, issue: IssueNumber) -> Option<RunId> {
        self.last.get(&issue).cloned()
    }

    /// Adds the run and its progress, if the event belongs to one.
    fn complete(&mut self, value: &mut Value, repo: &RepoName, event: &WorkEvent) {
        let Some(issue) = event.issue() else { return };
        let key = (repo.clone(), issue);
        if matches!(event, WorkEvent::Moved { state: State::Assigned, .. }) {
            self.under_way.insert(key.clone(), Standing::default());
        }
        // Without a run, nothing of it began here: a state that is repaired, an issue that cannot be claimed.
        let Some(standing) = self.under_way.get_mut(&key) else { return };
        if let WorkEvent::AgentStarted { run_id, .. } = event {
            self.last.insert(issue, run_id.clone());
            standing.run = Some(run_id.clone());
        }
        standing.percent = standing.percent.max(stage(event).unwrap_or_default());
        if let Some(run) = &standing.run {
            value["run_id"] = run.as_str().into();
        }
        value["percent"] = standing.percent.into();
        if let WorkEvent::Moved { state, .. } = event
            && !matches!(state, State::Assigned | State::InProgress)
        {
            self.under_way.remove(&key);
        }
    }
}

/// An agent that works alone on a task: its run, and its progress.
#[derive(Debug)]
pub(super) struct TaskStream {
    run: RunId,
    percent: u8,
}

impl TaskStream {
    pub(super) fn new(run: RunId) -> Self {
        Self { run, percent: 0 }
    }

    /// Writes an event for programs; `share` is the agent's progress, if it reports any.
    pub(super) fn write(&mut self, mut event: Value, message: &str, share: Option<u8>) -> Result<(), Unwritable> {
        self.percent = self.percent.max(share.unwrap_or_default());
        event["run_id"] = self.run.as_str().into();
        event["percent"] = self.percent.into();
        json::event(stamped(event, message))
    }
}

/// The event with its time and in words.
pub(super) fn stamped(mut event: Value, message: &str) -> Value {
    event["time"] = now().to_rfc3339_opts(SecondsFormat::Millis, true).into();
    event["message"] = message.into();
    event
}

#[expect(clippy::disallowed_methods, reason = "programs are told when; nothing is decided by it")]
fn now() -> Timestamp {
    std::time::SystemTime::now().into()
}

/// The progress in percent of an attempt that reaches this event.
fn stage(event: &WorkEvent) -> Option<u8> {
    match event {
        WorkEvent::Moved { state: State::Assigned, .. } => Some(CLAIMED),
        WorkEvent::Moved { state: State::InProgress, .. } => Some(BEGUN),
        WorkEvent::Checked { on: CheckedCommit::Base, .. } => Some(PREPARED),
        WorkEvent::AgentStarted { .. } => Some(AGENT_BEGINS),
        WorkEvent::Activity { share: Some(share), .. } => {
            // An agent that is done is at 70.
            Some(AGENT_BEGINS + (*share).min(100) / 2)
        }
        WorkEvent::Checked { on: CheckedCommit::Head | CheckedCommit::Needed | CheckedCommit::Kept, .. } => {
            Some(CHECKED)
        }
        WorkEvent::Published { .. } => Some(PUBLISHED),
        WorkEvent::Moved { state: State::InReview | State::Done, .. } => Some(ENDED),
        WorkEvent::Moved { state: State::Ready | State::Blocked, .. }
        | WorkEvent::Activity { share: None, .. }
        | WorkEvent::Progress { .. }
        | WorkEvent::Polled { .. }
        | WorkEvent::CreatesLabels { .. }
        | WorkEvent::Refused { .. }
        | WorkEvent::Failed { .. } => None,
    }
}

/// The event in a line.
fn message(event: &WorkEvent) -> String {
    match event {
        WorkEvent::Polled { issues, ready, waiting, .. } => {
            anstream::adapter::strip_str(&polled(*issues, *ready, waiting)).to_string()
        }
        WorkEvent::CreatesLabels { labels } => lacked_labels(labels),
        WorkEvent::Moved { state, why, .. } => format!("{state}: {}", because(*state, why)),
        WorkEvent::Refused { reason, .. } => format!("refused: {}", plain(reason)),
        WorkEvent::AgentStarted { agent, .. } => format!("starting agent `{agent}`"),
        WorkEvent::Progress { text, .. } | WorkEvent::Activity { text, .. } => plain(text),
        WorkEvent::Checked { on, passed, run, .. } => format!("checks on the {on}: {passed} of {run} passed"),
        WorkEvent::Published { pull, url, .. } => format!("published pull request #{pull}: {}", plain(url)),
        WorkEvent::Failed { issue, reason } => {
            let what = if issue.is_some() { "failed" } else { "the poll failed" };
            format!("{what}: {}", plain(reason))
        }
    }
}

#[cfg(test)]
mod tests {
    use hob_domain::PullNumber;
    use serde_json::json;

    use std::collections::BTreeMap;

    use super::*;

    const ISSUE: IssueNumber = IssueNumber(7);

    fn moved(state: State) -> WorkEvent {
        WorkEvent::Moved { issue: ISSUE, state, why: String::new() }
    }

    fn started(run: &str) -> WorkEvent {
        let (issue, agent) = (ISSUE, "native".to_owned());
        WorkEvent::AgentStarted { issue, run_id: run.into(), agent, session: "s".into() }
    }

    fn share(share: u8) -> WorkEvent {
        WorkEvent::Activity { issue: ISSUE, text: "x".to_owned(), share: Some(share) }
    }

    /// The run and the percentage of each event.
    fn told(stream: &mut Stream, events: &[WorkEvent]) -> Vec<(Value, Value)> {
        let repo: RepoName = "acme/site".parse().unwrap();
        let one = |event: &WorkEvent| {
            let mut value = json!({});
            stream.complete(&mut value, &repo, event);
            (value["run_id"].clone(), value["percent"].clone())
        };
        events.iter().map(one).collect()
    }

    /// Requirement G4.
    #[test]
    fn how_far_a_run_is_never_runs_back() {
        let mut stream = Stream::default();
        let checked = |on| WorkEvent::Checked { issue: ISSUE, on, passed: 1, run: 1 };
        let published = WorkEvent::Published {
            issue: ISSUE,
            pull: PullNumber(9),
            url: String::new(),
            spend: hob_domain::Spend::default(),
        };
        let polled = WorkEvent::Polled { issues: 1, ready: 1, waiting: Vec::new(), titles: BTreeMap::new() };
        let events = [
            polled,
            moved(State::Assigned),
            moved(State::InProgress),
            checked(CheckedCommit::Base),
            started("a"),
            share(50),
            // The agent has added steps, and a second round begins.
            share(20),
            checked(CheckedCommit::Head),
            started("a"),
            share(100),
            published,
            moved(State::InReview),
        ];
        let found = told(&mut stream, &events);
        let percent: Vec<&Value> = found.iter().map(|(_, percent)| percent).collect();
        let expected = json!([null, 5, 10, 15, 20, 45, 45, 80, 80, 80, 95, 100]);
        assert_eq!(json!(percent), expected);
        assert!(found[..4].iter().all(|(run, _)| run.is_null()) && found[4..].iter().all(|(run, _)| run == "a"));
        assert_eq!(stream.run_on(ISSUE), Some("a".into()));
        // The next attempt is another run, and what is shown of an issue without one has no percentage.
        let next = told(&mut stream, &[moved(State::InReview), moved(State::Assigned), started("b")]);
        assert_eq!(json!(next), json!([[null, null], [null, 5], ["b", 20]]));
    }
}
