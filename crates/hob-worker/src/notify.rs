//! Notifications: the one comment that brings a question to the person who can answer it, since everything else on an
//! issue is an edit, of which the forge notifies no one; and posts to the webhook.
//!
//! # Guarantees
//! - One comment for each question, on the pull request if it came up in a round in review, else on the issue, even if workers
//!   die: it begins with a mark that names the question, and is searched
//!   for before it is written. It mentions one account whose answer counts, or a team, for which that cannot be
//!   determined.
//! - A question that is no longer open says so: its comment is edited once, by the next holder that shows the issue.
//! - A notification that the ledger notes as posted is not posted again. If a worker dies after posting and before
//!   noting it, the next worker posts it again, under the same id: a receiver that drops repeated ids hears of each
//!   question once. To note it first would lose the question of a worker that dies in between, and a lost question is
//!   worse than a repeated one.
//! - A notification that could not be posted in time is dropped and logged: no issue waits for it or fails.
//! - Names come from the ledger, the settings and the base branch, never from an issue's text or a model.

use hob_config::WebhookFormat;
use hob_domain::{AccountKind, Actor, Blocked, CommentId, IssueNumber, Login, Note, Record, code_owners, to_notify};
use hob_forge::{BaseBranch, ForgeError, HeldLease, Look};
use hob_text::value_without_tokens;
use hob_words::{AskedOnPull, Notification, closed_question_body, question_body, question_mark, question_on_pull};

use crate::{WorkError, Worker, asked_for::asked_for, authorize::Authorizer, webhook::Delivery};

/// The paths at which a repository may list its owners.
const CODEOWNERS: [&str; 3] = [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"];

/// Notes the newest comment before an approval is asked for, unless that was done: comments until now, also those
/// within the second of the question, approve something else.
pub(super) async fn note_what_came_before(worker: &Worker, lease: &HeldLease) -> Result<(), WorkError> {
    let record = lease.record();
    let is_asked = |blocked: &&Blocked| blocked.asks_for_approval() && blocked.after.is_none();
    let Some(blocked) = record.blocked.as_ref().filter(is_asked) else { return Ok(()) };
    let mut newest = CommentId(0);
    let pull = record.pull.number.map(|pull| IssueNumber(pull.0));
    for conversation in std::iter::once(lease.issue()).chain(pull) {
        let comments = worker.forge.comments().since(conversation, blocked.since).await?;
        newest = comments.iter().map(|comment| comment.id).fold(newest, CommentId::max);
    }
    lease.note(Note::Asks(newest)).await;
    Ok(())
}

/// Notifies the person who can answer that the issue is blocked, unless that was done.
pub(super) async fn tell_of_question(worker: &Worker, lease: &HeldLease, base: &BaseBranch) -> Result<(), WorkError> {
    let record = lease.record();
    let Some(blocked) = record.blocked.clone().filter(|blocked| !blocked.told) else { return Ok(()) };
    let authorizer = Authorizer::default();
    let (status, budgets) = (status_url(worker, &record), worker.settings.budgets());
    let asked = if let Some(pull) = record.pull.number.filter(|_| record.review.is_under_way()) {
        // Who asked for the round waits for its end.
        let about = asked_for(worker, &authorizer, &record).await?;
        let reviewer = about.as_ref().map(|about| about.by.to_string());
        let reviewer = reviewer.filter(|_| !worker.settings.notify.mention.is_empty());
        let person = if reviewer.is_some() { reviewer } else { person(worker, &authorizer, base, &record).await? };
        let (repo_url, about) = (worker.repo_url(), about.as_ref());
        person.map(|person| {
            let asked = AskedOnPull { pull, person: &person, about, repo_url: &repo_url, status: &status };
            (IssueNumber(pull.0), question_on_pull(&record, &blocked, &budgets, asked))
        })
    } else {
        let person = person(worker, &authorizer, base, &record).await?;
        person.map(|person| (lease.issue(), question_body(&record, &blocked, &budgets, &person, &status)))
    };
    let comment = match asked {
        Some((on, body)) => Some(ask(worker, lease, on, &blocked, &body).await?),
        None => None,
    };
    lease.note(Note::Told(comment)).await;
    Ok(())
}

/// Edits the comment of a question that is no longer open, so that it says what became of the question. A worker that
/// dies before the note edits it once more.
pub(super) async fn close_question(worker: &Worker, lease: &HeldLease) -> Result<(), WorkError> {
    let record = lease.record();
    let Some(asked) = record.closed_question() else { return Ok(()) };
    let body = closed_question_body(&record, asked);
    match worker.forge.comments().edit(lease, asked.id, &body).await.map_err(WorkError::from) {
        Err(error) if error.class().is_temporary() => {
            return Err(error);
        }
        // It was deleted, or the conversation is locked: that must not hold the issue up.
        Err(error) => tracing::debug!(issue = lease.issue().0, %error, "an old question stays as it is: {error}"),
        Ok(()) => {}
    }
    lease.note(Note::Closed(asked.id)).await;
    Ok(())
}

/// Posts the issue's due notifications, and notes them.
pub(super) async fn notify(worker: &Worker, lease: &HeldLease, title: &str) {
    let Some(receiver) = &worker.receiver else { return };
    let (record, rules) = (lease.record(), worker.settings.notify_rules());
    let (repo_url, used) = (worker.repo_url(), rules.budget.used(record.spend));
    for event in to_notify(&record, &rules) {
        let repo = worker.forge.repo();
        let told = Notification { event, repo, repo_url: &repo_url, title, record: &record, used };
        let body = match receiver.format() {
            WebhookFormat::Json => told.json(),
            WebhookFormat::Slack => told.slack(),
            WebhookFormat::Teams => told.teams(),
        };
        let body = worker.forge.connection().secrets().redaction().value(&body).into_owned();
        let body = value_without_tokens(body).to_string();
        let delivery = Delivery { id: told.delivery_id(), event: event.name(), body };
        let (issue, id) = (lease.issue(), &delivery.id);
        match receiver.deliver(&delivery).await {
            Ok(()) => {
                tracing::debug!(issue = issue.0, delivery = %id, "sent a notification about issue {issue}: {}", delivery.event)
            }
            Err(error) => {
                let event = delivery.event;
                tracing::warn!(issue = issue.0, delivery = %id, %error, "cannot send the notification about issue {issue} ({event}): {error}");
            }
        }
        lease.note(Note::Notified(event)).await;
    }
}

/// The account to mention: the first that `notify.mention` names and whose answer counts.
async fn person(
    worker: &Worker,
    authorizer: &Authorizer,
    base: &BaseBranch,
    record: &Record,
) -> Result<Option<String>, WorkError> {
    for wanted in &worker.settings.notify.mention {
        let candidates = match wanted.as_str() {
            "actor" => record.trigger.iter().map(|trigger| trigger.actor.to_string()).collect(),
            "codeowners" => owners(worker, base, record).await?,
            name => vec![name.to_owned()],
        };
        for name in candidates {
            if may_answer(worker, authorizer, &name).await? {
                return Ok(Some(name));
            }
        }
    }
    Ok(None)
}

/// Whether the account's answer would count. Programs do not read notifications, and a team has no permission of its
/// own.
async fn may_answer(worker: &Worker, authorizer: &Authorizer, name: &str) -> Result<bool, WorkError> {
    if name.contains('/') {
        return Ok(true);
    }
    let actor = Actor { login: Login(name.to_owned()), kind: AccountKind::User };
    Ok(!name.ends_with("[bot]") && authorizer.judge(worker, &actor).await?.is_granted())
}

/// The owners of what the branch changes, otherwise of the whole repository, as its base branch says.
async fn owners(worker: &Worker, base: &BaseBranch, record: &Record) -> Result<Vec<String>, WorkError> {
    for path in CODEOWNERS {
        let text = match worker.forge.repository().file(path, &base.sha).await {
            Ok(Some(text)) => text,
            // A file that is not text names no owner.
            Ok(None) | Err(ForgeError::Unreadable { .. }) => continue,
            Err(error) => return Err(error.into()),
        };
        let changed = match record.work.pushed_branch() {
            Some(branch) => worker.forge.repository().changed_paths(&base.sha, branch).await?,
            None => Vec::new(),
        };
        return Ok(code_owners(&text, &changed));
    }
    Ok(Vec::new())
}

/// Writes the question once.
async fn ask(
    worker: &Worker,
    lease: &HeldLease,
    on: IssueNumber,
    blocked: &Blocked,
    body: &str,
) -> Result<CommentId, WorkError> {
    Ok(worker.forge.comments().write_once(lease, on, &question_mark(blocked), body, Look::First).await?)
}

/// The address of the status comment, or of the issue if it has none.
fn status_url(worker: &Worker, record: &Record) -> String {
    let issue = format!("{}/issues/{}", worker.repo_url(), record.issue);
    record.comments.status.map_or_else(|| issue.clone(), |comment| format!("{issue}#issuecomment-{comment}"))
}
