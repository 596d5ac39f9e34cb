//! The state machine: six states, and the one table that says which event leads where.

use serde::{Deserialize, Serialize};

/// Where an issue stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Free to claim.
    Ready,
    /// Claimed, not started.
    Assigned,
    /// An agent works on it.
    InProgress,
    /// A pull request is open.
    InReview,
    /// A person is needed.
    Blocked,
    /// Merged, closed or cancelled.
    Done,
}

/// What a new worker does with an issue whose worker died.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// Goes on with it.
    Resume,
    /// Asks a person.
    Block,
    /// Puts it back to the free ones.
    Abandon,
}

/// What happens to an issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A worker won the ledger ref.
    ClaimWon,
    /// The agent was started.
    AgentStarted,
    /// A failure that may pass, with attempts left.
    TransientFailure,
    /// A failure that stays, a question, a budget or the attempts used up.
    PersonNeeded,
    /// The lease ran out: its worker died.
    LeaseExpired(Recovery),
    /// The pull request is open.
    PullRequestOpened,
    /// The agent found nothing to change, or the work is merged or closed as done.
    Finished,
    /// The pull request was closed without a merge.
    PullRequestRejected,
    /// A review, a failed check or a conflict asks for another round.
    ReworkAsked,
    /// A person answered or removed the label.
    Unblocked,
    /// The trigger label or the issue was taken away.
    Cancelled,
}

impl State {
    /// Every state, in the order of the life of an issue.
    pub const ALL: [Self; 6] =
        [Self::Ready, Self::Assigned, Self::InProgress, Self::InReview, Self::Blocked, Self::Done];

    /// The state after `event`, or none where the event has no meaning in this state.
    pub fn after(self, event: Event) -> Option<Self> {
        let working = matches!(self, Self::Assigned | Self::InProgress);
        let next = match event {
            Event::ClaimWon if self == Self::Ready => Self::Assigned,
            Event::AgentStarted if self == Self::Assigned => Self::InProgress,
            Event::TransientFailure if working => Self::Ready,
            Event::PersonNeeded if working => Self::Blocked,
            Event::LeaseExpired(Recovery::Resume) if working => Self::Assigned,
            Event::LeaseExpired(Recovery::Block) if working => Self::Blocked,
            Event::LeaseExpired(Recovery::Abandon) if working => Self::Ready,
            Event::PullRequestOpened if self == Self::InProgress => Self::InReview,
            Event::ReworkAsked if self == Self::InReview => Self::InProgress,
            Event::Finished if self == Self::InReview => Self::Done,
            Event::PullRequestRejected if self == Self::InReview => Self::Blocked,
            Event::Unblocked if self == Self::Blocked => Self::Ready,
            Event::Cancelled if self != Self::Done => Self::Done,
            Event::ClaimWon
            | Event::AgentStarted
            | Event::TransientFailure
            | Event::PersonNeeded
            | Event::LeaseExpired(_)
            | Event::PullRequestOpened
            | Event::ReworkAsked
            | Event::Finished
            | Event::PullRequestRejected
            | Event::Unblocked
            | Event::Cancelled => return None,
        };
        Some(next)
    }
}

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Ready => "ready",
            Self::Assigned => "assigned",
            Self::InProgress => "in-progress",
            Self::InReview => "in-review",
            Self::Blocked => "blocked",
            Self::Done => "done",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every event, against the states it is for and where it leads; all other pairs lead nowhere.
    const TABLE: &[(Event, &[(State, State)])] = {
        use State::{Assigned, Blocked, Done, InProgress, InReview, Ready};
        &[
            (Event::ClaimWon, &[(Ready, Assigned)]),
            (Event::AgentStarted, &[(Assigned, InProgress)]),
            (Event::TransientFailure, &[(Assigned, Ready), (InProgress, Ready)]),
            (Event::PersonNeeded, &[(Assigned, Blocked), (InProgress, Blocked)]),
            (Event::LeaseExpired(Recovery::Resume), &[(Assigned, Assigned), (InProgress, Assigned)]),
            (Event::LeaseExpired(Recovery::Block), &[(Assigned, Blocked), (InProgress, Blocked)]),
            (Event::LeaseExpired(Recovery::Abandon), &[(Assigned, Ready), (InProgress, Ready)]),
            (Event::PullRequestOpened, &[(InProgress, InReview)]),
            (Event::ReworkAsked, &[(InReview, InProgress)]),
            (Event::Finished, &[(InReview, Done)]),
            (Event::PullRequestRejected, &[(InReview, Blocked)]),
            (Event::Unblocked, &[(Blocked, Ready)]),
            (
                Event::Cancelled,
                &[(Ready, Done), (Assigned, Done), (InProgress, Done), (InReview, Done), (Blocked, Done)],
            ),
        ]
    };

    #[test]
    fn every_state_meets_every_event_as_the_table_says() {
        for (event, rows) in TABLE {
            for state in State::ALL {
                let expected = rows.iter().find(|(from, _)| *from == state).map(|(_, to)| *to);
                assert_eq!(state.after(*event), expected, "{state} after {event:?}");
            }
        }
    }
}
