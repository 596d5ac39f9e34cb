//! Why the work on an issue is over.

use hob_text::markup::code_span;

use crate::Login;

/// Why the work on an issue is over; the ledger and the issue show its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// Its pull request was merged.
    Merged,
    /// Its pull request was merged, and the issue was left open.
    MergedLeftOpen,
    /// The issue was closed.
    Closed,
    /// The trigger label was removed.
    Unlabeled,
    /// The issue was closed or its label removed during the work.
    Withdrawn,
    /// The issue was deleted or transferred.
    Gone,
    /// Its result is a comment on it: a report, or the list of the issues that it was split into.
    Concluded,
    /// A person ended the work by a command.
    Terminated(Login),
    /// A person ended the work in another way.
    Stopped {
        /// Who.
        by: Login,
        /// What they did.
        deed: StopDeed,
    },
}

/// What a person did that ended the work, if it was not a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopDeed {
    /// They took this trigger label off.
    LabelOff(String),
    /// They closed the issue.
    Closed(ClosedAs),
    /// They said so in these words.
    Said(String),
}

/// Why an issue was closed, as the forge shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClosedAs {
    /// It is done, or the forge does not say why.
    Completed,
    /// It is not planned.
    NotPlanned,
    /// It is a duplicate.
    Duplicate,
}

impl std::fmt::Display for ClosedAs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Completed => "completed",
            Self::NotPlanned => "not planned",
            Self::Duplicate => "a duplicate",
        })
    }
}

/// The end of a sentence that begins with the person.
impl std::fmt::Display for StopDeed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::LabelOff(label) => write!(f, "took the label {} off", code_span(label)),
            Self::Closed(closed) => write!(f, "closed the issue as {closed}"),
            Self::Said(words) => write!(f, "said “{words}”"),
        }
    }
}

impl Ending {
    /// Whether its work is part of the repository now.
    pub(crate) fn is_a_merge(&self) -> bool {
        match self {
            Self::Merged | Self::MergedLeftOpen => true,
            Self::Closed
            | Self::Unlabeled
            | Self::Withdrawn
            | Self::Gone
            | Self::Concluded
            | Self::Terminated(_)
            | Self::Stopped { .. } => false,
        }
    }
}

impl std::fmt::Display for Ending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Merged => "its pull request was merged",
            Self::MergedLeftOpen => "its pull request was merged, and the issue was left open",
            Self::Closed => "the issue was closed",
            Self::Unlabeled => "the trigger label was taken off",
            Self::Withdrawn => "the issue was closed or its label taken off while the agent worked",
            Self::Gone => "the issue was deleted or transferred",
            Self::Concluded => "the report is written",
            Self::Terminated(by) => return write!(f, "{by} ended the work"),
            Self::Stopped { by, deed } => return write!(f, "{by} {deed}"),
        })
    }
}
