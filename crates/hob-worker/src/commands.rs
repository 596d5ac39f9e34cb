//! Commands in comments that authorized accounts gave, on the issue and in its pull request's conversation, and that
//! were not followed yet.
//!
//! Each read is answered 304 and not counted while nothing changes.

use std::collections::HashMap;

use hob_domain::{
    Actor, Asked, AskedInReview, Command, GivenCommand, IssueNumber, Login, OWN_MARK, PullNumber, Record, State,
    asked_in, asked_in_review,
};
use hob_forge::{Comment, Issue};

use crate::{WorkError, Worker, authorize::authorize};

/// The commands to follow on an issue and on its pull request, oldest first. Those that answer the question of a
/// blocked issue are left to the search for an answer. `issue` is `None` if nothing is new on the issue itself.
pub(super) async fn commands(
    worker: &Worker,
    issue: Option<&Issue>,
    record: &Record,
) -> Result<Vec<GivenCommand>, WorkError> {
    let mut given = Vec::new();
    if let Some(issue) = issue.filter(|issue| issue.comments > 0) {
        let comments = worker.forge.comments().since(issue.number, record.commands_since()).await?;
        let asked = |body: &str| asked_in(body).map(AskedInReview::Command);
        given = authorized(worker, record, &comments, None, asked).await?;
    }
    given.extend(commands_on_pull(worker, record).await?);
    given.retain(|given| !answers(record, given));
    given.sort_by_key(|given| given.comment);
    Ok(given)
}

/// The commands in the conversation of the issue's pull request that were not followed yet.
pub(super) async fn commands_on_pull(worker: &Worker, record: &Record) -> Result<Vec<GivenCommand>, WorkError> {
    let Some(pull) = record.pull_request else { return Ok(Vec::new()) };
    // The comments that this poll read need not be read again when a round begins; the attempt reads them anew.
    let begins = matches!(record.state, State::InReview | State::Assigned);
    let found = worker.memory.found_pulls.get(pull).filter(|_| begins);
    if let Some(found) = found.filter(|found| found.open.is_whole && worker.memory.found_pulls.is_new(found)) {
        return commands_among(worker, record, pull, &found.open.comments).await;
    }
    let comments = worker.forge.comments().of(IssueNumber(pull.0)).await?;
    commands_among(worker, record, pull, &comments).await
}

/// The pull request's comments that are commands and were not followed yet.
pub(super) async fn commands_among(
    worker: &Worker,
    record: &Record,
    pull: PullNumber,
    comments: &[Comment],
) -> Result<Vec<GivenCommand>, WorkError> {
    authorized(worker, record, comments, Some(pull), asked_in_review).await
}

/// Whether a command answers the question of a blocked issue.
fn answers(record: &Record, given: &GivenCommand) -> bool {
    let Some(blocked) = record.blocked.as_ref().filter(|_| record.state == State::Blocked) else { return false };
    match &given.asked {
        Asked::Known(Command::Retry | Command::Unblock(_)) => given.at >= blocked.since,
        Asked::Known(Command::Approve(_)) if blocked.asks_for_approval() => blocked.precedes(given.comment, given.at),
        Asked::Known(Command::Approve(_)) => given.at >= blocked.since,
        Asked::Known(
            Command::Cancel
            | Command::Pause(_)
            | Command::Resume
            | Command::Agent(_)
            | Command::Budget(_)
            | Command::Plan
            | Command::Explain
            | Command::Help,
        )
        | Asked::Unknown(_)
        | Asked::Edited => false,
    }
}

/// The comments with a command that is not handled yet, by authorized accounts. An edited one has no effect, and its
/// author is told so.
async fn authorized(
    worker: &Worker,
    record: &Record,
    comments: &[Comment],
    pull: Option<PullNumber>,
    asked: impl Fn(&str) -> Option<AskedInReview>,
) -> Result<Vec<GivenCommand>, WorkError> {
    let mut judged: HashMap<Login, bool> = HashMap::new();
    let mut given = Vec::new();
    for comment in comments {
        let is_old = comment.created_at < record.commands_since() || record.commands.has_handled(comment.id);
        if is_old || comment.body.starts_with(OWN_MARK) {
            continue;
        }
        let (Some(asked), Some(author)) = (asked(&comment.body), &comment.author) else { continue };
        let counts = match judged.get(&author.login) {
            Some(counts) => *counts,
            None => {
                let counts = is_authorized(worker, author).await?;
                judged.insert(author.login.clone(), counts);
                counts
            }
        };
        if !counts {
            continue;
        }
        let asked = match asked {
            _ if worker.forge.comments().is_edited(comment).await? => Some(Asked::Edited),
            AskedInReview::Command(asked) => Some(asked),
            // A round answers it.
            AskedInReview::Work => None,
        };
        if let Some(asked) = asked {
            given.push(GivenCommand {
                comment: comment.id,
                pull,
                asked,
                by: author.login.clone(),
                at: comment.created_at,
            });
        }
    }
    Ok(given)
}

async fn is_authorized(worker: &Worker, author: &Actor) -> Result<bool, WorkError> {
    Ok(authorize(worker, author).await?.is_ok())
}
