//! Events over the wire: the same for an issue's list, the repository's list and the timeline.

use serde_json::{Map, Value, json};

use super::{
    super::{
        state::{Event, EventKind, Issue},
        users::Role,
    },
    View, node_id, time,
};

/// An event of `issue`.
pub(in super::super) fn event(view: View<'_>, issue: &Issue, event: &Event) -> Value {
    // GitHub gives this one neither an id nor an address.
    if let EventKind::CrossReferenced { source } = &event.kind {
        return json!({
            "event": event.kind.name(),
            "actor": view.user(&event.actor),
            "created_at": time(event.at),
            "updated_at": time(event.at),
            "source": {"type": "issue", "issue": view.repo.issues.get(source).map(|issue| super::issue(view, issue))},
        });
    }
    let mut shown = json!({
        "id": event.id,
        "node_id": node_id("Event", event.id),
        "url": view.api(&format!("/issues/events/{}", event.id)),
        "actor": view.user(&event.actor),
        "event": event.kind.name(),
        "commit_id": null,
        "commit_url": null,
        "created_at": time(event.at),
        "performed_via_github_app": null,
    });
    if let Value::Object(fields) = &mut shown {
        particulars(view, issue, event, fields);
    }
    shown
}

fn particulars(view: View<'_>, issue: &Issue, event: &Event, fields: &mut Map<String, Value>) {
    let mut set = |name: &str, value: Value| {
        fields.insert(name.to_owned(), value);
    };
    match &event.kind {
        EventKind::Labeled { name, color } | EventKind::Unlabeled { name, color } => {
            set("label", json!({"name": name, "color": color}));
        }
        EventKind::Assigned { assignee } | EventKind::Unassigned { assignee } => {
            set("assignee", view.user(assignee));
            set("assigner", view.user(&event.actor));
        }
        EventKind::Closed { commit, reason } => {
            set("commit_id", json!(commit));
            set("commit_url", json!(commit.as_ref().map(|sha| view.api(&format!("/commits/{sha}")))));
            set("state_reason", json!(reason.map(super::super::state::StateReason::name)));
        }
        EventKind::Merged { commit: sha } | EventKind::HeadRefForcePushed { after: sha } => {
            set("commit_id", json!(sha));
            set("commit_url", json!(view.api(&format!("/commits/{sha}"))));
        }
        EventKind::Renamed { from, to } => set("rename", json!({"from": from, "to": to})),
        EventKind::Locked { reason } => set("lock_reason", json!(reason)),
        EventKind::ReviewRequested { reviewer } | EventKind::ReviewRequestRemoved { reviewer } => {
            set("requested_reviewer", view.user(reviewer));
            set("review_requester", view.user(&event.actor));
        }
        EventKind::ReviewDismissed { review, state, message } => {
            let state = state.name().to_lowercase();
            let dismissed = json!({"review_id": review, "state": state, "dismissal_message": message});
            set("dismissed_review", dismissed);
        }
        EventKind::BlockedByAdded { blocker } | EventKind::BlockedByRemoved { blocker } => {
            set("blocking_issue", short(view, *blocker));
            set("blocked_issue", short(view, issue.number));
        }
        EventKind::SubIssueAdded { child } | EventKind::SubIssueRemoved { child } => {
            set("sub_issue", short(view, *child));
            set("parent_issue", short(view, issue.number));
        }
        EventKind::CrossReferenced { .. }
        | EventKind::Reopened
        | EventKind::Unlocked
        | EventKind::HeadRefDeleted
        | EventKind::HeadRefRestored
        | EventKind::BaseRefChanged
        | EventKind::AddedToMergeQueue
        // The REST API does not say why.
        | EventKind::RemovedFromMergeQueue { .. } => {}
    }
}

/// Another issue, in the short form an event has.
fn short(view: View<'_>, number: u64) -> Value {
    let Some(issue) = view.repo.issues.get(&number) else { return Value::Null };
    json!({
        "id": issue.id,
        "number": number,
        "title": issue.title,
        "state": issue.state.name(),
        "issue_type": null,
        "repository": super::repository(view, Role::Read),
        "html_url": view.html(&format!("/issues/{number}")),
        "url": view.api(&format!("/issues/{number}")),
    })
}
