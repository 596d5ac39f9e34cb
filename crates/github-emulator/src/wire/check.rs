//! Check runs and commit statuses over the wire.

use serde_json::{Value, json};

use super::{
    super::{
        job::Annotation,
        state::{CheckApp, CheckRun, CheckSuite, CommitStatus, IssueState, Permissions, together},
        users::Role,
    },
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

/// A commit status in the list of its commit, without its creator.
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
    // That of a job is the job's own page.
    let page = match &run.job {
        Some(job) => view.html(&format!("/actions/runs/{}/job/{}", job.run, run.id)),
        None => view.html(&format!("/runs/{}", run.id)),
    };
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
        "check_suite": {"id": run.suite},
        "app": run.app.as_ref().map(|app| check_app(view, app)),
        "pull_requests": pulls_at(view, &run.sha),
        "output": {
            "title": run.title,
            "summary": run.summary,
            "text": run.text,
            "annotations_count": run.annotations.len(),
            "annotations_url": format!("{own}/annotations"),
        },
    })
}

/// The open pull requests whose head is this commit, in short.
pub(in super::super) fn pulls_at(view: View<'_>, sha: &str) -> Value {
    let side = |branch: &str, sha: &str| {
        let repo = json!({"id": view.repo.id, "url": view.api(""), "name": view.repo.name.name()});
        json!({"ref": branch, "sha": sha, "repo": repo})
    };
    let open = view.repo.issues.values().filter(|issue| issue.state == IssueState::Open);
    let pulls = open.filter_map(|issue| Some((issue.number, issue.pull.as_ref()?)));
    let about = pulls.filter(|(_, pull)| pull.head_sha == sha).map(|(number, pull)| {
        json!({
            "id": pull.id,
            "number": number,
            "url": view.api(&format!("/pulls/{number}")),
            "head": side(&pull.head_ref, &pull.head_sha),
            "base": side(&pull.base_ref, &pull.base_sha),
        })
    });
    about.collect()
}

/// An annotation of a check run.
pub(in super::super) fn annotation(view: View<'_>, run: &CheckRun, annotation: &Annotation) -> Value {
    json!({
        "path": annotation.path,
        "blob_href": view.html(&format!("/blob/{}/{}", run.sha, annotation.path)),
        "start_line": annotation.start_line,
        "end_line": annotation.end_line,
        "start_column": annotation.start_column,
        "end_column": annotation.end_column,
        "annotation_level": annotation.annotation_level.name(),
        "title": annotation.title,
        "message": annotation.message,
        "raw_details": annotation.raw_details,
    })
}

/// A check suite of the commit.
pub(in super::super) fn check_suite(view: View<'_>, suite: &CheckSuite<'_>, head_commit: &Value) -> Value {
    let own = view.api(&format!("/check-suites/{}", suite.id));
    let (status, conclusion) = together(&suite.checks);
    let sha = &head_commit["id"];
    let pulls = pulls_at(view, sha.as_str().unwrap_or_default());
    let of_workflow = suite.run.and_then(|run| run.branch.clone());
    let branch = of_workflow.or_else(|| pulls[0]["head"]["ref"].as_str().map(str::to_owned));
    let begun = suite.checks.iter().filter_map(|check| check.started_at.as_ref()).min();
    let ended = suite.checks.iter().filter_map(|check| check.completed_at.as_ref().or(check.started_at.as_ref())).max();
    // A run that waits for an approval has no check run that has times.
    let made = suite.run.map(|run| time(run.created_at));
    json!({
        "id": suite.id,
        "node_id": node_id("CheckSuite", suite.id),
        "url": own,
        "head_branch": branch,
        "head_sha": sha,
        "head_commit": head_commit,
        "status": status,
        "conclusion": conclusion,
        "before": null,
        "after": sha,
        "app": suite.app.as_ref().map(|app| check_app(view, app)),
        "repository": super::minimal_repository(view, Role::Read),
        "pull_requests": pulls,
        "created_at": begun.map(|at| json!(at)).or_else(|| made.clone()),
        "updated_at": ended.map(|at| json!(at)).or(made),
        "latest_check_runs_count": suite.checks.len(),
        "check_runs_url": format!("{own}/check-runs"),
    })
}

/// The App of a check run. It may write check runs, or there would be none of it.
fn check_app(view: View<'_>, app: &CheckApp) -> Value {
    let account = view.accounts.get(app.owner.as_str());
    let (role, since) = account.map_or((Role::Write, view.repo.created_at), |known| (known.role, known.created_at));
    json!({
        "id": app.id,
        "slug": app.slug,
        "node_id": node_id("Integration", app.id),
        "owner": view.user(&app.owner),
        "name": app.name,
        "description": null,
        "external_url": view.server,
        "html_url": format!("{}/apps/{}", view.server, app.slug),
        "created_at": time(since),
        "updated_at": time(since),
        "permissions": Permissions::for_role(role.max(Role::Write)),
        "events": [],
    })
}
