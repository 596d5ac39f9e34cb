//! Why work stopped, as a person read it: the agent that continues is told the same, on any machine.

use hob_text::clip;
use serde::{Deserialize, Serialize};

use crate::{BlockCode, Blocked, LastLines};

/// Bytes of the reason that are kept.
const TEXT_MAX: usize = 8 * 1024;

/// Why work stopped before a person let it continue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stopped {
    /// The reason as a code.
    pub reason: BlockCode,
    /// What the person read about it.
    pub text: String,
    /// The last output of the checks or steps that were the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub last: Vec<LastLines>,
}

impl Stopped {
    /// For this reason. `None` if the question says it all, or the brief has what was proposed.
    pub(crate) fn by(blocked: Blocked) -> Option<Self> {
        let Blocked { reason, text, last, .. } = blocked;
        match reason {
            BlockCode::Question | BlockCode::ApprovalNeeded | BlockCode::PlanProposed => None,
            BlockCode::ChecksFailed
            | BlockCode::RedBase
            | BlockCode::MergeConflict
            | BlockCode::NoChanges
            | BlockCode::AgentFailed
            | BlockCode::AttemptsUsedUp
            | BlockCode::AttemptsFailed
            | BlockCode::ServiceDown
            | BlockCode::AttemptBudget
            | BlockCode::IssueBudget
            | BlockCode::PolicyViolated
            | BlockCode::PushRefused
            | BlockCode::SetUpNeeded
            | BlockCode::LedgerLost
            | BlockCode::EditedMeanwhile
            | BlockCode::Rejected
            | BlockCode::NoProgress
            | BlockCode::RoundChangedNothing
            | BlockCode::PersonPushed
            | BlockCode::RoundsUsedUp
            | BlockCode::WorkerDied => Some(Self { reason, text: clip(&text, TEXT_MAX), last }),
        }
    }
}
