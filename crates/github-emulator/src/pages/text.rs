//! The parts that pages of several kinds share: labels, times, events.

use serde_json::{Value, json};

use super::super::{
    markdown,
    state::{Comment, Event, EventKind, Issue, IssueState, Repository, Review, ReviewState},
};
use crate::names::Timestamp;

/// A time for people.
pub(super) fn when(at: Timestamp) -> String {
    at.format("%-d %b %Y, %H:%M UTC").to_string()
}

/// The address of a repository's page.
fn address(repo: &Repository) -> String {
    format!("/{}", repo.name)
}

/// The labels of an issue.
pub(super) fn labels(repo: &Repository, issue: &Issue) -> Value {
    let label = |id: &u64| repo.label_by_id(*id).map(|label| json!({"name": label.name, "color": label.color}));
    issue.labels.iter().filter_map(label).collect()
}

/// The state of an issue or pull request: a word for it, which is its style's name too.
pub(super) fn standing(issue: &Issue) -> &'static str {
    let merged = issue.pull.as_ref().is_some_and(|pull| pull.merged.is_some());
    let draft = issue.pull.as_ref().is_some_and(|pull| pull.draft);
    match issue.state {
        IssueState::Open if draft => "draft",
        IssueState::Open => "open",
        IssueState::Closed if merged => "merged",
        IssueState::Closed => "closed",
    }
}

/// An issue or pull request as one line.
pub(super) fn line(repo: &Repository, issue: &Issue) -> Value {
    let below = if issue.pull.is_some() { "pull" } else { "issues" };
    json!({
        "number": issue.number,
        "title": issue.title,
        "address": format!("/{}/{below}/{}", repo.name, issue.number),
        "standing": standing(issue),
        "labels": labels(repo, issue),
        "author": issue.author,
        "when": when(issue.created_at),
        "comments": issue.comments.len(),
    })
}

/// The head of an issue's or pull request's page.
pub(super) fn head(repo: &Repository, issue: &Issue) -> Value {
    json!({
        "number": issue.number,
        "title": issue.title,
        "standing": standing(issue),
        "author": issue.author,
        "when": when(issue.created_at),
        "labels": labels(repo, issue),
        "assignees": issue.assignees,
        "body": issue.body.as_deref().filter(|body| !body.trim().is_empty()).map(|body| markdown::html(body, &address(repo))),
    })
}

/// Comments, reviews and events, oldest first.
pub(super) fn timeline(repo: &Repository, issue: &Issue) -> Value {
    let mut entries: Vec<((Timestamp, u64), Value)> = Vec::new();
    entries.extend(issue.comments.iter().map(|c| ((c.created_at, c.id), comment(repo, c))));
    entries.extend(issue.pull.iter().flat_map(|pull| &pull.reviews).map(|r| ((r.at, r.id), review(repo, r))));
    entries.extend(issue.events.iter().map(|e| ((e.at, e.id), event(repo, e))));
    entries.sort_by_key(|(order, _)| *order);
    entries.into_iter().map(|(_, entry)| entry).collect()
}

fn comment(repo: &Repository, comment: &Comment) -> Value {
    let (author, when) = (&comment.author, when(comment.created_at));
    json!({"author": author, "does": "commented", "when": when, "body": markdown::html(&comment.body, &address(repo)), "id": comment.id})
}

fn review(repo: &Repository, review: &Review) -> Value {
    let does = match review.state {
        ReviewState::Pending => "began a review",
        ReviewState::Commented => "reviewed",
        ReviewState::Approved => "approved these changes",
        ReviewState::ChangesRequested => "requested changes",
        ReviewState::Dismissed => "reviewed; the review was dismissed",
    };
    json!({"author": review.author, "does": does, "when": when(review.at), "body": markdown::html(&review.body, &address(repo))})
}

fn event(repo: &Repository, event: &Event) -> Value {
    let (mut label, mut link) = (Value::Null, Value::Null);
    let mut to = |number: u64| {
        let below = repo.issues.get(&number).map_or("issues", |i| if i.pull.is_some() { "pull" } else { "issues" });
        link = json!({"text": format!("#{number}"), "address": format!("/{}/{below}/{number}", repo.name)});
    };
    let does = match &event.kind {
        EventKind::Labeled { name, color } => {
            label = json!({"name": name, "color": color});
            "added the label".to_owned()
        }
        EventKind::Unlabeled { name, color } => {
            label = json!({"name": name, "color": color});
            "removed the label".to_owned()
        }
        EventKind::Assigned { assignee } => format!("assigned {assignee}"),
        EventKind::Unassigned { assignee } => format!("unassigned {assignee}"),
        EventKind::Closed { reason: Some(reason), .. } => format!("closed this as {}", reason.name().replace('_', " ")),
        EventKind::Closed { reason: None, .. } => "closed this".to_owned(),
        EventKind::Reopened => "opened this again".to_owned(),
        EventKind::Renamed { from, to } => format!("changed the title from “{from}” to “{to}”"),
        EventKind::Locked { .. } => "locked the conversation".to_owned(),
        EventKind::Unlocked => "unlocked the conversation".to_owned(),
        EventKind::Merged { commit } => format!("merged this as {}", commit.get(..10).unwrap_or(commit)),
        EventKind::HeadRefDeleted => "deleted the branch".to_owned(),
        EventKind::HeadRefRestored => "restored the branch".to_owned(),
        EventKind::HeadRefForcePushed { after } => format!("force-pushed {}", after.get(..10).unwrap_or(after)),
        EventKind::BaseRefChanged => "changed the base branch".to_owned(),
        EventKind::ReviewRequested { reviewer } => format!("asked {reviewer} for a review"),
        EventKind::ReviewRequestRemoved { reviewer } => format!("no longer asks {reviewer} for a review"),
        EventKind::ReviewDismissed { message, .. } => format!("dismissed a review: {message}"),
        EventKind::CrossReferenced { source } => {
            to(*source);
            "mentioned this in".to_owned()
        }
        EventKind::BlockedByAdded { blocker } => {
            to(*blocker);
            "marked this as blocked by".to_owned()
        }
        EventKind::BlockedByRemoved { blocker } => {
            to(*blocker);
            "marked this as no longer blocked by".to_owned()
        }
        EventKind::SubIssueAdded { child } => {
            to(*child);
            "added the sub-issue".to_owned()
        }
        EventKind::SubIssueRemoved { child } => {
            to(*child);
            "removed the sub-issue".to_owned()
        }
        EventKind::AddedToMergeQueue => "added this to the merge queue".to_owned(),
        EventKind::RemovedFromMergeQueue { reason } => {
            format!("removed this from the merge queue ({})", reason.name().to_lowercase().replace('_', " "))
        }
    };
    json!({"author": event.actor, "does": does, "when": when(event.at), "label": label, "link": link})
}
