//! Version 1 of the record, read as version 2. No release wrote it.
//!
//! The conversion works on the JSON, so that fields that this Hob does not know stay as they are.

use serde_json::Value;

use crate::issue::record_message::Fields;

/// The fields of a record of version 1, as version 2 has them.
pub(crate) fn upgraded(mut fields: Fields) -> Fields {
    if let Some(Value::Object(blocked)) = fields.get_mut("blocked") {
        block(blocked);
    }
    fields
}

/// Version 1 had one word for several reasons; their texts tell them apart.
fn block(blocked: &mut Fields) {
    let text = blocked.get("text").and_then(Value::as_str).unwrap_or_default();
    let reason = match blocked.get("kind").and_then(Value::as_str).unwrap_or_default() {
        "limit-reached" if text.starts_with("The attempt's ") => "attempt-budget",
        "limit-reached" if text.contains(" in a row since ") => "service-down",
        "limit-reached" if text.contains(" used up, the most that ") => "attempts-used-up",
        "limit-reached" => "attempts-failed",
        "budget-spent" => "issue-budget",
        "set-up-needed" if text.starts_with("The ledger of this issue was deleted") => "ledger-lost",
        "no-progress" if text.starts_with("The agent changed nothing in a round") => "round-changed-nothing",
        same => same,
    };
    let reason = Value::from(reason);
    blocked.insert("reason".to_owned(), reason);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{BlockCode, BlockReason, Blocked, Timestamp, issue::blocked::tests::every_reason};

    /// The word that version 1 had for a reason.
    fn kind(reason: &BlockReason) -> &'static str {
        match reason.code() {
            BlockCode::Question => "question",
            BlockCode::ApprovalNeeded => "approval-needed",
            BlockCode::PlanProposed => "plan-proposed",
            BlockCode::ChecksFailed => "checks-failed",
            BlockCode::RedBase => "red-base",
            BlockCode::MergeConflict => "merge-conflict",
            BlockCode::NoChanges => "no-changes",
            BlockCode::AgentFailed => "agent-failed",
            BlockCode::AttemptsUsedUp
            | BlockCode::AttemptsFailed
            | BlockCode::ServiceDown
            | BlockCode::AttemptBudget => "limit-reached",
            BlockCode::IssueBudget => "budget-spent",
            BlockCode::PolicyViolated => "policy-violated",
            BlockCode::PushRefused => "push-refused",
            BlockCode::SetUpNeeded | BlockCode::LedgerLost => "set-up-needed",
            BlockCode::EditedMeanwhile => "edited-meanwhile",
            BlockCode::Rejected => "rejected",
            BlockCode::NoProgress | BlockCode::RoundChangedNothing => "no-progress",
            BlockCode::PersonPushed => "person-pushed",
            BlockCode::RoundsUsedUp => "rounds-used-up",
            BlockCode::WorkerDied => "worker-died",
        }
    }

    #[test]
    fn every_reason_of_version_1_is_found_again() {
        for reason in every_reason() {
            let now = reason.blocked(Timestamp::UNIX_EPOCH);
            let mut blocked = serde_json::to_value(&now).unwrap();
            blocked["kind"] = json!(kind(&reason));
            blocked.as_object_mut().unwrap().remove("reason");
            let fields = upgraded(json!({ "blocked": blocked }).as_object().unwrap().clone());
            let read: Blocked = serde_json::from_value(fields["blocked"].clone()).unwrap();
            assert_eq!(read, now, "{reason:?}");
        }
    }
}
