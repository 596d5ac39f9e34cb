//! Workflows of GitHub Actions: those of which there are runs. Nothing reads their files.

use serde_json::{Value, json};

use super::{
    super::{
        call::{Answer, Call, Reply},
        page::Page,
        refusal::Refusal,
        route::{Route, get},
        state::{Repository, WorkflowRun},
        users::Role,
        wire,
    },
    actions::{FILTERS, runs},
};

pub(super) const ROUTES: &[Route] = &[
    get("/repos/{owner}/{repo}/actions/workflows", list),
    get("/repos/{owner}/{repo}/actions/workflows/{workflow}", show),
    get("/repos/{owner}/{repo}/actions/workflows/{workflow}/runs", runs_of).query(FILTERS),
];

/// The first run of each workflow, oldest first.
fn all(repo: &Repository) -> Vec<&WorkflowRun> {
    let mut found: Vec<&WorkflowRun> = Vec::new();
    for run in repo.runs.values() {
        if found.iter().all(|known| known.workflow_id != run.workflow_id) {
            found.push(run);
        }
    }
    found
}

/// The first run of the workflow in the path: its id, or the name of its file.
fn first_of<'s>(call: &Call, repo: &'s Repository) -> Result<&'s WorkflowRun, Refusal> {
    let named = call.part("workflow");
    let is = |run: &&WorkflowRun| run.workflow_id.to_string() == named || run.path.rsplit('/').next() == Some(named);
    all(repo).into_iter().find(is).ok_or_else(Refusal::not_found)
}

fn list(call: &Call) -> Answer {
    let state = call.state();
    let found = all(call.repository(&state, Role::Read)?);
    let (page, total) = (Page::asked_for(call), found.len());
    let view = call.view(&state)?;
    let shown: Value = page.of_list(found).into_iter().map(|first| wire::workflow(view, first)).collect();
    Ok(Reply::ok(json!({"total_count": total, "workflows": shown})).with_link(page.link(call, total)))
}

fn show(call: &Call) -> Answer {
    let state = call.state();
    let first = first_of(call, call.repository(&state, Role::Read)?)?;
    Ok(Reply::ok(wire::workflow(call.view(&state)?, first)))
}

fn runs_of(call: &Call) -> Answer {
    let id = first_of(call, call.repository(&call.state(), Role::Read)?)?.workflow_id;
    runs(call, |run| run.workflow_id == id)
}
