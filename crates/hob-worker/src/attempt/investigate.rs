//! An attempt that investigates: its runs only look, and its end is one comment with the report.
//!
//! # Flow
//! A request for evidence and a change of the state that needs a word block the issue; the reply is evidence, and the same
//! session goes on with it, or, on another machine, one that begins anew from the issue and its comments. When the
//! investigation is concluded, the report is written, the trigger label goes off, and the ledger says that the work is done.
//!
//! # Guarantees
//! Nothing is pushed, and no pull request is opened. There is one report for each time that somebody put the trigger label on:
//! it has a mark, and whoever takes the issue over looks for that before anything runs, and before it writes.

use hob_domain::{
    BlockReason, CommentId, EventId, Login, Note, Outcome, Sha, command_in,
    investigation::{Case, CaseTemplate, EvidenceKind, Given, IssueForm, form_of, report_comment, report_mark},
};
use hob_workspace::Remote;

use crate::{
    WorkError, Worker,
    attempt::{
        agent_run::run_agent,
        end::AttemptEnd,
        job::Job,
        plan_first::throw_away,
        rounds::{failed, left},
    },
    transition::HeldIssue,
};

/// Has the agent investigate, and reports what it concluded.
pub(super) async fn investigate(worker: &Worker, job: &Job<'_>) -> Result<AttemptEnd, WorkError> {
    let mark = mark(job);
    if let Some(written) = own_report(worker, job, &mark).await? {
        return Ok(concluded(job, written).await);
    }
    if !job.agent.investigates() {
        let failure = format!(
            "the agent `{}` cannot investigate: only a native one can. Choose one with `/hob agent NAME`",
            job.agent_name
        );
        return Ok(AttemptEnd::Blocked(BlockReason::SetUpNeeded { failure }));
    }
    let allowance = match left(worker, job) {
        Ok(allowance) => allowance,
        Err(reason) => return Ok(AttemptEnd::Blocked(reason)),
    };
    let report = Box::pin(run_agent(worker, job, 0, &[], allowance)).await?;
    Box::pin(throw_away(worker, job)).await?;
    Ok(AttemptEnd::Blocked(match report.outcome {
        Outcome::Done { summary, .. } => return Box::pin(write_report(worker, job, &mark, &summary)).await,
        Outcome::NothingToDo { reason: said } => BlockReason::NoChanges { said },
        Outcome::Question { question } => BlockReason::Question { question },
        Outcome::ApprovalNeeded { proposed } => BlockReason::ApprovalNeeded(proposed),
        Outcome::Failed { reason, failure } => return Box::pin(failed(worker, job, reason, failure)).await,
    }))
}

/// The mark of this investigation's report.
fn mark(job: &Job<'_>) -> String {
    report_mark(job.held.lease.record().trigger.map_or(EventId(0), |trigger| trigger.event))
}

/// Writes the report as a comment, once.
async fn write_report(worker: &Worker, job: &Job<'_>, mark: &str, report: &str) -> Result<AttemptEnd, WorkError> {
    let lease = &job.held.lease;
    let body = report_comment(report, mark);
    let mut tried = 0;
    loop {
        let error = match worker.forge.comments().create(lease, &body).await {
            Ok(written) => return Ok(concluded(job, written).await),
            Err(error) if error.outcome_is_unknown() => error,
            Err(error) => return Err(error.into()),
        };
        let Some(pause) = worker.forge.pause_within(lease, &error, tried) else { return Err(error.into()) };
        worker.forge.wait(&error, pause).await;
        tried += 1;
        if let Some(written) = own_report(worker, job, mark).await? {
            return Ok(concluded(job, written).await);
        }
    }
}

async fn concluded(job: &Job<'_>, report: CommentId) -> AttemptEnd {
    job.held.lease.note(Note::Reported(report)).await;
    AttemptEnd::Concluded
}

/// The report that is there already: by the token's own account, as anybody can write the mark. Any with the mark, where nobody
/// knows which account that is.
async fn own_report(worker: &Worker, job: &Job<'_>, mark: &str) -> Result<Option<CommentId>, WorkError> {
    let own = worker.own_login().await?;
    let comments = worker.forge.comments().of(job.number()).await?;
    let is_own = |author: Option<&Login>| own.is_none_or(|own| author.is_some_and(|author| author.is(own)));
    let ours = comments
        .into_iter()
        .find(|comment| comment.body.starts_with(mark) && is_own(comment.author.as_ref().map(|author| &author.login)));
    Ok(ours.map(|comment| comment.id))
}

/// The case of an issue: what is written there by whom it is trusted to, the questions of its form, and what the profile gives.
pub(super) async fn case_of(
    worker: &Worker,
    held: &HeldIssue,
    (remote, base): (&Remote, &Sha),
    comments: &[(Login, String)],
    template: CaseTemplate,
) -> Case {
    let issue = &held.issue;
    let forms = issue_forms(worker, held, remote, base).await;
    let form = form_of(&forms, &issue.body, &issue.labels);
    // What is said to Hob is no evidence; what an answer says beside its command is.
    let said: Vec<_> = comments.iter().filter(|(_, text)| command_in(text).is_none()).cloned().collect();
    let mut case = Case::of_issue(&issue.title, &issue.body, &said, form, template);
    let answer = held.lease.record().answer.filter(|answer| !answer.text.trim().is_empty());
    let is_new = |text: &str| said.iter().all(|(_, comment)| comment.trim() != text.trim());
    if let Some(answer) = answer.filter(|answer| is_new(&answer.text)) {
        let source = answer.actor.as_str().to_owned();
        let text = hob_domain::visible(&answer.text).0;
        case.evidence.push(Given { kind: EvidenceKind::Comment, source, text });
    }
    case
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
        let text = content.and_then(|bytes| String::from_utf8(bytes).map_err(|error| error.to_string()));
        match text.and_then(|text| IssueForm::parse(&text).map_err(|error| error.to_string())) {
            Ok(form) => forms.push(form),
            Err(why) => tracing::warn!(issue, form = name, "the issue form `{name}` is not used: {why}"),
        }
    }
    forms
}
