//! Progress on standard error, one line a stage, each with the time since the start. No line can begin with text from
//! an issue or an agent, so GitHub Actions never takes one for a workflow command.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use hob_domain::{IssueNumber, RepoName, RunId, State};
use hob_worker::{EventSink, WorkEvent};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::cli::{
    layout::{width_of, wrapped},
    live::Live,
    output::{BAD, BOLD, DIM, GOOD, Naming, Unwritable, WARN, styled},
    screen::Screen,
    stream::Stream,
    words::{because, lacked_labels, plain, polled},
};

/// Events kept for a step summary, more than it can show.
pub(super) const SUMMARY: usize = 10_000;
/// How often the status is redrawn.
const TICK: Duration = Duration::from_secs(1);
/// The width of the columns before an issue's text: time, issue and state.
const BEFORE_TEXT: usize = 27;

/// An event, the seconds since the start, and the repository it is about.
pub(super) struct Timed {
    pub(super) seconds: f64,
    pub(super) repo: RepoName,
    pub(super) event: WorkEvent,
}

/// The events so far.
pub(super) type Log = Arc<Mutex<Vec<Timed>>>;

/// The form of progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Show {
    /// Lines for people on standard error.
    Lines(Verbosity),
    /// One JSON object per event on standard output.
    Json,
    /// Both.
    Both(Verbosity),
}

impl Show {
    /// The amount of lines for people; `None` if there are none.
    fn lines(self) -> Option<Verbosity> {
        match self {
            Self::Lines(verbosity) | Self::Both(verbosity) => Some(verbosity),
            Self::Json => None,
        }
    }
}

/// The amount of progress for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verbosity {
    /// Failures only.
    Quiet,
    /// Each stage.
    Stages,
    /// Activities within a stage too.
    Everything,
}

/// Whether the addresses of published objects still work when the process has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Addresses {
    Last,
    End,
}

/// The grouping of lines in the log of a GitHub Actions job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grouping {
    /// None: this is not such a job.
    Off,
    /// A group for each issue: they come one after the other.
    PerIssue,
    /// One group: issues are worked on side by side.
    Whole,
}

impl Grouping {
    /// The grouping of a process that works on `jobs` issues at a time.
    pub(super) fn new(in_actions: bool, jobs: usize) -> Self {
        match (in_actions, jobs) {
            (false, _) => Self::Off,
            (true, 0 | 1) => Self::PerIssue,
            (true, _) => Self::Whole,
        }
    }
}

/// The settings of a sink: what it shows, and what it keeps.
#[derive(Debug, Clone, Copy)]
pub(super) struct View {
    pub(super) show: Show,
    pub(super) naming: Naming,
    pub(super) addresses: Addresses,
    pub(super) grouping: Grouping,
    /// The number of events to keep that change an issue's state.
    pub(super) keeps: usize,
}

/// The remains of a sink when its run has ended.
#[derive(Debug, Default)]
pub(super) struct Watch {
    pub(super) log: Log,
    unwritable: Arc<Mutex<Option<Unwritable>>>,
    /// The runs that programs were notified of.
    stream: Arc<Mutex<Stream>>,
}

impl Watch {
    /// The last run on an issue that programs were notified of.
    pub(super) fn run_on(&self, issue: IssueNumber) -> Option<RunId> {
        locked(&self.stream).run_on(issue)
    }

    /// Checks that all events could be written.
    ///
    /// # Errors
    /// [`Unwritable`]: it is why the run was stopped.
    pub(super) fn written(&self) -> Result<(), Unwritable> {
        self.unwritable.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }
}

impl std::fmt::Debug for Timed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.1} s {}: {:?}", self.seconds, self.repo, self.event)
    }
}

/// A sink that shows each event at once. When its output can no longer be written, it stops the run by `cancel`.
pub(super) fn sink(view: View, screen: &Screen, cancel: &CancellationToken) -> (EventSink, Watch) {
    let (watch, started) = (Watch::default(), Instant::now());
    let lines = Arc::new(Mutex::new(Lines::new(view)));
    if matches!(view.show.lines(), Some(Verbosity::Stages | Verbosity::Everything)) && screen.is_live() {
        tokio::spawn(tick(Arc::downgrade(&lines), view.naming, screen.clone()));
    }
    let (log, unwritable, stream) = (watch.log.clone(), watch.unwritable.clone(), watch.stream.clone());
    let (screen, cancel) = (screen.clone(), cancel.clone());
    let sink: EventSink = Arc::new(move |repo, event| {
        let seconds = started.elapsed().as_secs_f64();
        if let Some(verbosity) = view.show.lines() {
            locked(&lines).show(&screen, seconds, repo, event, verbosity);
        }
        if matches!(view.show, Show::Json | Show::Both(_))
            && let Err(error) = locked(&stream).write(repo, event)
        {
            locked(&unwritable).get_or_insert(error);
            cancel.cancel();
        }
        keep(&mut locked(&log), view.keeps, Timed { seconds, repo: repo.clone(), event: event.clone() });
    });
    (sink, watch)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps the events that change an issue's state, and the last poll of each repository.
fn keep(log: &mut Vec<Timed>, keeps: usize, timed: Timed) {
    match timed.event {
        WorkEvent::CreatesLabels { .. }
        | WorkEvent::Progress { .. }
        | WorkEvent::Activity { .. }
        | WorkEvent::AgentStarted { .. } => return,
        WorkEvent::Polled { .. } => {
            log.retain(|kept| kept.repo != timed.repo || !matches!(kept.event, WorkEvent::Polled { .. }));
        }
        WorkEvent::Moved { .. }
        | WorkEvent::Refused { .. }
        | WorkEvent::Checked { .. }
        | WorkEvent::Published { .. }
        | WorkEvent::Failed { .. } => {}
    }
    if log.len() < keeps {
        log.push(timed);
    }
}

/// Redraws the status until the sink is gone.
async fn tick(lines: Weak<Mutex<Lines>>, naming: Naming, screen: Screen) {
    let mut ticks = tokio::time::interval(TICK);
    loop {
        ticks.tick().await;
        let Some(lines) = lines.upgrade() else { return screen.status(None) };
        let status = locked(&lines).live.status(naming, Instant::now());
        screen.status(status.as_deref());
    }
}

/// The lines for people, and the state of earlier lines.
struct Lines {
    view: View,
    live: Live,
    /// Issues whose pull request was reported; their state in review adds nothing.
    published: BTreeSet<(RepoName, IssueNumber)>,
    /// The last poll of each repository.
    polled: BTreeMap<RepoName, String>,
}

impl Lines {
    fn new(view: View) -> Self {
        Self { view, live: Live::default(), published: BTreeSet::new(), polled: BTreeMap::new() }
    }

    fn show(&mut self, screen: &Screen, seconds: f64, repo: &RepoName, event: &WorkEvent, verbosity: Verbosity) {
        let (issue, text) = line(event, self.view.addresses);
        self.live.see(repo, event, anstream::adapter::strip_str(&text).to_string().trim(), Instant::now());
        if !self.is_shown(repo, event, verbosity) {
            return;
        }
        let of = match self.view.naming {
            Naming::One => String::new(),
            Naming::Several => format!("{repo} "),
        };
        match (self.view.grouping, issue) {
            (Grouping::Off, _) | (_, None) => {}
            (Grouping::PerIssue, Some(issue)) => screen.group(&format!("{of}#{issue}")),
            (Grouping::Whole, Some(_)) => screen.group("Progress"),
        }
        let issue = issue.map_or_else(String::new, |issue| format!("#{issue:<4} "));
        let text = format!("{} {of}{issue}{text}", styled(DIM, &format!("{seconds:7.1}s")));
        screen.line(wrapped(&text, width_of(std::io::stderr()), BEFORE_TEXT));
    }

    fn is_shown(&mut self, repo: &RepoName, event: &WorkEvent, verbosity: Verbosity) -> bool {
        let everything = verbosity == Verbosity::Everything;
        let told = match event {
            WorkEvent::Failed { .. } => return true,
            WorkEvent::Activity { .. } => everything,
            // The stage before it names the agent.
            WorkEvent::AgentStarted { .. } => false,
            WorkEvent::Polled { .. } => {
                let text = line(event, self.view.addresses).1;
                let is_new = self.polled.get(repo) != Some(&text);
                self.polled.insert(repo.clone(), text);
                is_new || everything
            }
            WorkEvent::Published { issue, .. } => self.published.insert((repo.clone(), *issue)),
            WorkEvent::Moved { issue, state, .. } => {
                !(self.published.remove(&(repo.clone(), *issue)) && *state == State::InReview)
            }
            WorkEvent::CreatesLabels { .. }
            | WorkEvent::Refused { .. }
            | WorkEvent::Progress { .. }
            | WorkEvent::Checked { .. } => true,
        };
        told && verbosity != Verbosity::Quiet
    }
}

/// The state's name in its colour.
pub(super) fn state(state: State) -> String {
    let style = match state {
        State::Ready | State::Assigned | State::InProgress => BOLD,
        State::InReview | State::Done => GOOD,
        State::Blocked => WARN,
    };
    styled(style, &format!("{state:<11}"))
}

/// The issue that an event is about, and its text.
fn line(event: &WorkEvent, addresses: Addresses) -> (Option<IssueNumber>, String) {
    let stage = |text: &str| format!("            {}", plain(text));
    match event {
        WorkEvent::Polled { issues, ready, waiting, .. } => (None, polled(*issues, *ready, waiting)),
        WorkEvent::CreatesLabels { labels } => (None, styled(DIM, &lacked_labels(labels))),
        WorkEvent::Moved { issue, state: to, why } => (Some(*issue), format!("{} {}", state(*to), because(*to, why))),
        WorkEvent::Refused { issue, reason } => {
            (Some(*issue), format!("{} {}", styled(BAD, "refused    "), plain(reason)))
        }
        WorkEvent::Progress { issue, text } => (Some(*issue), stage(text)),
        WorkEvent::AgentStarted { issue, agent, .. } => (Some(*issue), stage(&format!("starting agent `{agent}`"))),
        WorkEvent::Activity { issue, text, .. } => (Some(*issue), styled(DIM, &stage(text))),
        WorkEvent::Checked { issue, on, passed, run } => {
            (Some(*issue), stage(&format!("checks on the {on}: {passed} of {run} passed")))
        }
        WorkEvent::Published { issue, pull, url, spend } => {
            let at = match addresses {
                Addresses::Last => format!(": {}", plain(url)),
                Addresses::End => String::new(),
            };
            (Some(*issue), format!("{} pull request #{pull}{at} ({spend})", styled(GOOD, "published  ")))
        }
        WorkEvent::Failed { issue: Some(issue), reason } => {
            (Some(*issue), format!("{} {}", styled(BAD, "failed     "), plain(reason)))
        }
        WorkEvent::Failed { issue: None, reason } => {
            (None, format!("{} {}", styled(BAD, "poll failed:"), plain(reason)))
        }
    }
}

#[cfg(test)]
mod tests {
    use hob_worker::{Waiting, WaitsOn};

    use super::*;

    const ISSUE: IssueNumber = IssueNumber(7);

    fn view() -> View {
        let show = Show::Lines(Verbosity::Stages);
        View { show, naming: Naming::One, addresses: Addresses::Last, grouping: Grouping::Off, keeps: 10 }
    }

    fn moved(state: State, why: &str) -> WorkEvent {
        WorkEvent::Moved { issue: ISSUE, state, why: why.to_owned() }
    }

    fn shown(events: &[WorkEvent], verbosity: Verbosity) -> Vec<String> {
        let (mut lines, repo) = (Lines::new(view()), "acme/site".parse().unwrap());
        let shown = events.iter().filter(|event| lines.is_shown(&repo, event, verbosity));
        shown.map(|event| anstream::adapter::strip_str(&line(event, Addresses::Last).1).to_string()).collect()
    }

    fn an_attempt() -> Vec<WorkEvent> {
        let activity = |text: &str| WorkEvent::Activity { issue: ISSUE, text: text.to_owned(), share: None };
        let url = "https://example.org/acme/site/pull/9".to_owned();
        vec![
            WorkEvent::Polled { issues: 1, ready: 1, waiting: Vec::new(), titles: BTreeMap::new() },
            WorkEvent::CreatesLabels { labels: vec!["assigned".to_owned(), "blocked".to_owned()] },
            moved(State::Assigned, "claimed, generation 1"),
            activity("fetching the repository"),
            WorkEvent::Progress { issue: ISSUE, text: "running agent `native`".to_owned() },
            activity("turn 1/50: asking the model"),
            activity("turn 1/50: shell sh test.sh [low]"),
            WorkEvent::Published { issue: ISSUE, pull: hob_domain::PullNumber(9), url, spend: Default::default() },
            moved(State::InReview, "opened the pull request 9"),
            WorkEvent::Polled { issues: 1, ready: 1, waiting: Vec::new(), titles: BTreeMap::new() },
            WorkEvent::Failed { issue: Some(ISSUE), reason: "no route".to_owned() },
        ]
    }

    #[test]
    fn a_stage_is_one_line_and_turns_are_shown_on_request() {
        insta::assert_snapshot!(shown(&an_attempt(), Verbosity::Stages).join("\n"), @r"
        polled: 1 issue, 1 ready
        creating 2 missing labels
        assigned    claimed, generation 1
                    running agent `native`
        published   pull request #9: https://example.org/acme/site/pull/9 (0 s)
        failed      no route
        ");
        assert_eq!(shown(&an_attempt(), Verbosity::Everything).len(), 10);
        assert_eq!(shown(&an_attempt(), Verbosity::Quiet), ["failed      no route"]);
    }

    #[test]
    fn a_state_is_named_once() {
        let blocked = moved(State::Blocked, "blocked: The agent needs an answer. UTC or local?");
        assert_eq!(shown(&[blocked], Verbosity::Stages), ["blocked     The agent needs an answer. UTC or local?"]);
    }

    #[test]
    fn a_poll_says_what_holds_issues_back() {
        let waiting = |issue, on, why: &str| Waiting { issue: IssueNumber(issue), on, why: why.to_owned() };
        let paused = "ann paused the repository";
        let waiting = vec![
            waiting(1, WaitsOn::Repository, paused),
            waiting(2, WaitsOn::Issue, "its pull request #9 waits for a review"),
            waiting(3, WaitsOn::Repository, paused),
            waiting(4, WaitsOn::Person, "UTC or local?"),
        ];
        let polled = WorkEvent::Polled { issues: 4, ready: 0, waiting, titles: BTreeMap::new() };
        let text = "polled: 4 issues, 0 ready, 1 waiting for an answer; 2 held back: ann paused the repository";
        assert_eq!(shown(&[polled], Verbosity::Stages), [text]);
    }
}
