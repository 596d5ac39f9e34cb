//! The end of an attempt.

use hob_domain::{BlockReason, Full, Login, Pause, Proof, PullNumber, Sha, Transition};

/// The end of an attempt, as a value: `finish` writes it.
pub(super) enum AttemptEnd {
    /// The pull request is open.
    Published {
        /// The branch's tip.
        head: Sha,
        /// The pull request.
        pull: PullNumber,
        /// Its proof; `None` if the ledger has it already.
        proof: Option<Box<Proof>>,
    },
    /// The result is a comment.
    Concluded,
    /// The result is a comment, and another profile continues in its own attempt.
    HandedOn,
    /// A person is needed.
    Blocked(BlockReason),
    /// A failure that may pass, after the agent did some of its work.
    Retry {
        /// The cause of the failure.
        failure: String,
    },
    /// Nothing can be done for now, and not by the attempt's fault: a later attempt, which does not count, or a question to a person.
    Postponed(Transition),
    /// The issue was withdrawn before anything was published: nothing is pushed.
    Withdrawn,
    /// Other workers took the room that the poll had seen.
    NoRoom(Full),
    /// A person or the machine cut the attempt short.
    Interrupted(Interrupt),
}

/// The result of an attempt, for its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attempted {
    /// Work on the issue.
    Worked,
    /// The repository had no room, and the issue was requeued.
    NoRoom,
}

impl Attempted {
    pub(super) fn new<E>(end: &Result<AttemptEnd, E>) -> Self {
        if matches!(end, Ok(AttemptEnd::NoRoom(_))) { Self::NoRoom } else { Self::Worked }
    }
}

/// The reason that cut an attempt short.
pub(super) enum Interrupt {
    /// The worker was asked to stop.
    Stopped,
    /// A person paused the issue.
    Paused(Pause),
    /// A person ended the work.
    Terminated(Login),
    /// The issue was closed, or its trigger label removed.
    Withdrawn,
}
