//! Why an issue is blocked, as a code, and which people can end it, as a kind.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Which people can end a block. Programs that only route messages need no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlockKind {
    /// Anyone who knows the answer to the agent's question.
    Question,
    /// A maintainer, by approving an action or a plan.
    Approval,
    /// A maintainer, by saying what to do differently or by trying again.
    Failed,
    /// The people who pay, by allowing more attempts, time or money.
    Limit,
    /// The operator or the repository's owner, by setting something up or by relaxing a rule.
    Setup,
    /// The person who changed the issue, the branch or the pull request, by saying what counts now.
    Changed,
}

/// The reason for a block, without what its text mentions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlockCode {
    /// The agent asks a question.
    Question,
    /// The agent wants to do something that needs approval.
    ApprovalNeeded,
    /// The agent has a plan, and nothing is written before a person approves it.
    PlanProposed,
    /// The checks fail on the head.
    ChecksFailed,
    /// The checks already fail on the base.
    RedBase,
    /// The branch and its base changed the same lines, and the agent did not resolve that.
    MergeConflict,
    /// The agent changed nothing.
    NoChanges,
    /// The agent failed in a way that a retry cannot change.
    AgentFailed,
    /// All attempts between two answers were used up before this one began.
    AttemptsUsedUp,
    /// The last of the attempts between two answers failed too.
    AttemptsFailed,
    /// A service that the work needs has failed for too long.
    ServiceDown,
    /// The attempt's time or money is used up.
    AttemptBudget,
    /// A budget of the issue's whole life is used up; only a higher budget helps.
    IssueBudget,
    /// Policy forbids publishing the change.
    PolicyViolated,
    /// The forge refused the push or the pull request.
    PushRefused,
    /// Something has to be set up first.
    SetUpNeeded,
    /// The ledger was deleted while the issue was blocked.
    LedgerLost,
    /// The issue was edited while the agent worked.
    EditedMeanwhile,
    /// The pull request was closed without a merge.
    Rejected,
    /// The same failure on the same work, twice.
    NoProgress,
    /// A round in review ended without a change.
    RoundChangedNothing,
    /// A person pushed to Hob's branch.
    PersonPushed,
    /// The pull request has had as many rounds in review as it may have.
    RoundsUsedUp,
    /// Its worker died, and the setting `recovery` leaves the decision to a person.
    WorkerDied,
}

impl BlockCode {
    /// Which people can end the block.
    pub fn kind(self) -> BlockKind {
        match self {
            Self::Question => BlockKind::Question,
            Self::ApprovalNeeded | Self::PlanProposed => BlockKind::Approval,
            Self::ChecksFailed
            | Self::MergeConflict
            | Self::NoChanges
            | Self::AgentFailed
            | Self::NoProgress
            | Self::RoundChangedNothing
            | Self::RoundsUsedUp
            | Self::LedgerLost
            | Self::WorkerDied => BlockKind::Failed,
            Self::AttemptsUsedUp
            | Self::AttemptsFailed
            | Self::ServiceDown
            | Self::AttemptBudget
            | Self::IssueBudget => BlockKind::Limit,
            Self::RedBase | Self::PolicyViolated | Self::PushRefused | Self::SetUpNeeded => BlockKind::Setup,
            Self::EditedMeanwhile | Self::Rejected | Self::PersonPushed => BlockKind::Changed,
        }
    }
}

/// The code with its kind, for programs that read JSON. Only the code is read back, so the two never disagree.
pub(crate) mod with_kind {
    use super::{BlockCode, BlockKind, Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize)]
    struct Written {
        kind: BlockKind,
        reason: BlockCode,
    }

    #[derive(Deserialize)]
    struct Read {
        reason: BlockCode,
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(crate) fn serialize<S: Serializer>(reason: &BlockCode, to: S) -> Result<S::Ok, S::Error> {
        Written { kind: reason.kind(), reason: *reason }.serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<BlockCode, D::Error> {
        Ok(Read::deserialize(from)?.reason)
    }
}

#[cfg(test)]
mod tests {
    use crate::{BlockReason, Blocked, Timestamp, issue::blocked::tests::every_reason};

    #[test]
    fn a_program_finds_the_kind_and_the_reason_of_a_block() {
        let of = |reason: &BlockReason| {
            let json = serde_json::to_value(reason.blocked(Timestamp::UNIX_EPOCH)).unwrap();
            let read: Blocked = serde_json::from_value(json.clone()).unwrap();
            assert_eq!(read, reason.blocked(Timestamp::UNIX_EPOCH));
            format!("{}: {}", json["kind"].as_str().unwrap(), json["reason"].as_str().unwrap())
        };
        let mut told: Vec<String> = every_reason().iter().map(of).collect();
        told.sort();
        told.dedup();
        insta::assert_snapshot!(told.join("\n"), @"
        approval: approval-needed
        approval: plan-proposed
        changed: edited-meanwhile
        changed: person-pushed
        changed: rejected
        failed: agent-failed
        failed: checks-failed
        failed: ledger-lost
        failed: merge-conflict
        failed: no-changes
        failed: no-progress
        failed: round-changed-nothing
        failed: rounds-used-up
        failed: worker-died
        limit: attempt-budget
        limit: attempts-failed
        limit: attempts-used-up
        limit: issue-budget
        limit: service-down
        question: question
        setup: policy-violated
        setup: push-refused
        setup: red-base
        setup: set-up-needed
        ");
    }
}
