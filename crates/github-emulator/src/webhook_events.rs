//! Webhook events from changes of the state: each issue, comment, review or event with an id above the last queued one.
//! The state is locked while an id is assigned, so a lower id never appears after a higher one.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::{
    forge::Forge,
    git::{AddedCommit, RefMove, added_commits, is_forced},
    measure::{measure, with_signatures},
    refusal::Refusal,
    state::{CheckRun, EventKind, Issue, IssueState, Repository, Review, ReviewState, State},
    users::Role,
    webhooks::WebhookEvent,
    wire::{self, Measured, View},
};
use crate::names::{Login, RepoName};

/// Queues the events of all changes since the last call.
pub(super) fn queue_new_events(forge: &Forge) {
    let Some(hooks) = &forge.webhooks else { return };
    // One caller at a time: events keep their order.
    let _order = hooks.lock_order();
    let state = forge.state();
    let after = hooks.queued_up_to.load(Ordering::Relaxed);
    let mut found: Vec<(u64, WebhookEvent)> = Vec::new();
    for repo in state.repositories.all() {
        let view = View { server: forge.server(), accounts: &state.accounts, repo };
        for issue in repo.issues.values() {
            of_issue(view, issue, after, &mut found);
        }
    }
    found.sort_by_key(|(id, _)| *id);
    if let Some((last, _)) = found.last() {
        hooks.queued_up_to.store(*last, Ordering::Relaxed);
    }
    drop(state);
    for (_, webhook) in found {
        hooks.queue(measured(forge, webhook));
    }
}

/// Marks everything in the state as queued: the server's initial contents are not events.
pub(super) fn skip_existing(forge: &Forge) {
    if let Some(hooks) = &forge.webhooks {
        hooks.queued_up_to.store(forge.next_id(), Ordering::Relaxed);
    }
}

/// Queues the event of a push: one branch or tag that moved. GitHub sends none for other refs.
pub(super) fn queue_push(
    forge: &Forge,
    git: &git2::Repository,
    name: &RepoName,
    actor: &Login,
    change: &RefMove,
) -> Result<(), Refusal> {
    let Some(hooks) = &forge.webhooks else { return Ok(()) };
    if !change.reference.starts_with("refs/heads/") && !change.reference.starts_with("refs/tags/") {
        return Ok(());
    }
    let (forced, added) = (is_forced(git, change), added_commits(git, change)?);
    let state = forge.state();
    let Some(view) = view_of(forge, &state, name) else { return Ok(()) };
    let side = |id: Option<git2::Oid>| id.map_or_else(|| "0".repeat(40), |id| id.to_string());
    let (before, after) = (side(change.old), side(change.new));
    let shown =
        |(id, files): &AddedCommit| git.find_commit(*id).map(|commit| wire::pushed_commit(view, &commit, files));
    let commits = added.iter().map(shown).collect::<Result<Vec<_>, _>>()?;
    let tip = change.new.and_then(|id| git.find_object(id, None).ok()?.peel_to_commit().ok());
    let head = commits.last().cloned().or(tip.map(|commit| wire::pushed_commit(view, &commit, &[])));
    let email = format!("{actor}@users.noreply.github.com");
    let payload = json!({
        "ref": change.reference,
        "before": before,
        "after": after,
        "base_ref": null,
        "created": change.old.is_none(),
        "deleted": change.new.is_none(),
        "forced": forced,
        "compare": view.html(&format!("/compare/{before}...{after}")),
        "commits": commits,
        "head_commit": head,
        "pusher": {"name": actor, "email": email},
        "repository": wire::repository(view, Role::Read),
        "sender": view.user(actor),
    });
    drop(state);
    hooks.queue(WebhookEvent { event: "push", action: None, payload });
    Ok(())
}

/// Queues the event of a pull request whose head has moved.
pub(super) fn queue_synchronize(forge: &Forge, name: &RepoName, actor: &Login, number: u64, change: &RefMove) {
    let Some(hooks) = &forge.webhooks else { return };
    let state = forge.state();
    let Some(view) = view_of(forge, &state, name) else { return };
    let webhook = view.repo.issues.get(&number).map(|issue| {
        let side = |id: Option<git2::Oid>| id.map(|id| id.to_string());
        let moved = json!({"before": side(change.old), "after": side(change.new)});
        about(view, issue, actor, "synchronize", moved)
    });
    drop(state);
    if let Some(webhook) = webhook {
        hooks.queue(measured(forge, webhook));
    }
}

/// Queues the event of a check run that was created or completed.
pub(super) fn queue_check(forge: &Forge, name: &RepoName, actor: &Login, run: &CheckRun, action: &'static str) {
    let Some(hooks) = &forge.webhooks else { return };
    let state = forge.state();
    let Some(view) = view_of(forge, &state, name) else { return };
    let payload = whole(view, actor, action, json!({"check_run": wire::check_run(view, run)}));
    hooks.queue(WebhookEvent { event: "check_run", action: Some(action), payload });
}

fn view_of<'s>(forge: &'s Forge, state: &'s State, name: &RepoName) -> Option<View<'s>> {
    let repo: &Repository = state.repositories.get(name.owner(), name.name())?;
    Some(View { server: forge.server(), accounts: &state.accounts, repo })
}

fn of_issue(view: View<'_>, issue: &Issue, after: u64, found: &mut Vec<(u64, WebhookEvent)>) {
    if issue.id > after {
        found.push((issue.id, about(view, issue, &issue.author, "opened", Value::Null)));
    }
    for comment in issue.comments.iter().filter(|comment| comment.id > after) {
        let more = json!({"issue": wire::issue(view, issue), "comment": wire::comment(view, issue.number, comment)});
        let payload = whole(view, &comment.author, "created", more);
        found.push((comment.id, WebhookEvent { event: "issue_comment", action: Some("created"), payload }));
    }
    for review in issue.pull.iter().flat_map(|pull| &pull.reviews) {
        if review.submission > after && review.state != ReviewState::Pending {
            let more = json!({"pull_request": wire::pull(view, issue), "review": webhook_review(view, issue, review)});
            let payload = whole(view, &review.author, "submitted", more);
            found.push((
                review.submission,
                WebhookEvent { event: "pull_request_review", action: Some("submitted"), payload },
            ));
        }
    }
    for event in issue.events.iter().filter(|event| event.id > after) {
        let more = particulars(view, &event.kind);
        if let EventKind::ReviewDismissed { review, .. } = &event.kind {
            let mut reviews = issue.pull.iter().flat_map(|pull| &pull.reviews);
            let shown = reviews.find(|other| other.id == *review).map(|review| webhook_review(view, issue, review));
            let more = json!({"pull_request": wire::pull(view, issue), "review": shown});
            let payload = whole(view, &event.actor, "dismissed", more);
            found.push((event.id, WebhookEvent { event: "pull_request_review", action: Some("dismissed"), payload }));
        } else if let Some(action) = action(&event.kind) {
            found.push((event.id, about(view, issue, &event.actor, action, more)));
        }
    }
}

/// A review as a webhook shows it: its state is in lower case there.
fn webhook_review(view: View<'_>, issue: &Issue, review: &Review) -> Value {
    let mut shown = wire::review(view, issue.number, review);
    shown["state"] = json!(review.state.name().to_lowercase());
    shown
}

/// The fields that the payload of this event has beside the issue.
fn particulars(view: View<'_>, kind: &EventKind) -> Value {
    if let EventKind::Labeled { name, .. } | EventKind::Unlabeled { name, .. } = kind {
        return json!({"label": view.repo.label(name).map(|label| wire::label(view, label))});
    }
    if let EventKind::Assigned { assignee } | EventKind::Unassigned { assignee } = kind {
        return json!({"assignee": view.user(assignee)});
    }
    if let EventKind::ReviewRequested { reviewer } | EventKind::ReviewRequestRemoved { reviewer } = kind {
        return json!({"requested_reviewer": view.user(reviewer)});
    }
    if let EventKind::Renamed { from, .. } = kind {
        return json!({"changes": {"title": {"from": from}}});
    }
    if let EventKind::RemovedFromMergeQueue { reason } = kind {
        return json!({"reason": reason.name()});
    }
    Value::Null
}

/// The `action` of the webhook event; `None` if GitHub sends no such event.
fn action(kind: &EventKind) -> Option<&'static str> {
    match kind {
        EventKind::Labeled { .. } => Some("labeled"),
        EventKind::Unlabeled { .. } => Some("unlabeled"),
        EventKind::Assigned { .. } => Some("assigned"),
        EventKind::Unassigned { .. } => Some("unassigned"),
        EventKind::Closed { .. } => Some("closed"),
        EventKind::Reopened => Some("reopened"),
        EventKind::Renamed { .. } | EventKind::BaseRefChanged => Some("edited"),
        EventKind::Locked { .. } => Some("locked"),
        EventKind::Unlocked => Some("unlocked"),
        EventKind::ReviewRequested { .. } => Some("review_requested"),
        EventKind::ReviewRequestRemoved { .. } => Some("review_request_removed"),
        EventKind::AddedToMergeQueue => Some("enqueued"),
        EventKind::RemovedFromMergeQueue { .. } => Some("dequeued"),
        EventKind::Merged { .. }
        | EventKind::HeadRefDeleted
        | EventKind::HeadRefRestored
        | EventKind::HeadRefForcePushed { .. }
        | EventKind::ReviewDismissed { .. }
        | EventKind::CrossReferenced { .. }
        | EventKind::BlockedByAdded { .. }
        | EventKind::BlockedByRemoved { .. }
        | EventKind::SubIssueAdded { .. }
        | EventKind::SubIssueRemoved { .. } => None,
    }
}

/// A webhook event about an issue, or about a pull request if it is one.
fn about(view: View<'_>, issue: &Issue, actor: &Login, action: &'static str, more: Value) -> WebhookEvent {
    let (event, mut fields) = match &issue.pull {
        Some(_) => {
            let shown = wire::whole_pull(view, issue, Measured::default());
            ("pull_request", json!({"number": issue.number, "pull_request": shown}))
        }
        None => ("issues", json!({"issue": wire::issue(view, issue)})),
    };
    if let (Value::Object(fields), Value::Object(more)) = (&mut fields, more) {
        fields.extend(more);
    }
    WebhookEvent { event, action: Some(action), payload: whole(view, actor, action, fields) }
}

/// Fills in the fields of the event's pull request that are computed from git, which is read while the state is not
/// locked.
fn measured(forge: &Forge, mut webhook: WebhookEvent) -> WebhookEvent {
    let id = webhook.payload["repository"]["id"].as_u64().unwrap_or_default();
    let Some(Value::Object(pull)) = webhook.payload.get_mut("pull_request").filter(|_| webhook.event == "pull_request")
    else {
        return webhook;
    };
    let tip = |side: &str| git2::Oid::from_str(pull[side]["sha"].as_str().unwrap_or_default());
    let state = if pull["state"] == IssueState::Open.name() { IssueState::Open } else { IssueState::Closed };
    let git = forge.git.open(id);
    let number = pull["number"].as_u64().unwrap_or_default();
    let measured = git.and_then(|git| {
        let (base, head) = (tip("base")?, tip("head")?);
        let found = measure(&git, number, base, head, state)?;
        with_signatures(found, &git, base, head, &forge.state().accounts)
    });
    let found = measured.unwrap_or_default();
    let state_now = forge.state();
    let repo = state_now.repositories.by_id(id);
    if let Some((repo, issue)) = repo.and_then(|repo| Some((repo, repo.issues.get(&number)?))) {
        let view = View { server: forge.server(), accounts: &state_now.accounts, repo };
        if let Value::Object(fields) = found.fields(view, issue) {
            pull.extend(fields);
        }
    }
    drop(state_now);
    webhook
}

fn whole(view: View<'_>, actor: &Login, action: &str, mut fields: Value) -> Value {
    if let Value::Object(fields) = &mut fields {
        fields.insert("action".to_owned(), json!(action));
        fields.insert("repository".to_owned(), wire::repository(view, Role::Read));
        fields.insert("sender".to_owned(), view.user(actor));
    }
    fields
}
