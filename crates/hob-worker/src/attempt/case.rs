//! The case of an investigated issue: its text and comments, its form's questions, the profile's template.

use std::string::FromUtf8Error;

use hob_domain::{
    Login, Sha, Unread, command_in,
    investigation::{Case, CaseTemplate, EvidenceKind, Given, IssueForm, UnreadableForm, form_of},
};
use hob_text::rendered;
use hob_workspace::Remote;

use crate::{Worker, held_issue::HeldIssue};

/// The case of an issue: text by trusted accounts, the questions of its form, and the profile's template.
pub(super) async fn case_of(
    worker: &Worker,
    held: &HeldIssue,
    remote: &Remote,
    base: &Sha,
    comments: &[(Login, String)],
    template: CaseTemplate,
) -> Case {
    let issue = &held.issue;
    let forms = issue_forms(worker, held, remote, base).await;
    let form = form_of(&forms, &issue.body, &issue.labels);
    // A command to Hob is not evidence, but the rest of an answer is.
    let said: Vec<_> = comments.iter().filter(|(_, text)| command_in(text).is_none()).cloned().collect();
    let mut case = Case::of_issue(&issue.title, &issue.body, &said, form, template);
    let answer = held.lease.record().answer.filter(|answer| !answer.text.trim().is_empty());
    let is_new = |text: &str| said.iter().all(|(_, comment)| comment.trim() != text.trim());
    if let Some(answer) = answer.filter(|answer| is_new(&answer.text)) {
        let source = answer.actor.as_str().to_owned();
        let text = rendered(&answer.text).text;
        case.evidence.push(Given { kind: EvidenceKind::Comment, source, text });
    }
    case
}

/// Why an issue form is not used.
#[derive(Debug, thiserror::Error)]
enum NotUsed {
    #[error(transparent)]
    Unread(#[from] Unread),
    #[error(transparent)]
    Text(#[from] FromUtf8Error),
    #[error(transparent)]
    Form(#[from] UnreadableForm),
}

fn form_in(content: Result<Vec<u8>, Unread>) -> Result<IssueForm, NotUsed> {
    Ok(IssueForm::parse(&String::from_utf8(content?)?)?)
}

/// The forms of the base commit. What cannot be read is a warning: an issue can be investigated without.
async fn issue_forms(worker: &Worker, held: &HeldIssue, remote: &Remote, base: &Sha) -> Vec<IssueForm> {
    let issue = held.issue.number.0;
    let files = match worker.workspace.issue_forms(remote, base).await {
        Ok(files) => files,
        Err(error) => {
            tracing::warn!(issue, %error, "the issue forms cannot be read: {error}");
            return Vec::new();
        }
    };
    let mut forms = Vec::new();
    for (name, content) in files {
        match form_in(content) {
            Ok(form) => forms.push(form),
            Err(why) => tracing::warn!(issue, form = name, "the issue form `{name}` is not used: {why}"),
        }
    }
    forms
}
