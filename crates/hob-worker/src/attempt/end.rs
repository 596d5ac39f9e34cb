//! The end of an attempt.

use hob_domain::{BlockReason, Full, Login, Pause, Proof, PullNumber, Sha, Transition, trace::failed};
use serde_json::Value;
use tracing::Span;

use crate::WorkError;

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
    /// The ledger has the round's work, with this sentence: people are to see it.
    RoundEnded(String),
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

impl AttemptEnd {
    /// Its name, for programs.
    fn name(&self) -> &'static str {
        match self {
            Self::Published { .. } | Self::RoundEnded(_) => "published",
            Self::Concluded => "concluded",
            Self::HandedOn => "handed_on",
            Self::Blocked(_) => "blocked",
            Self::Retry { .. } => "retried",
            Self::Postponed(_) => "postponed",
            Self::Withdrawn | Self::Interrupted(Interrupt::Withdrawn) => "withdrawn",
            Self::NoRoom(_) => "no_room",
            Self::Interrupted(Interrupt::Stopped) => "stopped",
            Self::Interrupted(Interrupt::Paused(_)) => "paused",
            Self::Interrupted(Interrupt::Terminated(_)) => "cancelled",
        }
    }
}

/// Notes the end in the span of the attempt.
pub(super) fn note_end(span: &Span, end: &Result<AttemptEnd, WorkError>) {
    match end {
        Ok(end) => span.record("hob.attempt.end", end.name()),
        Err(_) => span.record("hob.attempt.end", "failed"),
    };
    match end {
        Err(error) => failed(span, error.class().name()),
        Ok(AttemptEnd::Retry { .. }) => failed(span, "unfinished"),
        Ok(AttemptEnd::Postponed(_)) => failed(span, "transient"),
        Ok(AttemptEnd::Blocked(reason)) => {
            let code = serde_json::to_value(reason.code()).ok();
            span.record("hob.attempt.blocked", code.as_ref().and_then(Value::as_str));
        }
        Ok(
            AttemptEnd::Published { .. }
            | AttemptEnd::RoundEnded(_)
            | AttemptEnd::Concluded
            | AttemptEnd::HandedOn
            | AttemptEnd::Withdrawn
            | AttemptEnd::NoRoom(_)
            | AttemptEnd::Interrupted(_),
        ) => {}
    }
}
