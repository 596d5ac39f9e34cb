//! Check runs and commit statuses over the wire.

use serde_json::{Value, json};

use super::{
    super::state::{CheckRun, CommitStatus, IssueState},
    View, node_id, time,
};

/// A commit status.
pub(in super::super) fn status(view: View<'_>, status: &CommitStatus) -> Value {
    let creator = view.user(&status.creator);
    json!({
        "id": status.id,
        "node_id": node_id("StatusContext", status.id),
        "url": view.api(&format!("/statuses/{}", status.sha)),
        "avatar_url": creator["avatar_url"],
        "state": status.state,
        "context": status.context,
        "description": status.description,
        "target_url": status.target_url,
        "created_at": time(status.at),
        "updated_at": time(status.at),
        "creator": creator,
    })
}

/// A commit status among those of its commit, where nobody is named.
pub(in super::super) fn simple_status(view: View<'_>, of_commit: &CommitStatus) -> Value {
    let mut shown = status(view, of_commit);
    if let Value::Object(fields) = &mut shown {
        fields.remove("creator");
    }
    shown
}

/// A check run, with the open pull requests it is about.
pub(in super::super) fn check_run(view: View<'_>, run: &CheckRun) -> Value {
    let own = view.api(&format!("/check-runs/{}", run.id));
    let page = view.html(&format!("/runs/{}", run.id));
    let side = |branch: &str, sha: &str| {
        let repo = json!({"id": view.repo.id, "url": view.api(""), "name": view.repo.name.name()});
        json!({"ref": branch, "sha": sha, "repo": repo})
    };
    let open = view.repo.issues.values().filter(|issue| issue.state == IssueState::Open);
    let pulls = open.filter_map(|issue| Some((issue.number, issue.pull.as_ref()?)));
    let about = pulls.filter(|(_, pull)| pull.head_sha == run.sha).map(|(number, pull)| {
        json!({
            "id": pull.id,
            "number": number,
            "url": view.api(&format!("/pulls/{number}")),
            "head": side(&pull.head_ref, &pull.head_sha),
            "base": side(&pull.base_ref, &pull.base_sha),
        })
    });
    json!({
        "id": run.id,
        "node_id": node_id("CheckRun", run.id),
        "head_sha": run.sha,
        "name": run.name,
        "url": own,
        "html_url": page,
        "details_url": run.details_url.as_ref().unwrap_or(&page),
        "status": run.status,
        "conclusion": run.conclusion,
        "started_at": run.started_at,
        "completed_at": run.completed_at,
        "external_id": run.external_id.as_deref().unwrap_or_default(),
        "check_suite": {"id": view.repo.id},
        "app": null,
        "pull_requests": about.collect::<Value>(),
        "output": {
            "title": run.title,
            "summary": run.summary,
            "text": run.text,
            "annotations_count": 0,
            "annotations_url": format!("{own}/annotations"),
        },
    })
}
