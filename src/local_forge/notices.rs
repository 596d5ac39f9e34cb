//! What is new in the state, as webhooks tell it: everything with an id above those that were told before. Ids are given
//! out while the state is locked, so none comes late.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::{
    forge::Forge,
    options::Role,
    state::{CheckRun, EventKind, Issue, Repository, ReviewState, State},
    view::View,
    webhooks::Notice,
};
use crate::domain::{Login, RepoName};

/// Tells what is new since the last time.
pub(super) fn tell_news(forge: &Forge) {
    let Some(hooks) = &forge.webhooks else { return };
    let state = forge.state();
    let told = hooks.told.load(Ordering::Relaxed);
    let mut news: Vec<(u64, Notice)> = Vec::new();
    for repo in state.repositories.all() {
        let view = View { server: forge.server(), accounts: &state.accounts, repo };
        for issue in repo.issues.values() {
            of_issue(&view, issue, told, &mut news);
        }
    }
    news.sort_by_key(|(id, _)| *id);
    if let Some((last, _)) = news.last() {
        hooks.told.store(*last, Ordering::Relaxed);
    }
    // Queued while the state is locked: what is told keeps its order.
    for (_, notice) in news {
        hooks.tell(notice);
    }
}

/// Takes everything there is as told.
pub(super) fn begin(forge: &Forge) {
    if let Some(hooks) = &forge.webhooks {
        hooks.told.store(forge.next_id(), Ordering::Relaxed);
    }
}

/// Tells of a push: one ref that moved.
pub(super) fn tell_push(forge: &Forge, name: &RepoName, actor: &Login, reference: &str, sides: (String, String)) {
    let Some(hooks) = &forge.webhooks else { return };
    let state = forge.state();
    let Some(view) = view_of(forge, &state, name) else { return };
    let none = "0".repeat(40);
    let payload = json!({
        "ref": reference,
        "before": sides.0,
        "after": sides.1,
        "created": sides.0 == none,
        "deleted": sides.1 == none,
        "pusher": {"name": actor},
        "repository": view.repository(Role::Read),
        "sender": view.user(actor),
    });
    hooks.tell(Notice { event: "push", action: None, payload });
}

/// Tells that a pull request's head has moved.
pub(super) fn tell_synchronize(forge: &Forge, name: &RepoName, actor: &Login, number: u64) {
    let Some(hooks) = &forge.webhooks else { return };
    let state = forge.state();
    let Some(view) = view_of(forge, &state, name) else { return };
    if let Some(issue) = view.repo.issues.get(&number) {
        hooks.tell(about(&view, issue, actor, "synchronize", Value::Null));
    }
}

/// Tells of a check run that was made or has ended.
pub(super) fn tell_check(forge: &Forge, name: &RepoName, actor: &Login, run: &CheckRun, action: &'static str) {
    let Some(hooks) = &forge.webhooks else { return };
    let state = forge.state();
    let Some(view) = view_of(forge, &state, name) else { return };
    let payload = whole(&view, actor, action, json!({"check_run": view.check_run(run)}));
    hooks.tell(Notice { event: "check_run", action: Some(action), payload });
}

fn view_of<'s>(forge: &'s Forge, state: &'s State, name: &RepoName) -> Option<View<'s>> {
    let repo: &Repository = state.repositories.get(name.owner(), name.name())?;
    Some(View { server: forge.server(), accounts: &state.accounts, repo })
}

fn of_issue(view: &View<'_>, issue: &Issue, told: u64, news: &mut Vec<(u64, Notice)>) {
    if issue.id > told {
        news.push((issue.id, about(view, issue, &issue.author, "opened", Value::Null)));
    }
    for comment in issue.comments.iter().filter(|comment| comment.id > told) {
        let more = json!({"issue": view.issue(issue), "comment": view.comment(issue.number, comment)});
        let payload = whole(view, &comment.author, "created", more);
        news.push((comment.id, Notice { event: "issue_comment", action: Some("created"), payload }));
    }
    for review in issue.pull.iter().flat_map(|pull| &pull.reviews) {
        if review.id > told && review.state != ReviewState::Pending {
            let more = json!({"pull_request": view.pull(issue), "review": view.review(issue.number, review)});
            let payload = whole(view, &review.author, "submitted", more);
            news.push((review.id, Notice { event: "pull_request_review", action: Some("submitted"), payload }));
        }
    }
    for event in issue.events.iter().filter(|event| event.id > told) {
        let more = particulars(view, &event.kind);
        if let EventKind::ReviewDismissed { review, .. } = &event.kind {
            let mut reviews = issue.pull.iter().flat_map(|pull| &pull.reviews);
            let shown = reviews.find(|other| other.id == *review).map(|review| view.review(issue.number, review));
            let more = json!({"pull_request": view.pull(issue), "review": shown});
            let payload = whole(view, &event.actor, "dismissed", more);
            news.push((event.id, Notice { event: "pull_request_review", action: Some("dismissed"), payload }));
        } else if let Some(action) = action(&event.kind) {
            news.push((event.id, about(view, issue, &event.actor, action, more)));
        }
    }
}

/// What an event's notice has beside the issue.
fn particulars(view: &View<'_>, kind: &EventKind) -> Value {
    if let EventKind::Labeled { name, .. } | EventKind::Unlabeled { name, .. } = kind {
        return json!({"label": view.repo.label(name).map(|label| view.label(label))});
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
    Value::Null
}

/// The action an event is told as, if it is told.
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

/// A notice about an issue, or about a pull request where it is one.
fn about(view: &View<'_>, issue: &Issue, actor: &Login, action: &'static str, more: Value) -> Notice {
    let (event, mut fields) = match &issue.pull {
        Some(pull) => {
            let mut shown = view.pull(issue);
            shown["merged"] = json!(pull.merged.is_some());
            ("pull_request", json!({"number": issue.number, "pull_request": shown}))
        }
        None => ("issues", json!({"issue": view.issue(issue)})),
    };
    if let (Value::Object(fields), Value::Object(more)) = (&mut fields, more) {
        fields.extend(more);
    }
    Notice { event, action: Some(action), payload: whole(view, actor, action, fields) }
}

fn whole(view: &View<'_>, actor: &Login, action: &str, mut fields: Value) -> Value {
    if let Value::Object(fields) = &mut fields {
        fields.insert("action".to_owned(), json!(action));
        fields.insert("repository".to_owned(), view.repository(Role::Read));
        fields.insert("sender".to_owned(), view.user(actor));
    }
    fields
}
