//! The issues and pull requests that an authorized answer names: Hob reads them, because an agent cannot.
//!
//! # Guarantees
//! - Only what an authorized account named is read, of this repository, [`NAMED_MAX`] at most.
//! - Of their comments only those of authorized accounts are told.
//! - What cannot be read is reported as progress and left out: no attempt fails because of it.

use hob_domain::{IssueNumber, OWN_MARK, named_numbers};
use hob_forge::Comment;
use hob_words::NamedIssue;

use crate::{WorkError, inbox::Inbox};

/// Issues and pull requests that are read for one answer.
const NAMED_MAX: usize = 3;
/// Comments of each that are looked at, the newest ones.
const COMMENTS_MAX: usize = 20;

/// Those that the record's answer names.
pub(super) async fn named_issues(inbox: &Inbox<'_>, own: IssueNumber) -> Vec<NamedIssue> {
    let record = inbox.record;
    let Some(answer) = &record.answer else { return Vec::new() };
    let pull = record.pull.number.map(|pull| IssueNumber(pull.0));
    let mut named = named_numbers(&answer.text);
    named.retain(|number| *number != own && Some(*number) != pull);
    let mut found = Vec::new();
    for number in named.into_iter().take(NAMED_MAX) {
        match read(inbox, number).await {
            Ok(issue) => found.push(issue),
            Err(error) => {
                inbox.worker.progress(own, &format!("number {number}, which the answer names, is left out: {error}"))
            }
        }
    }
    found
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
