//! Jobs and workflow runs of GitHub Actions over the wire.

use serde_json::{Value, json};

use super::{
    super::{
        state::{CheckRun, Job, WorkflowRun, together},
        users::Role,
    },
    View, node_id, time,
};

/// A job, which is this check run; `null` for one that is none.
pub(in super::super) fn job(view: View<'_>, check: &CheckRun) -> Value {
    let Some((job, run)) = check.job.as_ref().and_then(|job| Some((job, view.repo.runs.get(&job.run)?))) else {
        return Value::Null;
    };
    let created = time(job.created_at);
    json!({
        "id": check.id,
        "run_id": run.id,
        "run_url": view.api(&format!("/actions/runs/{}", run.id)),
        "run_attempt": job.attempt,
        "node_id": node_id("CheckRun", check.id),
        "head_sha": check.sha,
        "head_branch": run.branch,
        "workflow_name": run.workflow,
        "url": view.api(&format!("/actions/jobs/{}", check.id)),
        "html_url": view.html(&format!("/actions/runs/{}/job/{}", run.id, check.id)),
        "status": check.status,
        "conclusion": check.conclusion,
        "created_at": created,
        "started_at": check.started_at.as_deref().map_or(created, |at| json!(at)),
        "completed_at": check.completed_at,
        "name": check.name,
        "steps": steps(check, job),
        "check_run_url": view.api(&format!("/check-runs/{}", check.id)),
        "labels": job.labels,
        "runner_id": null,
        "runner_name": null,
        "runner_group_id": null,
        "runner_group_name": null,
    })
}

/// The steps of a job, whose times are those of the job.
fn steps(check: &CheckRun, job: &Job) -> Value {
    let steps = job.steps.iter().zip(1..).map(|(step, number)| {
        let (begun, ended) = (step.status != "queued", step.conclusion.is_some());
        let at = |time: &Option<String>, there: bool| time.clone().filter(|_| there);
        json!({
            "name": step.name,
            "status": step.status,
            "conclusion": step.conclusion,
            "number": number,
            "started_at": at(&check.started_at, begun),
            "completed_at": at(&check.completed_at, ended),
        })
    });
    steps.collect()
}

/// The workflow of this run, which is all that the forge knows of it.
pub(in super::super) fn workflow(view: View<'_>, first: &WorkflowRun) -> Value {
    let file = first.path.rsplit('/').next().unwrap_or_default();
    json!({
        "id": first.workflow_id,
        "node_id": node_id("Workflow", first.workflow_id),
        "name": first.workflow,
        "path": first.path,
        "state": view.repo.workflow_states.get(file).map_or("active", String::as_str),
        "created_at": time(first.created_at),
        "updated_at": time(first.created_at),
        "url": view.api(&format!("/actions/workflows/{}", first.workflow_id)),
        "html_url": view.html(&format!("/blob/{}/{}", view.repo.default_branch, first.path)),
        "badge_url": view.html(&format!("/actions/workflows/{file}/badge.svg")),
    })
}

/// A run of a workflow, with these as its newest jobs.
pub(in super::super) fn workflow_run(
    view: View<'_>,
    run: &WorkflowRun,
    jobs: &[&CheckRun],
    head_commit: &Value,
) -> Value {
    let own = view.api(&format!("/actions/runs/{}", run.id));
    let (status, conclusion) = together(jobs);
    let previous = (run.attempt > 1).then(|| format!("{own}/attempts/{}", run.attempt - 1));
    let repository = super::minimal_repository(view, Role::Read);
    json!({
        "id": run.id,
        "name": run.workflow,
        "node_id": node_id("WorkflowRun", run.id),
        "check_suite_id": run.suite,
        "check_suite_node_id": node_id("CheckSuite", run.suite),
        "head_branch": run.branch,
        "head_sha": run.sha,
        "head_commit": head_commit,
        "path": run.path,
        "run_number": run.number,
        "run_attempt": run.attempt,
        "referenced_workflows": [],
        "event": run.event,
        "display_title": run.title,
        "status": status,
        "conclusion": conclusion,
        "workflow_id": run.workflow_id,
        "url": own,
        "html_url": view.html(&format!("/actions/runs/{}", run.id)),
        "pull_requests": super::pulls_at(view, &run.sha),
        "created_at": time(run.created_at),
        "updated_at": time(run.updated_at),
        "run_started_at": time(run.started_at),
        "actor": view.user(&run.actor),
        "triggering_actor": view.user(&run.triggering_actor),
        "jobs_url": format!("{own}/jobs"),
        "logs_url": format!("{own}/logs"),
        "check_suite_url": view.api(&format!("/check-suites/{}", run.suite)),
        "artifacts_url": format!("{own}/artifacts"),
        "cancel_url": format!("{own}/cancel"),
        "rerun_url": format!("{own}/rerun"),
        "previous_attempt_url": previous,
        "workflow_url": view.api(&format!("/actions/workflows/{}", run.workflow_id)),
        "repository": repository,
        "head_repository": repository,
    })
}
