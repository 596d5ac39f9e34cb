//! What a person's answer to a blocked issue allows. [`Transition`](crate::Transition) has it, and `effect` carries it out.

use crate::Answer;

/// An answer that unblocks an issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unblocking {
    /// What the person said.
    pub answer: Answer,
    /// Whether it approves the proposed action.
    pub grant: ApprovalGrant,
    /// SHA-256 of the title and the body as the person saw them.
    pub approved: String,
}

/// Whether an answer approves the action that waits for approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalGrant {
    /// It does not.
    Nothing,
    /// It does, exactly this action.
    ProposedAction,
    /// It approves exactly the plan that waits for it.
    ProposedPlan,
}
