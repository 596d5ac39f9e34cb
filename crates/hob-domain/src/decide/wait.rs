//! Why nothing is done about an issue now: each reason is a sentence that says what would change it.

use std::time::Duration;

use hob_text::count;

use crate::{AssigneeFilter, Full, Held, IssueNumber, Pause, PersonsWork, PullNumber, Timestamp};

/// Why nothing is done about an issue now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WaitReason {
    /// Another worker has it.
    Held(Held),
    /// It will be tried again later.
    RetryAfter {
        /// No attempt begins before this time.
        until: Timestamp,
        /// What it waits for: why the last attempt failed, or why it could not continue.
        why: String,
    },
    /// A service that it needs is down, and another issue tries it.
    Asked {
        /// The service.
        service: String,
        /// The issue that tries it.
        by: IssueNumber,
    },
    /// The trigger was refused, and nothing has changed since.
    Refused(String),
    /// A person added the label `blocked`.
    BlockedByHand(String),
    /// It has a state label that Hob's ledger does not know.
    LabelByHand(String),
    /// Open issues that it depends on.
    BlockedBy(Vec<IssueNumber>),
    /// What people have begun on it.
    ForPeople(Vec<PersonsWork>),
    /// Its assignee is not the one in the settings.
    NotAssigned(AssigneeFilter),
    /// A person paused it.
    Paused(Pause),
    /// Its pull request waits for a review.
    InReview(PullNumber),
    /// The workflows of its pull request wait until a maintainer approves them.
    Unapproved(PullNumber),
    /// The repository has no room for more work now.
    Full(Full),
    /// The limit of open pull requests that wait for people is reached.
    OpenPulls(usize),
    /// The issues before it take the room that the hour and the open pull requests leave.
    Next,
    /// Finished, and not asked for again.
    Finished,
    /// It does not have the trigger label, or is closed.
    NotTriggered,
    /// It is the repository's dashboard.
    Dashboard,
}

impl WaitReason {
    /// When the wait ends by itself, if that is known; `skew` is the margin of leases.
    pub fn ends(&self, skew: Duration) -> Option<Timestamp> {
        match self {
            Self::Held(held) => Some(held.until + skew),
            Self::RetryAfter { until, .. }
            | Self::Full(Full::Hour { until, .. } | Full::Day { until, .. } | Full::OtherSettings { until, .. }) => {
                Some(*until)
            }
            Self::Full(Full::Paused(_))
            | Self::Asked { .. }
            | Self::Refused(_)
            | Self::BlockedByHand(_)
            | Self::LabelByHand(_)
            | Self::BlockedBy(_)
            | Self::ForPeople(_)
            | Self::NotAssigned(_)
            | Self::Paused(_)
            | Self::InReview(_)
            | Self::Unapproved(_)
            | Self::OpenPulls(_)
            | Self::Next
            | Self::Finished
            | Self::NotTriggered
            | Self::Dashboard => None,
        }
    }

    /// Whether the repository has no room, which stops other issues, too.
    pub fn is_of_the_repository(&self) -> bool {
        match self {
            Self::Full(_) | Self::OpenPulls(_) | Self::Next => true,
            Self::Held(_)
            | Self::RetryAfter { .. }
            | Self::Asked { .. }
            | Self::Refused(_)
            | Self::BlockedByHand(_)
            | Self::LabelByHand(_)
            | Self::BlockedBy(_)
            | Self::ForPeople(_)
            | Self::NotAssigned(_)
            | Self::Paused(_)
            | Self::InReview(_)
            | Self::Unapproved(_)
            | Self::Finished
            | Self::NotTriggered
            | Self::Dashboard => false,
        }
    }
}

impl std::fmt::Display for WaitReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Held(held) => write!(f, "worker {} works on it, its lease lasts until {}", held.holder, held.until),
            Self::RetryAfter { until, why } => write!(f, "it is tried again after {until}: {why}"),
            Self::Asked { service, by } => {
                write!(f, "{service} is down, and issue #{by} is trying it: one issue at a time does")
            }
            Self::Refused(reason) => {
                write!(
                    f,
                    "its label was refused: {reason}. Someone with the permission can remove the label and add it again"
                )
            }
            Self::BlockedByHand(label) => {
                write!(f, "a person added the label `{label}`; remove the label to let Hob continue")
            }
            Self::LabelByHand(label) => {
                write!(f, "it has the label `{label}`, which Hob did not add; remove the label to let Hob claim it")
            }
            Self::BlockedBy(blockers) => {
                let named: Vec<String> = blockers.iter().map(|number| format!("#{number}")).collect();
                write!(f, "it is blocked by {}, still open; it is claimed when that is closed", named.join(", "))
            }
            Self::ForPeople(begun) => f.write_str(&PersonsWork::all_say(begun)),
            Self::NotAssigned(filter) => filter.fmt(f),
            Self::Paused(pause) => {
                let why = if pause.reason.is_empty() { String::new() } else { format!(" ({})", pause.reason) };
                write!(
                    f,
                    "{} paused it{why}; `/hob resume` in a comment, or `hob resume` with its number, resumes it",
                    pause.by
                )
            }
            Self::InReview(pull) => write!(f, "its pull request #{pull} waits for a review"),
            Self::Unapproved(pull) => write!(
                f,
                "the workflows of its pull request #{pull} wait for a maintainer's approval: press \"Approve workflows to run\" there"
            ),
            Self::Full(full) => full.fmt(f),
            Self::OpenPulls(limit) => {
                let (pulls, are) = (count(*limit, "pull request"), if *limit == 1 { "is" } else { "are" });
                write!(f, "{pulls} {are} open or being made, the limit; merge or close one to let it go on")
            }
            Self::Next => f.write_str(
                "the issues before it take all the room that `limits.issues_per_hour` and `limits.open_pulls` leave",
            ),
            Self::Finished => f.write_str("its work is finished"),
            Self::Dashboard => f.write_str("it is the dashboard, which is never worked on"),
            Self::NotTriggered => f.write_str("it is closed or does not have the trigger label"),
        }
    }
}
