//! The status at the end of a terminal: the current activity of each issue, and its duration, as while a model thinks.

use std::{collections::BTreeMap, time::Duration};

use hob_domain::{IssueNumber, RepoName, State};
use hob_worker::WorkEvent;
use tokio::time::Instant;

use crate::cli::output::Naming;

/// The current activity of each issue in progress.
#[derive(Debug, Default)]
pub(super) struct Live(BTreeMap<(RepoName, IssueNumber), (String, Instant)>);

impl Live {
    /// Applies an event, whose text is `text`.
    pub(super) fn see(&mut self, repo: &RepoName, event: &WorkEvent, text: &str, now: Instant) {
        let (issue, under_way) = match event {
            WorkEvent::Moved { issue, state: State::Assigned | State::InProgress, .. }
            | WorkEvent::Progress { issue, .. }
            | WorkEvent::Activity { issue, .. }
            | WorkEvent::AgentStarted { issue, .. }
            | WorkEvent::Checked { issue, .. }
            | WorkEvent::Published { issue, .. } => (*issue, true),
            WorkEvent::Moved {
                issue, state: State::Ready | State::InReview | State::Blocked | State::Done, ..
            }
            | WorkEvent::Refused { issue, .. }
            | WorkEvent::Failed { issue: Some(issue), .. } => (*issue, false),
            WorkEvent::Polled { .. } | WorkEvent::CreatesLabels { .. } | WorkEvent::Failed { issue: None, .. } => {
                return;
            }
        };
        let key = (repo.clone(), issue);
        if under_way {
            self.0.insert(key, (text.to_owned(), now));
        } else {
            self.0.remove(&key);
        }
    }

    /// The status; `None` if nothing is under way.
    pub(super) fn status(&self, naming: Naming, now: Instant) -> Option<String> {
        let issue = |((repo, issue), (text, since)): (&(RepoName, IssueNumber), &(String, Instant))| {
            let repo = match naming {
                Naming::One => String::new(),
                Naming::Several => repo.to_string(),
            };
            format!("{repo}#{issue} {} {text}", time(now - *since))
        };
        let issues: Vec<_> = self.0.iter().map(issue).collect();
        (!issues.is_empty()).then(|| issues.join(" · "))
    }
}

/// Whole seconds, with minutes if there are any.
fn time(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds < 60 { format!("{seconds} s") } else { format!("{} min {} s", seconds / 60, seconds % 60) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_counts_how_long_a_model_thinks_and_ends_with_the_issue() {
        let (repo, issue, start) = ("acme/site".parse().unwrap(), IssueNumber(7), Instant::now());
        let mut live = Live::default();
        let asks = WorkEvent::Activity { issue, text: String::new(), share: None };
        live.see(&repo, &asks, "turn 3/50: asking the model", start);
        let after = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(live.status(Naming::One, after(12)).unwrap(), "#7 12 s turn 3/50: asking the model");
        let several = live.status(Naming::Several, after(72)).unwrap();
        assert_eq!(several, "acme/site#7 1 min 12 s turn 3/50: asking the model");
        let blocked = WorkEvent::Moved { issue, state: State::Blocked, why: String::new() };
        live.see(&repo, &blocked, "", after(80));
        assert_eq!(live.status(Naming::One, after(81)), None);
    }
}
