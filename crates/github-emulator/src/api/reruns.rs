//! Jobs that run again: one, those of a run that failed, or all of a run. Each begins as a new check run that waits.

use http::StatusCode;
use serde_json::json;

use super::{
    super::{
        call::{Answer, Call, Reply},
        job_making::{begin_again, tell},
        refusal::Refusal,
        route::{Route, post},
        state::{CheckRun, Repository},
        users::Role,
    },
    actions::{job_of, latest_jobs, run_of},
};

pub(super) const ROUTES: &[Route] = &[
    post("/repos/{owner}/{repo}/actions/jobs/{id}/rerun", one),
    post("/repos/{owner}/{repo}/actions/runs/{id}/rerun-failed-jobs", failed),
    post("/repos/{owner}/{repo}/actions/runs/{id}/rerun", all),
];

fn one(call: &Call) -> Answer {
    again(call, |call, repo| {
        let job = job_of(call, repo)?;
        let run = job.job.as_ref().and_then(|job| repo.runs.get(&job.run)).ok_or_else(Refusal::not_found)?;
        let latest = latest_jobs(repo, run);
        if !latest.iter().any(|other| other.id == job.id) {
            return Err(forbidden("Only jobs from the current attempt can be re-run"));
        }
        Ok((latest, vec![job]))
    })
}

fn failed(call: &Call) -> Answer {
    again(call, |call, repo| {
        let latest = latest_jobs(repo, run_of(call, repo)?);
        let failed = latest.iter().copied().filter(|job| !job.has_passed()).collect();
        Ok((latest, failed))
    })
}

fn all(call: &Call) -> Answer {
    again(call, |call, repo| {
        let latest = latest_jobs(repo, run_of(call, repo)?);
        Ok((latest.clone(), latest))
    })
}

/// Reruns jobs. `which` returns the newest jobs of their run, and those to rerun.
fn again(
    call: &Call,
    which: impl for<'s> FnOnce(&Call, &'s Repository) -> Result<(Vec<&'s CheckRun>, Vec<&'s CheckRun>), Refusal>,
) -> Answer {
    call.fields("WorkflowRun")?;
    let actor = call.actor()?;
    let (name, new) = {
        let mut state = call.state();
        let repo = call.repository_mut(&mut state, Role::Write)?;
        let (latest, wanted) = which(call, repo)?;
        if latest.iter().any(|job| !job.is_completed()) {
            return Err(forbidden("This workflow is already running"));
        }
        if wanted.is_empty() {
            return Err(forbidden("This workflow run cannot be retried"));
        }
        let wanted: Vec<CheckRun> = wanted.into_iter().cloned().collect();
        (repo.name.clone(), begin_again(&call.forge, repo, &wanted, actor))
    };
    for check in &new {
        tell(&call.forge, &name, check, "created");
    }
    Ok(Reply::created(json!({})))
}

fn forbidden(message: &str) -> Refusal {
    Refusal::new(StatusCode::FORBIDDEN, message)
}
