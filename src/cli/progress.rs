//! Progress on standard error, one line a notice, each with the time since the start. No line can begin with what an
//! issue or an agent said, so none is taken for a workflow command by GitHub Actions.

use std::sync::{Arc, Mutex, PoisonError};

use hob_domain::{RepoName, State, clip, terminal};
use hob_worker::{Notice, Observer};
use tokio::time::Instant;

use crate::cli::{
    output::{BAD, BOLD, DIM, GOOD, WARN, styled},
    screen::Screen,
};

/// Notices that are kept for a step summary: more than it can show.
pub(super) const SUMMARY: usize = 10_000;
/// Characters of one line's text.
const LINE_MAX: usize = 240;

/// A notice, the seconds since the start, and the repository it is about.
pub(super) struct Timed {
    pub(super) seconds: f64,
    pub(super) repo: RepoName,
    pub(super) notice: Notice,
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
    /// One JSON object a notice on standard output.
    Json,
}

/// An observer that shows each notice as it comes and keeps the first `keeps` that say where an issue stands.
pub(super) fn observer(show: Show, naming: Naming, keeps: usize, screen: &Screen) -> (Observer, Log) {
    let (log, started) = (Log::default(), Instant::now());
    let (kept, screen) = (Arc::clone(&log), screen.clone());
    let observer: Observer = Arc::new(move |repo, notice| {
        let seconds = started.elapsed().as_secs_f64();
        match show {
            Show::Lines => {
                let of = match naming {
                    Naming::One => String::new(),
                    Naming::Several => format!("{repo} "),
                };
                screen.line(format!("{} {}{}", styled(DIM, &format!("{seconds:7.1}s")), of, line(notice)));
            }
            Show::Json => match serde_json::to_value(notice) {
                Ok(mut json) => {
                    json["repo"] = repo.to_string().into();
                    anstream::println!("{json}");
                }
                Err(error) => tracing::warn!(%error, "a notice has no JSON form"),
            },
        }
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < keeps && !matches!(notice, Notice::Progress { .. } | Notice::Polled { .. }) {
            kept.push(Timed { seconds, repo: repo.clone(), notice: notice.clone() });
        }
    });
    (observer, log)
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

fn line(notice: &Notice) -> String {
    match notice {
        Notice::Polled { issues, ready } => styled(DIM, &format!("looked at {issues} issue(s), {ready} to work on")),
        Notice::Moved { issue, state: to, why } => format!("#{issue:<4} {} {}", state(*to), plain(why)),
        Notice::Refused { issue, reason } => format!("#{issue:<4} {} {}", styled(BAD, "refused    "), plain(reason)),
        Notice::Progress { issue, text } => {
            format!("#{issue:<4} {}", styled(DIM, &format!("            {}", plain(text))))
        }
        Notice::Published { issue, pull, url, spend } => {
            format!("#{issue:<4} {} pull request #{pull}: {} ({spend})", styled(GOOD, "published  "), plain(url))
        }
        Notice::Failed { issue: Some(issue), reason } => {
            format!("#{issue:<4} {} {}", styled(BAD, "failed     "), plain(reason))
        }
        Notice::Failed { issue: None, reason } => format!("{} {}", styled(BAD, "the poll failed:"), plain(reason)),
    }
}

/// One harmless line.
fn plain(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    clip(&terminal(line), LINE_MAX).replace('\n', " ")
}
