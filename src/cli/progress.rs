//! Progress on standard error, one line per event, each with the time since the start. No line can begin with text from
//! an issue or an agent, so GitHub Actions takes none for a workflow command.

use std::sync::{Arc, Mutex, PoisonError};

use hob_domain::{RepoName, State, clip, terminal};
use hob_worker::{EventSink, WorkEvent};
use tokio::time::Instant;

use crate::cli::{
    output::{BAD, BOLD, DIM, GOOD, Naming, WARN, styled},
    screen::Screen,
};

/// Events kept for a step summary, more than it can show.
pub(super) const SUMMARY: usize = 10_000;
/// Characters of one line's text.
const LINE_MAX: usize = 240;

/// An event, the seconds since the start, and the repository it is about.
pub(super) struct Timed {
    pub(super) seconds: f64,
    pub(super) repo: RepoName,
    pub(super) event: WorkEvent,
}

/// The events so far.
pub(super) type Log = Arc<Mutex<Vec<Timed>>>;

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Show {
    /// Lines for people on standard error.
    Lines,
    /// One JSON object per event on standard output.
    Json,
}

/// A sink that shows each event at once and keeps the first `keeps` that change an issue's standing.
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
                Err(error) => tracing::warn!(%error, "a event cannot be written as JSON: {error}"),
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
        WorkEvent::Polled { issues, ready } => styled(DIM, &format!("polled: {issues} issue(s), {ready} ready")),
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
        WorkEvent::Failed { issue: None, reason } => format!("{} {}", styled(BAD, "poll failed:"), plain(reason)),
    }
}

/// The first line that is not blank, without control characters.
fn plain(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    clip(&terminal(line), LINE_MAX).replace('\n', " ")
}
