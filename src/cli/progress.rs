//! Progress on standard error, one line an event, each with the time since the start. No line can begin with what an
//! issue or an agent said, so none is taken for a workflow command by GitHub Actions.

use std::sync::{Arc, Mutex, PoisonError};

use hob_domain::{RepoName, State, clip, terminal};
use hob_worker::{EventSink, WorkEvent};
use tokio::time::Instant;

use crate::cli::{
    output::{BAD, BOLD, DIM, GOOD, WARN, styled},
    screen::Screen,
};

/// Notices that are kept for a step summary: more than it can show.
pub(super) const SUMMARY: usize = 10_000;
/// Characters of one line's text.
const LINE_MAX: usize = 240;

/// An event, the seconds since the start, and the repository it is about.
pub(super) struct Timed {
    pub(super) seconds: f64,
    pub(super) repo: RepoName,
    pub(super) event: WorkEvent,
}

/// Whether a line names its repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    /// There is one.
    One,
    /// There are several.
    Several,
}

impl Naming {
    /// How this many repositories are told apart.
    pub(super) fn of(repositories: usize) -> Self {
        if repositories > 1 { Self::Several } else { Self::One }
    }
}

/// What was told so far.
pub(super) type Log = Arc<Mutex<Vec<Timed>>>;

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Show {
    /// Lines for people on standard error.
    Lines,
    /// One JSON object an event on standard output.
    Json,
}

/// A sink that shows each event as it comes and keeps the first `keeps` that say where an issue stands.
pub(super) fn sink(show: Show, naming: Naming, keeps: usize, screen: &Screen) -> (EventSink, Log) {
    let (log, started) = (Log::default(), Instant::now());
    let (kept, screen) = (Arc::clone(&log), screen.clone());
    let sink: EventSink = Arc::new(move |repo, event| {
        let seconds = started.elapsed().as_secs_f64();
        match show {
            Show::Lines => {
                let of = match naming {
                    Naming::One => String::new(),
                    Naming::Several => format!("{repo} "),
                };
                screen.line(format!("{} {}{}", styled(DIM, &format!("{seconds:7.1}s")), of, line(event)));
            }
            Show::Json => match serde_json::to_value(event) {
                Ok(mut json) => {
                    json["repo"] = repo.to_string().into();
                    anstream::println!("{json}");
                }
                Err(error) => tracing::warn!(%error, "an event has no JSON form"),
            },
        }
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < keeps && !matches!(event, WorkEvent::Progress { .. } | WorkEvent::Polled { .. }) {
            kept.push(Timed { seconds, repo: repo.clone(), event: event.clone() });
        }
    });
    (sink, log)
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

fn line(event: &WorkEvent) -> String {
    match event {
        WorkEvent::Polled { issues, ready } => styled(DIM, &format!("looked at {issues} issue(s), {ready} to work on")),
        WorkEvent::Moved { issue, state: to, why } => format!("#{issue:<4} {} {}", state(*to), plain(why)),
        WorkEvent::Refused { issue, reason } => format!("#{issue:<4} {} {}", styled(BAD, "refused    "), plain(reason)),
        WorkEvent::Progress { issue, text } => {
            format!("#{issue:<4} {}", styled(DIM, &format!("            {}", plain(text))))
        }
        WorkEvent::Published { issue, pull, url, spend } => {
            format!("#{issue:<4} {} pull request #{pull}: {} ({spend})", styled(GOOD, "published  "), plain(url))
        }
        WorkEvent::Failed { issue: Some(issue), reason } => {
            format!("#{issue:<4} {} {}", styled(BAD, "failed     "), plain(reason))
        }
        WorkEvent::Failed { issue: None, reason } => format!("{} {}", styled(BAD, "the poll failed:"), plain(reason)),
    }
}

/// One harmless line.
fn plain(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    clip(&terminal(line), LINE_MAX).replace('\n', " ")
}
