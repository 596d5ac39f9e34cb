//! Issues, comments and reactions over the wire.

use serde_json::{Value, json};

use super::{
    super::state::{Comment, Issue, Reaction},
    View, node_id, time,
};

/// The contents a reaction can have. <https://docs.github.com/rest/reactions/reactions#about-reactions>
pub(in super::super) const CONTENTS: [&str; 8] = ["+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"];

/// An issue, or a pull request as an issue.
pub(in super::super) fn issue(view: View<'_>, issue: &Issue) -> Value {
    let at = format!("/issues/{}", issue.number);
    let assignees: Vec<Value> = issue.assignees.iter().map(|login| view.user(login)).collect();
    let page = if issue.pull.is_some() { format!("/pull/{}", issue.number) } else { at.clone() };
    let mut shown = json!({
        "id": issue.id,
        "node_id": node_id("Issue", issue.id),
        "number": issue.number,
        "title": issue.title,
        "body": issue.body,
        "state": issue.state.name(),
        "state_reason": issue.reason.map(super::super::state::StateReason::name),
        "user": view.user(&issue.author),
        "author_association": view.association(&issue.author),
        "labels": super::labels(view, &issue.labels),
        "assignee": assignees.first(),
        "assignees": assignees,
        "milestone": null,
        "locked": issue.lock.is_some(),
        "active_lock_reason": issue.lock.as_ref().and_then(|lock| lock.reason.as_ref()),
        "comments": issue.comments.len(),
        "created_at": time(issue.created_at),
        "updated_at": time(issue.updated_at),
        "closed_at": issue.closed.as_ref().map(|(at, _)| time(*at)),
        "closed_by": issue.closed.as_ref().map(|(_, by)| view.user(by)),
        "url": view.api(&at),
        "repository_url": view.api(""),
        "labels_url": view.api(&format!("{at}/labels{{/name}}")),
        "comments_url": view.api(&format!("{at}/comments")),
        "events_url": view.api(&format!("{at}/events")),
        "timeline_url": view.api(&format!("{at}/timeline")),
        "html_url": view.html(&page),
        "performed_via_github_app": null,
        "reactions": rollup(view, &format!("{at}/reactions"), &issue.reactions),
        "issue_dependencies_summary": dependencies(view, issue),
        "sub_issues_summary": children(view, issue),
    });
    if let (Some(pull), Value::Object(fields)) = (&issue.pull, &mut shown) {
        let at = format!("/pull/{}", issue.number);
        let linked = json!({
            "url": view.api(&format!("/pulls/{}", issue.number)),
            "html_url": view.html(&at),
            "diff_url": view.html(&format!("{at}.diff")),
            "patch_url": view.html(&format!("{at}.patch")),
            "merged_at": pull.merged.as_ref().map(|merged| time(merged.at)),
        });
        fields.insert("pull_request".to_owned(), linked);
        fields.insert("draft".to_owned(), json!(pull.draft));
    }
    shown
}

/// A comment on the issue `number`.
pub(in super::super) fn comment(view: View<'_>, number: u64, comment: &Comment) -> Value {
    let at = format!("/issues/comments/{}", comment.id);
    json!({
        "id": comment.id,
        "node_id": node_id("IssueComment", comment.id),
        "url": view.api(&at),
        "html_url": view.html(&format!("/issues/{number}#issuecomment-{}", comment.id)),
        "issue_url": view.api(&format!("/issues/{number}")),
        "user": view.user(&comment.author),
        "author_association": view.association(&comment.author),
        "body": comment.body,
        "created_at": time(comment.created_at),
        "updated_at": time(comment.updated_at),
        "performed_via_github_app": null,
        "reactions": rollup(view, &format!("{at}/reactions"), &comment.reactions),
    })
}

/// A reaction.
pub(in super::super) fn reaction(view: View<'_>, reaction: &Reaction) -> Value {
    json!({
        "id": reaction.id,
        "node_id": node_id("Reaction", reaction.id),
        "user": view.user(&reaction.author),
        "content": reaction.content,
        "created_at": time(reaction.at),
    })
}

fn rollup(view: View<'_>, at: &str, reactions: &[Reaction]) -> Value {
    let mut rollup = json!({"url": view.api(at), "total_count": reactions.len()});
    if let Value::Object(fields) = &mut rollup {
        for content in CONTENTS {
            let count = reactions.iter().filter(|reaction| reaction.content == content).count();
            fields.insert(content.to_owned(), json!(count));
        }
    }
    rollup
}

fn dependencies(view: View<'_>, issue: &Issue) -> Value {
    use super::super::state::IssueState::Open;
    let open = |number: &&u64| view.repo.issues.get(number).is_some_and(|issue| issue.state == Open);
    let blocking: Vec<&Issue> =
        view.repo.issues.values().filter(|other| other.blocked_by.contains(&issue.number)).collect();
    json!({
        "blocked_by": issue.blocked_by.iter().filter(open).count(),
        "total_blocked_by": issue.blocked_by.len(),
        "blocking": blocking.iter().filter(|other| other.state == Open).count(),
        "total_blocking": blocking.len(),
    })
}

fn children(view: View<'_>, issue: &Issue) -> Value {
    use super::super::state::IssueState::Closed;
    let closed = |number: &&u64| view.repo.issues.get(number).is_some_and(|issue| issue.state == Closed);
    let (total, completed) = (issue.children.len(), issue.children.iter().filter(closed).count());
    let percent = (completed * 100).checked_div(total).unwrap_or(0);
    json!({"total": total, "completed": completed, "percent_completed": percent})
}
