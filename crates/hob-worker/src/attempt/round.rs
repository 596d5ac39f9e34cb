//! One round: the agent works, or several profiles one after another, and Hob commits and proves what they did.

use std::pin::pin;

use hob_domain::{BlockReason, ChangeText, CheckResult, Conflict, Evidence, FailureClass, Outcome};
use hob_workspace::{UnfitWork, WorkspaceError};

use crate::{
    WorkError, Worker,
    attempt::{
        agent_run::run_agent,
        branch::{commit, is_reviewed},
        hand_off::{Passed, hand_off, out_of_time},
        job::Job,
        proof::{Proof, Proven, prove},
        remaining_allowance::remaining_allowance,
    },
    on_heap::on_heap,
};

/// What one round led to.
pub(super) enum Round {
    Proven(Box<Proven>),
    /// The checks that failed go back to the agent.
    Again(Evidence),
    /// What cannot be committed goes back to the agent.
    Unfit(UnfitWork),
    /// The conflicts with the base that are left go back to the agent.
    Conflicted(Vec<Conflict>),
    /// Nothing more can be done without a person.
    Blocked(BlockReason),
    /// The agent failed.
    Failed(String, FailureClass),
}

impl From<Proof> for Round {
    fn from(proof: Proof) -> Self {
        match proof {
            Proof::Passed(proven) => Self::Proven(proven),
            Proof::Failed(evidence) => Self::Again(evidence),
            Proof::Conflicted(files) => Self::Conflicted(files),
            Proof::Blocked(reason) => Self::Blocked(reason),
        }
    }
}

/// Runs the agent, and proves what it did. `failed` are the checks that the work so far failed. Meanwhile the folder of the checks is
/// filled with the work so far, of which the agent's work is rarely more than a few files away.
pub(super) async fn run_round(
    worker: &Worker,
    job: &Job<'_>,
    round: u32,
    failed: &[CheckResult],
) -> Result<Round, WorkError> {
    if job.rules.checks.is_empty() {
        return run_and_prove(worker, job, round, failed).await;
    }
    let tip = job.checkout.tip().await?;
    beside(job.checkout.fill_ahead(&tip), on_heap(|| run_and_prove(worker, job, round, failed))).await
}

/// What `work` comes to. What is to be done before work needs it goes on beside it, and ends with it.
async fn beside<T>(ahead: impl Future<Output = ()>, work: impl Future<Output = T>) -> T {
    let (mut ahead, mut work) = (pin!(ahead), pin!(work));
    tokio::select! {
        // First, so that work finds that it has begun.
        biased;
        () = &mut ahead => work.await,
        done = &mut work => done,
    }
}

async fn run_and_prove(worker: &Worker, job: &Job<'_>, round: u32, failed: &[CheckResult]) -> Result<Round, WorkError> {
    // As often as the ledger lets a chain of hand-offs get longer.
    let change = loop {
        let allowance = match remaining_allowance(worker, job) {
            Ok(allowance) => allowance,
            Err(reason) => return Ok(Round::Blocked(reason)),
        };
        let report = on_heap(|| run_agent(worker, job, round, failed, allowance)).await?;
        match report.outcome {
            Outcome::HandOff(_) if round == 0 && job.active.now().candidate > 0 => {
                // The ledger's chain would not be that of the one that is chosen.
                return Ok(Round::Failed(
                    "the candidate tried to hand off the work".to_owned(),
                    FailureClass::Unfinished,
                ));
            }
            Outcome::HandOff(given) => match hand_off(worker, job, *given).await? {
                Passed::On => {}
                Passed::Ended(done) => break ChangeText::untitled(done),
                Passed::Blocked(reason) => return Ok(Round::Blocked(reason)),
            },
            Outcome::Done { summary, title } => break ChangeText::said(title, &summary),
            // An agent that continues from its own work may find it done: nobody has seen it yet.
            Outcome::NothingToDo { reason } if has_unseen_work(job).await? => break ChangeText::untitled(reason),
            // Who reviewed the work is told why it stays as it is.
            Outcome::NothingToDo { reason } if is_reviewed(job) => break ChangeText::said(None, &reason),
            Outcome::NothingToDo { reason: said } => return Ok(Round::Blocked(BlockReason::NoChanges { said })),
            Outcome::Question { question } => return Ok(Round::Blocked(BlockReason::Question { question })),
            Outcome::ApprovalNeeded { proposed } => return Ok(Round::Blocked(BlockReason::ApprovalNeeded(proposed))),
            Outcome::Failed { reason, failure } => {
                let present = out_of_time(worker, job).await?;
                return Ok(present.map_or(Round::Failed(reason, failure), Round::Proven));
            }
        }
    };
    let clean = async {
        if !job.rules.checks.is_empty() {
            job.checkout.clean_ahead().await;
        }
    };
    match tokio::join!(commit(worker, job, &change), clean).0 {
        Err(WorkError::Workspace(WorkspaceError::Unfit(unfit))) => return Ok(Round::Unfit(unfit)),
        committed => committed?,
    }
    job.note_unfit(None);
    Ok(prove(worker, job, change).await?.into())
}

/// Whether the branch has work that was never in a pull request.
async fn has_unseen_work(job: &Job<'_>) -> Result<bool, WorkError> {
    Ok(job.held.lease.record().pull.number.is_none() && job.checkout.tip().await? != *job.checkout.base())
}
