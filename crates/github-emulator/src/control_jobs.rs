//! The operations of a test in any language on jobs, beside GitHub's API: nothing runs workflows here, so a test says
//! what a job did.

use std::collections::BTreeMap;

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    call::{Answer, Call, Reply},
    control::{admin, named},
    job::{Job, JobChange},
    job_making,
    refusal::Refusal,
    route::{Route, patch, post, put},
    users::Role,
    waiting_runs, wire,
};
use crate::names::RepoName;

/// Workflows that run for pull requests, each with the names of its jobs.
#[derive(Deserialize)]
struct Workflows {
    workflows: BTreeMap<String, Vec<String>>,
}

/// The pull request whose runs are approved.
#[derive(Deserialize)]
struct Approval {
    number: u64,
}

/// A workflow's file and state.
#[derive(Deserialize)]
struct WorkflowState {
    file: String,
    state: String,
}

const CHANGED: &[&str] = &["repository", "status", "conclusion", "steps", "log", "annotations"];

pub(super) const ROUTES: &[Route] = &[
    post("/_forge/jobs", create).body(&[
        "repository",
        "head_sha",
        "workflow",
        "name",
        "event",
        "status",
        "conclusion",
        "steps",
        "log",
        "annotations",
        "labels",
    ]),
    patch("/_forge/jobs/{id}", change).body(CHANGED),
    put("/_forge/pull-workflows", workflows).body(&["repository", "workflows"]),
    put("/_forge/workflow-states", state).body(&["repository", "file", "state"]),
    post("/_forge/approvals", approve).body(&["repository", "number"]),
];

fn create(call: &Call) -> Answer {
    let (name, job): (_, Job) = read(call)?;
    let ids = job_making::make(&call.forge, &name, &job)?;
    shown(call, &name, ids.job).map(Reply::created)
}

fn change(call: &Call) -> Answer {
    let (name, change): (_, JobChange) = read(call)?;
    let id = call.number("id")?;
    job_making::change(&call.forge, &name, id, &change)?;
    shown(call, &name, id).map(Reply::ok)
}

/// Sets the workflows that run for pull requests.
fn workflows(call: &Call) -> Answer {
    let (name, sent): (_, Workflows) = read(call)?;
    waiting_runs::set_workflows(&call.forge, &name, sent.workflows)?;
    Ok(Reply::empty())
}

/// Sets the state of a workflow.
fn state(call: &Call) -> Answer {
    let (name, sent): (_, WorkflowState) = read(call)?;
    job_making::set_workflow_state(&call.forge, &name, &sent.file, &sent.state)?;
    Ok(Reply::empty())
}

/// Approves the runs that wait on the head of a pull request.
fn approve(call: &Call) -> Answer {
    let (name, sent): (_, Approval) = read(call)?;
    waiting_runs::approve(&call.forge, &name, sent.number)?;
    Ok(Reply::empty())
}

/// The repository and the rest of an admin's request.
fn read<T: DeserializeOwned>(call: &Call) -> Result<(RepoName, T), Refusal> {
    admin(call)?;
    let (name, rest) = named(call)?;
    let read = serde_json::from_value(rest);
    Ok((name, read.map_err(|error| Refusal::unprocessable(error.to_string()))?))
}

/// The job as GitHub's API shows it.
fn shown(call: &Call, name: &RepoName, id: u64) -> Result<Value, Refusal> {
    let call = call.with_part("owner", name.owner()).with_part("repo", name.name());
    let state = call.state();
    let repo = call.repository(&state, Role::Read)?;
    let check = repo.checks.get(&id).ok_or_else(Refusal::not_found)?;
    Ok(wire::job(call.view(&state)?, check))
}
