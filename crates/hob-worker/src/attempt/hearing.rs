//! What people said meanwhile reaches the agent before the work goes to people.
//!
//! # Flow
//! Each heartbeat notes new words in the ledger as unread, and keeps their text ([`follow_new_commands`](super::listen::follow_new_commands)). A run's brief
//! has all words so far ([`begin_to_hear`]), and an agent that can listen gets later ones at its next turn. Before
//! finished work is published, [`look_once_more`] looks again; if words are unread, the work [`goes_back`].
//!
//! # Guarantees
//! Words are unread in the ledger until a run began with them or its model replied to them. If the worker dies before
//! that is written, the brief of the next run has them; what a round's agent had stays the round's, and is in the brief of whichever
//! worker takes it over. If no run can follow, the work is published, nobody is asked for
//! a review, and a round begins.

use std::ops::ControlFlow;

use hob_domain::{ChangeText, Login, Note};
use hob_forge::Issue;

use crate::{
    WorkError, Worker,
    attempt::{
        end::Interrupt, job::Job, listen::follow_commands_on, proof::Proven, remaining_allowance::remaining_allowance,
    },
};

/// How often words send finished work back to the agent. What people say after that begins a round in review.
const HEARINGS_MAX: u32 = 3;

/// Begins a run of the agent, whose brief has all comments: returns those since the attempt was prepared.
pub(super) async fn begin_to_hear(job: &Job<'_>) -> Vec<(Login, String)> {
    // While words are taken in, not all of those in the ledger have a text here.
    let _turn = job.held.commands.lock().await;
    let lease = &job.held.lease;
    lease.note(Note::Briefed(job.briefed)).await;
    lease.note(Note::Heard(lease.record().commands.unread)).await;
    let said = job.held.steering.begin_run().into_iter().filter(|said| said.comment > job.briefed);
    said.map(|said| (said.author, said.body)).collect()
}

/// Whether finished work goes back to the agent, which has words of people to read first. Work that it leaves as it was
/// keeps its description.
pub(super) fn goes_back(worker: &Worker, job: &Job<'_>, proven: &Proven) -> bool {
    let is_unread = !job.held.lease.record().commands.unread.is_empty();
    if !is_unread || remaining_allowance(worker, job).is_err() {
        return false;
    }
    let mut hearings = job.hearings.lock();
    if hearings.count >= HEARINGS_MAX {
        return false;
    }
    hearings.count += 1;
    hearings.sent_back = Some((proven.diff.clone(), proven.change.clone()));
    true
}

/// What the agent said of this work before it read people's words, if it left it as it was.
pub(super) fn said_before(job: &Job<'_>, proven: &Proven) -> Option<ChangeText> {
    let hearings = job.hearings.lock();
    hearings.sent_back.as_ref().filter(|(diff, _)| *diff == proven.diff).map(|(_, change)| change.clone())
}

/// Looks at what people said since the last heartbeat, right before the work goes to people. What ends it is returned.
pub(super) async fn look_once_more(
    worker: &Worker,
    job: &Job<'_>,
    issue: &Issue,
) -> Result<ControlFlow<Interrupt>, WorkError> {
    let record = job.held.lease.record();
    let has_news = record.commands.comments != Some(issue.comments);
    // Comments on its pull request do not change the issue.
    if record.pull.number.is_none() && !has_news {
        return Ok(ControlFlow::Continue(()));
    }
    let on_issue = Some(issue).filter(|_| has_news);
    let interrupt = follow_commands_on(worker, job.held, on_issue, issue.comments).await?;
    Ok(interrupt.map_or(ControlFlow::Continue(()), ControlFlow::Break))
}
