//! Blocked issues that the operator unblocks from the command line, or a person on the dashboard.

use std::sync::Arc;

use hob_domain::{
    Answer, ApprovalGrant, IssueNumber, JoinedWords, Proposed, Record, State, Transition, Unblocking, WorkPlan,
    approval_text, plan_approval_text,
};
use hob_forge::BaseBranch;

use crate::{
    OperatorError, WorkError, Worker,
    authorize::approved_hash,
    observe::{Observed, observe},
    reconcile::patience::Patience,
    repository_file::here,
    transition::{acquire, show_and_release},
};

/// Answers a blocked issue from the command line: the next free worker takes it with this text.
///
/// # Errors
/// [`OperatorError::NotBlocked`] if the issue is not blocked, [`OperatorError::NoIssue`] if there is none.
pub async fn unblock(worker: &Worker, number: IssueNumber, text: &str) -> Result<(), OperatorError> {
    let worker = &here(worker).await?;
    let mut patience = Patience::default();
    loop {
        match Box::pin(unblock_now(worker, number, text)).await {
            Err(error) if patience.waits(&error).await => {}
            done => return done,
        }
    }
}

async fn unblock_now(worker: &Worker, number: IssueNumber, text: &str) -> Result<(), OperatorError> {
    let observed = observe_blocked(worker, number).await?.ok_or(OperatorError::NotBlocked(number))?;
    Ok(free_as_operator(worker, observed, text.to_owned(), ApprovalGrant::Nothing).await?)
}

/// What was approved from the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Approved {
    /// An action of the agent.
    Action(Proposed),
    /// The agent's plan.
    Plan(WorkPlan),
}

/// Approves from the command line exactly what the agent of a blocked issue proposes, and unblocks the issue.
///
/// # Errors
/// [`OperatorError::NothingProposed`] if neither an action nor a plan waits for approval.
pub async fn approve(worker: &Worker, number: IssueNumber, words: &str) -> Result<Approved, OperatorError> {
    let worker = &here(worker).await?;
    let mut patience = Patience::default();
    loop {
        match Box::pin(approve_now(worker, number, words)).await {
            Err(error) if patience.waits(&error).await => {}
            done => return done,
        }
    }
}

async fn approve_now(worker: &Worker, number: IssueNumber, words: &str) -> Result<Approved, OperatorError> {
    let observed = observe_blocked(worker, number).await?.ok_or(OperatorError::NothingProposed(number))?;
    let record = observed.record();
    let action = record.and_then(Record::waiting_action).cloned().map(Approved::Action);
    let waiting = action.or_else(|| record.and_then(Record::waiting_plan).cloned().map(Approved::Plan));
    let approved = waiting.ok_or(OperatorError::NothingProposed(number))?;
    let (text, grant) = match &approved {
        Approved::Action(action) => (approval_text(action, words), ApprovalGrant::ProposedAction),
        Approved::Plan(_) => (plan_approval_text(words), ApprovalGrant::ProposedPlan),
    };
    free_as_operator(worker, observed, text, grant).await?;
    Ok(approved)
}

/// The issue; `None` if it is not blocked now.
async fn observe_blocked(worker: &Worker, number: IssueNumber) -> Result<Option<Observed>, OperatorError> {
    let observed = observe(worker, number).await?.ok_or(OperatorError::NoIssue(number))?;
    Ok(observed.record().is_some_and(|record| record.state == State::Blocked).then_some(observed))
}

/// Unblocks an issue, in the name of the token's account.
async fn free_as_operator(
    worker: &Worker,
    observed: Observed,
    text: String,
    grant: ApprovalGrant,
) -> Result<(), WorkError> {
    let base = Arc::new(worker.forge.repository().base_branch().await?);
    let actor = worker.operator().await?;
    let question = observed.record().and_then(|record| record.blocked.as_ref()).map(|blocked| blocked.question.clone());
    let answer = Answer { actor, text, question, comment: None, event: None };
    // The operator at the command line sees the issue in its current form.
    let freed =
        Freed { answer, grant, approved: approved_hash(&observed.issue), why: "unblocked from the command line" };
    Box::pin(free(worker, observed, freed, &base)).await
}

/// The way in which a blocked issue is made ready for the next free worker.
pub(super) struct Freed {
    pub(super) answer: Answer,
    pub(super) grant: ApprovalGrant,
    /// SHA-256 of the title and the body that are approved with it.
    pub(super) approved: String,
    /// The reason that is shown.
    pub(super) why: &'static str,
}

/// Unblocks an issue: the next free worker takes it. What people said in comments before is part of the answer.
pub(super) async fn free(
    worker: &Worker,
    observed: Observed,
    freed: Freed,
    base: &Arc<BaseBranch>,
) -> Result<(), WorkError> {
    let Freed { answer, grant, approved, why } = freed;
    let joined = match observed.inbox(worker).filter(|inbox| inbox.record.blocked.is_some()) {
        Some(inbox) => inbox.joined_with(&observed.issue, &answer.actor, &answer.text).await?,
        None => JoinedWords { receipts: Vec::new(), text: answer.text.clone(), comment: None },
    };
    let answer = Answer { text: joined.text, comment: joined.comment, ..answer };
    let unblock = Transition::Unblock(Unblocking { answer, grant, approved }).following(joined.receipts);
    let held = acquire(worker, observed, base, unblock).await?;
    show_and_release(worker, &held, why).await
}
