//! Notifications: the one comment that brings a question to the person who can answer it. Everything else on an issue is an
//! edit, of which the forge tells nobody.
//!
//! # Guarantees
//! One comment a question, whoever dies: it begins with a mark that names the question, and is looked for before it is written.
//! The names in it come from the ledger, the settings and the base branch, never from an issue's text or a model.

use hob_domain::{Blocked, IssueNumber, Login, Note, Record, code_owner, question_body, question_mark};
use hob_forge::{BaseBranch, HeldLease};

use crate::{WorkError, Worker};

/// Where a repository may have its owners.
const CODEOWNERS: [&str; 3] = [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"];

/// Tells the person who can answer that the issue is blocked, unless that was done.
pub(super) async fn tell_of_question(worker: &Worker, lease: &HeldLease, base: &BaseBranch) -> Result<(), WorkError> {
    let record = lease.record();
    let Some(blocked) = record.blocked.clone().filter(|blocked| !blocked.told) else { return Ok(()) };
    let people = people(worker, base, &record).await?;
    if !people.is_empty() {
        write_once(worker, lease, &record, &blocked, &people).await?;
    }
    lease.note(Note::Told).await;
    Ok(())
}

/// Who is to answer, as `notify.mention` says.
async fn people(worker: &Worker, base: &BaseBranch, record: &Record) -> Result<Vec<String>, WorkError> {
    let mut people: Vec<String> = Vec::new();
    for wanted in &worker.settings.notify.mention {
        let found = match wanted.as_str() {
            "actor" => record
                .trigger
                .as_ref()
                .map(|trigger| &trigger.actor)
                .filter(|actor| is_person(actor))
                .map(Login::to_string),
            "codeowners" => owner(worker, base).await?,
            login => Some(login.to_owned()),
        };
        people.extend(found.filter(|found| !people.contains(found)));
    }
    Ok(people)
}

/// Programs read no notifications.
fn is_person(login: &Login) -> bool {
    !login.as_str().ends_with("[bot]")
}

/// Who owns the repository's code, as its base branch says.
async fn owner(worker: &Worker, base: &BaseBranch) -> Result<Option<String>, WorkError> {
    for path in CODEOWNERS {
        if let Some(text) = worker.forge.repository().file(path, &base.sha).await? {
            return Ok(code_owner(&text));
        }
    }
    Ok(None)
}

async fn write_once(
    worker: &Worker,
    lease: &HeldLease,
    record: &Record,
    blocked: &Blocked,
    people: &[String],
) -> Result<(), WorkError> {
    let issue = lease.issue();
    let status = match record.status_comment {
        Some(comment) => format!("{}/issues/{issue}#issuecomment-{comment}", worker.repo_url()),
        None => format!("{}/issues/{issue}", worker.repo_url()),
    };
    let (mark, body) = (question_mark(blocked), question_body(blocked, people, &status));
    let mut tried = 0;
    while !is_written(worker, issue, &mark).await? {
        let error = match worker.forge.comments().create(lease, &body).await {
            Ok(_id) => return Ok(()),
            Err(error) if error.outcome_is_unknown() => error,
            Err(error) => return Err(error.into()),
        };
        let Some(pause) = worker.forge.pause_within(lease, &error, tried) else { return Err(error.into()) };
        worker.forge.wait(&error, pause).await;
        tried += 1;
    }
    Ok(())
}

/// Whether a comment of the token's own account has the mark; of any account, where nobody knows which that is.
async fn is_written(worker: &Worker, issue: IssueNumber, mark: &str) -> Result<bool, WorkError> {
    let own = worker.own_login().await?;
    let comments = worker.forge.comments().of(issue).await?;
    Ok(comments.iter().any(|comment| {
        let is_own = own.is_none_or(|own| comment.author.as_ref().is_some_and(|author| author.login.is(own)));
        is_own && comment.body.starts_with(mark)
    }))
}
