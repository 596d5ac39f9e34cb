//! Work outside of this process: `executor.command` runs for each issue that can be worked on, such as `srun … hob run {issue}`, and its
//! job claims the issue by itself.
//!
//! # Guarantees
//! This process holds no lease for such an issue. A second dispatcher, or one that was restarted, runs the command twice at worst, and
//! the lease lets one of the two jobs work.
//!
//! # Caveats
//! A command has to last as long as its job. One that only submits it is run again after a while in which the issue was not taken up.

use std::{sync::Arc, time::Duration};

use hob_config::own_environment;
use hob_domain::{Headroom, IssueNumber, Sha};
use hob_forge::BaseBranch;
use hob_process::{Exit, Finished, Program};
use hob_text::shortened;

use crate::{
    WorkError, Worker,
    attempt::room_after_pause,
    reconcile::Reconciled,
    schedule::poll::{Work, take_up, told},
};

/// What is kept of a command's output: its last lines tell why it failed.
const OUTPUT: usize = 16 << 10;

/// Has the issue worked on where the settings say: by this process, or by the command's job.
pub(super) async fn begin(worker: &Worker, work: Work, base: &Arc<BaseBranch>) -> Result<Reconciled, WorkError> {
    let issue = work.issue();
    match worker.settings.executor.command_for(worker.forge.repo(), issue) {
        None => take_up(worker, work, base).await,
        Some(command) => told(worker, issue, Box::pin(hand_out(worker, work, command)).await),
    }
}

async fn hand_out(worker: &Worker, work: Work, command: Vec<String>) -> Result<Reconciled, WorkError> {
    let issue = work.issue();
    if work.waits_for_room() && matches!(room_after_pause(worker, issue).await, Ok(Headroom::None)) {
        return Ok(Reconciled::NoRoom);
    }
    let before = ledger_at(worker, issue).await?;
    if worker.memory.handed_out.waits(issue, before.as_ref()) {
        return Ok(Reconciled::Nothing);
    }
    let finished = run(worker, issue, command).await?;
    if finished.exit == Exit::Cancelled {
        return Ok(Reconciled::Nothing);
    }
    let after = ledger_at(worker, issue).await?;
    if after != before {
        return Ok(Reconciled::Worked);
    }
    let succeeded = finished.exit.is_success();
    let pause = worker.memory.handed_out.note(issue, after, succeeded);
    if succeeded {
        tracing::info!(issue = issue.0, "the executor's command ended, and the issue is as before");
        return Ok(Reconciled::Nothing);
    }
    let said = worker.forge.connection().secrets().redaction().text(&last_words(&finished)).into_owned();
    Err(WorkError::Executor { exit: finished.exit, said, pause })
}

/// Runs the command with this process's own environment, which its job may need.
async fn run(worker: &Worker, issue: IssueNumber, command: Vec<String>) -> Result<Finished, WorkError> {
    let mut words = command.into_iter();
    let program = words.next().unwrap_or_default();
    worker.progress(issue, &format!("running the executor's command `{program}`"));
    let program = Program::of_hob(program, &own_environment()).args(words).deadline(Duration::MAX).output_cap(OUTPUT);
    program.run(&worker.cancel).await.map_err(WorkError::NoExecutor)
}

/// The commit that the issue's ledger is at; it moves once a job has taken the issue up.
async fn ledger_at(worker: &Worker, issue: IssueNumber) -> Result<Option<Sha>, WorkError> {
    Ok(worker.forge.ledger().tip(issue).await?.map(|tip| tip.commit))
}

/// The last line of what the command said, of its errors first.
fn last_words(finished: &Finished) -> String {
    let said = [&finished.stderr, &finished.stdout].map(hob_process::Captured::text);
    let last = said.iter().find_map(|said| said.lines().rev().find(|line| !line.trim().is_empty()));
    shortened(last.unwrap_or("it said nothing"), 300)
}
