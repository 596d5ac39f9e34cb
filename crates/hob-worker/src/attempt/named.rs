//! The issues and pull requests that an authorized answer or a round in review names: Hob reads them, because an agent cannot.
//!
//! # Guarantees
//! - Only what an authorized account named is read, of this repository, [`NAMED_MAX`] at most.
//! - Of their comments only those of authorized accounts are told.
//! - What cannot be read is reported as progress and left out: no attempt fails because of it.

use hob_domain::{IssueNumber, OWN_MARK, named_numbers};
use hob_forge::Comment;
use hob_words::{NamedIssue, ReviewBrief};

use crate::{WorkError, inbox::Inbox};

/// Issues and pull requests that are read for one attempt.
const NAMED_MAX: usize = 3;
/// Comments of each that are looked at, the newest ones.
const COMMENTS_MAX: usize = 20;

/// Those that the record's answer names, and then what authorized accounts wrote on the pull request.
pub(super) async fn named_issues(
    inbox: &Inbox<'_>,
    own: IssueNumber,
    review: &ReviewBrief,
) -> Result<Vec<NamedIssue>, WorkError> {
    let record = inbox.record;
    let hob = if review.threads.is_empty() { None } else { inbox.worker.own_login().await? };
    let answer = record.answer.iter().map(|answer| answer.text.as_str());
    let said = review.reviews.iter().chain(&review.comments).map(|(.., body)| body.as_str());
    let lines = review.threads.iter().flat_map(|thread| &thread.comments);
    let lines = lines.filter(|line| hob.as_ref().is_none_or(|hob| !line.author.is(hob))).map(|line| line.body.as_str());
    let words = answer.chain(said).chain(lines).collect::<Vec<_>>().join("\n");
    let pull = record.pull.number.map(|pull| IssueNumber(pull.0));
    let mut named = named_numbers(&words);
    named.retain(|number| *number != own && Some(*number) != pull);
    let mut found = Vec::new();
    for number in named.into_iter().take(NAMED_MAX) {
        match read(inbox, number).await {
            Ok(issue) => found.push(issue),
            Err(error) => {
                inbox.worker.progress(own, &format!("number {number}, which people named, is left out: {error}"))
            }
        }
    }
    Ok(found)
}

async fn read(inbox: &Inbox<'_>, number: IssueNumber) -> Result<NamedIssue, WorkError> {
    let forge = &inbox.worker.forge;
    let issue = forge.rendered().issue(number).await?;
    let comments = forge.comments().of(number).await?;
    let newest = comments.len().saturating_sub(COMMENTS_MAX);
    let mut told = Vec::new();
    for Comment { author, body, .. } in comments.into_iter().skip(newest) {
        let Some(author) = author.filter(|_| !body.starts_with(OWN_MARK)) else { continue };
        if inbox.authorizer.judge(inbox.worker, &author).await?.is_granted() {
            told.push((author.login, body));
        }
    }
    Ok(NamedIssue { number, title: issue.title, body: issue.body, comments: told })
}
