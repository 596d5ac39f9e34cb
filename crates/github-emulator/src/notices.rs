//! What is new in the state, as webhooks tell it: everything with an id above those that were told before. Ids are given
//! out while the state is locked, so none comes late.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::{
    forge::Forge,
    git::{Brought, RefMove, brought, is_forced},
    measure::measure,
    options::Role,
    refusal::Refusal,
    state::{CheckRun, EventKind, Issue, IssueState, Repository, Review, ReviewState, State},
    view::{Measured, View},
    webhooks::Notice,
};
use crate::names::{Login, RepoName};

/// Tells what is new since the last time.
pub(super) fn tell_news(forge: &Forge) {
    let Some(hooks) = &forge.webhooks else { return };
    // One tells at a time: what is told keeps its order.
    let _telling = hooks.telling();
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
    drop(state);
    for (_, notice) in news {
        hooks.tell(measured(forge, notice));
    }
}

/// Takes everything there is as told.
pub(super) fn begin(forge: &Forge) {
    if let Some(hooks) = &forge.webhooks {
        hooks.told.store(forge.next_id(), Ordering::Relaxed);
    }
}

/// Tells of a push: one branch or tag that moved. GitHub tells of no other refs.
pub(super) fn tell_push(
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
    let (forced, brought) = (is_forced(git, change), brought(git, change)?);
    let state = forge.state();
    let Some(view) = view_of(forge, &state, name) else { return Ok(()) };
    let side = |id: Option<git2::Oid>| id.map_or_else(|| "0".repeat(40), |id| id.to_string());
    let (before, after) = (side(change.old), side(change.new));
    let shown = |(id, files): &Brought| git.find_commit(*id).map(|commit| view.pushed_commit(&commit, files));
    let commits = brought.iter().map(shown).collect::<Result<Vec<_>, _>>()?;
    let tip = change.new.and_then(|id| git.find_object(id, None).ok()?.peel_to_commit().ok());
    let head = commits.last().cloned().or(tip.map(|commit| view.pushed_commit(&commit, &[])));
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
        "repository": view.repository(Role::Read),
        "sender": view.user(actor),
    });
    drop(state);
    hooks.tell(Notice { event: "push", action: None, payload });
    Ok(())
}

/// Tells that a pull request's head has moved.
pub(super) fn tell_synchronize(forge: &Forge, name: &RepoName, actor: &Login, number: u64) {
    let Some(hooks) = &forge.webhooks else { return };
    let state = forge.state();
    let Some(view) = view_of(forge, &state, name) else { return };
    let notice = view.repo.issues.get(&number).map(|issue| about(&view, issue, actor, "synchronize", Value::Null));
    drop(state);
    if let Some(notice) = notice {
        hooks.tell(measured(forge, notice));
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
            let more = json!({"pull_request": view.pull(issue), "review": told_review(view, issue, review)});
            let payload = whole(view, &review.author, "submitted", more);
            news.push((review.id, Notice { event: "pull_request_review", action: Some("submitted"), payload }));
        }
    }
    for event in issue.events.iter().filter(|event| event.id > told) {
        let more = particulars(view, &event.kind);
        if let EventKind::ReviewDismissed { review, .. } = &event.kind {
            let mut reviews = issue.pull.iter().flat_map(|pull| &pull.reviews);
            let shown = reviews.find(|other| other.id == *review).map(|review| told_review(view, issue, review));
            let more = json!({"pull_request": view.pull(issue), "review": shown});
            let payload = whole(view, &event.actor, "dismissed", more);
            news.push((event.id, Notice { event: "pull_request_review", action: Some("dismissed"), payload }));
        } else if let Some(action) = action(&event.kind) {
            news.push((event.id, about(view, issue, &event.actor, action, more)));
        }
    }
}

/// A review as webhooks tell it: its state is written small there.
fn told_review(view: &View<'_>, issue: &Issue, review: &Review) -> Value {
    let mut shown = view.review(issue.number, review);
    shown["state"] = json!(review.state.name().to_lowercase());
    shown
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
        Some(_) => {
            let shown = view.whole_pull(issue, Measured::default());
            ("pull_request", json!({"number": issue.number, "pull_request": shown}))
        }
        None => ("issues", json!({"issue": view.issue(issue)})),
    };
    if let (Value::Object(fields), Value::Object(more)) = (&mut fields, more) {
        fields.extend(more);
    }
    Notice { event, action: Some(action), payload: whole(view, actor, action, fields) }
}

/// Fills in what git tells of a notice's pull request: that is asked while the state is not locked.
fn measured(forge: &Forge, mut notice: Notice) -> Notice {
    let id = notice.payload["repository"]["id"].as_u64().unwrap_or_default();
    let Some(Value::Object(pull)) = notice.payload.get_mut("pull_request").filter(|_| notice.event == "pull_request")
    else {
        return notice;
    };
    let tip = |side: &str| git2::Oid::from_str(pull[side]["sha"].as_str().unwrap_or_default());
    let state = if pull["state"] == IssueState::Open.name() { IssueState::Open } else { IssueState::Closed };
    let git = forge.git.open(id);
    let found = git.and_then(|git| measure(&git, (tip("base")?, tip("head")?), state)).unwrap_or_default();
    if let Value::Object(fields) = found.fields(pull["draft"] == true) {
        pull.extend(fields);
    }
    notice
}

fn whole(view: &View<'_>, actor: &Login, action: &str, mut fields: Value) -> Value {
    if let Value::Object(fields) = &mut fields {
        fields.insert("action".to_owned(), json!(action));
        fields.insert("repository".to_owned(), view.repository(Role::Read));
        fields.insert("sender".to_owned(), view.user(actor));
    }
    fields
}
