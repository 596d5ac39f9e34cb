//! Events over the wire: the same for an issue's list, the repository's list and the timeline.

use serde_json::{Map, Value, json};

use super::{
    super::{
        options::Role,
        state::{Event, EventKind, Issue},
    },
    View, node_id, time,
};

impl View<'_> {
    /// An event of `issue`.
    pub(in super::super) fn event(&self, issue: &Issue, event: &Event) -> Value {
        // GitHub gives this one neither an id nor an address.
        if let EventKind::CrossReferenced { source } = &event.kind {
            return json!({
                "event": event.kind.name(),
                "actor": self.user(&event.actor),
                "created_at": time(event.at),
                "updated_at": time(event.at),
                "source": {"type": "issue", "issue": self.repo.issues.get(source).map(|issue| self.issue(issue))},
            });
        }
        let mut shown = json!({
            "id": event.id,
            "node_id": node_id("Event", event.id),
            "url": self.api(&format!("/issues/events/{}", event.id)),
            "actor": self.user(&event.actor),
            "event": event.kind.name(),
            "commit_id": null,
            "commit_url": null,
            "created_at": time(event.at),
            "performed_via_github_app": null,
        });
        if let Value::Object(fields) = &mut shown {
            self.particulars(issue, event, fields);
        }
        shown
    }

    fn particulars(&self, issue: &Issue, event: &Event, fields: &mut Map<String, Value>) {
        let mut set = |name: &str, value: Value| {
            fields.insert(name.to_owned(), value);
        };
        match &event.kind {
            EventKind::Labeled { name, color } | EventKind::Unlabeled { name, color } => {
                set("label", json!({"name": name, "color": color}));
            }
            EventKind::Assigned { assignee } | EventKind::Unassigned { assignee } => {
                set("assignee", self.user(assignee));
                set("assigner", self.user(&event.actor));
            }
            EventKind::Closed { commit, reason } => {
                set("commit_id", json!(commit));
                set("commit_url", json!(commit.as_ref().map(|sha| self.api(&format!("/commits/{sha}")))));
                set("state_reason", json!(reason.map(super::super::state::StateReason::name)));
            }
            EventKind::Merged { commit: sha } | EventKind::HeadRefForcePushed { after: sha } => {
                set("commit_id", json!(sha));
                set("commit_url", json!(self.api(&format!("/commits/{sha}"))));
            }
            EventKind::Renamed { from, to } => set("rename", json!({"from": from, "to": to})),
            EventKind::Locked { reason } => set("lock_reason", json!(reason)),
            EventKind::ReviewRequested { reviewer } | EventKind::ReviewRequestRemoved { reviewer } => {
                set("requested_reviewer", self.user(reviewer));
                set("review_requester", self.user(&event.actor));
            }
            EventKind::ReviewDismissed { review, state, message } => {
                let state = state.name().to_lowercase();
                let dismissed = json!({"review_id": review, "state": state, "dismissal_message": message});
                set("dismissed_review", dismissed);
            }
            EventKind::BlockedByAdded { blocker } | EventKind::BlockedByRemoved { blocker } => {
                set("blocking_issue", self.short(*blocker));
                set("blocked_issue", self.short(issue.number));
            }
            EventKind::SubIssueAdded { child } | EventKind::SubIssueRemoved { child } => {
                set("sub_issue", self.short(*child));
                set("parent_issue", self.short(issue.number));
            }
            EventKind::CrossReferenced { .. }
            | EventKind::Reopened
            | EventKind::Unlocked
            | EventKind::HeadRefDeleted
            | EventKind::HeadRefRestored
            | EventKind::BaseRefChanged => {}
        }
    }

    /// Another issue, in the short form an event has.
    fn short(&self, number: u64) -> Value {
        let Some(issue) = self.repo.issues.get(&number) else { return Value::Null };
        json!({
            "id": issue.id,
            "number": number,
            "title": issue.title,
            "state": issue.state.name(),
            "issue_type": null,
            "repository": self.repository(Role::Read),
            "html_url": self.html(&format!("/issues/{number}")),
            "url": self.api(&format!("/issues/{number}")),
        })
    }
}
