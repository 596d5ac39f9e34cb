//! GitHub Actions, to read: runs of workflows, their jobs, the logs of these.

use git2::Repository as Git;
use serde_json::{Value, json};

use super::super::{
    call::{Answer, Call, Reply},
    dates::Range,
    job_log,
    page::Page,
    refusal::Refusal,
    route::{Route, get},
    state::{CheckRun, Repository, WorkflowRun, together},
    users::Role,
    wire::{self, View},
};

/// The values of a list's `status`: a run's state, or its conclusion.
const STATES: [&str; 15] = [
    "",
    "completed",
    "action_required",
    "cancelled",
    "failure",
    "neutral",
    "skipped",
    "stale",
    "success",
    "timed_out",
    "in_progress",
    "queued",
    "requested",
    "waiting",
    "pending",
];

/// The filters of a list of runs.
pub(super) const FILTERS: &[&str] =
    &["actor", "branch", "event", "status", "created", "exclude_pull_requests", "check_suite_id", "head_sha"];

pub(super) const ROUTES: &[Route] = &[
    get("/repos/{owner}/{repo}/actions/runs", list).query(FILTERS),
    get("/repos/{owner}/{repo}/actions/runs/{id}", show).query(&["exclude_pull_requests"]),
    get("/repos/{owner}/{repo}/actions/runs/{id}/artifacts", artifacts),
    get("/repos/{owner}/{repo}/actions/runs/{id}/jobs", jobs).query(&["filter"]),
    get("/repos/{owner}/{repo}/actions/jobs/{id}", job),
    get("/repos/{owner}/{repo}/actions/jobs/{id}/logs", log),
];

/// The run of the id in the path.
pub(super) fn run_of<'s>(call: &Call, repo: &'s Repository) -> Result<&'s WorkflowRun, Refusal> {
    repo.runs.get(&call.number("id")?).ok_or_else(Refusal::not_found)
}

/// The job of the id in the path.
pub(super) fn job_of<'s>(call: &Call, repo: &'s Repository) -> Result<&'s CheckRun, Refusal> {
    repo.checks.get(&call.number("id")?).filter(|check| check.job.is_some()).ok_or_else(Refusal::not_found)
}

/// The newest job of each name in a run, oldest first.
pub(super) fn latest_jobs<'s>(repo: &'s Repository, run: &WorkflowRun) -> Vec<&'s CheckRun> {
    let mut found = repo.latest_checks(&run.sha);
    found.retain(|check| check.job.as_ref().is_some_and(|job| job.run == run.id));
    found.reverse();
    found
}

fn list(call: &Call) -> Answer {
    runs(call, |_| true)
}

/// The runs that the call asks for, of those that `is_of` takes, the newest first.
pub(super) fn runs(call: &Call, is_of: impl Fn(&WorkflowRun) -> bool) -> Answer {
    let git = call.read_git()?;
    let suite = call.query("check_suite_id").map(|id| id.parse::<u64>());
    let suite = suite.transpose().map_err(|_| invalid("check_suite_id"))?;
    let wanted = call.choice("WorkflowRun", "status", &STATES)?;
    let created = call.query("created").map(|text| Range::read(text).ok_or_else(|| invalid("created"))).transpose()?;
    let pulls = pulls_of(call)?;
    let state = call.state();
    let repo = call.repository(&state, Role::Read)?;
    let is = |name: &str, value: &str| call.query(name).is_none_or(|wanted| wanted == value);
    let mut found: Vec<&WorkflowRun> = repo.runs.values().rev().collect();
    found.retain(|run| is("head_sha", &run.sha) && is("event", &run.event) && suite.is_none_or(|id| run.suite == id));
    found.retain(|run| is_of(run) && created.is_none_or(|range| range.has(run.created_at)));
    found.retain(|run| is("branch", run.branch.as_deref().unwrap_or_default()));
    found.retain(|run| call.query("actor").is_none_or(|login| run.actor.as_str().eq_ignore_ascii_case(login)));
    found.retain(|run| {
        let (status, conclusion) = together(&latest_jobs(repo, run));
        wanted.is_empty() || status == wanted || conclusion == Some(wanted)
    });
    let (page, total) = (Page::asked_for(call), found.len());
    let view = call.view(&state)?;
    let shown =
        page.of_list(found).into_iter().map(|run| shown(view, &git, run, pulls)).collect::<Result<Value, _>>()?;
    Ok(Reply::ok(json!({"total_count": total, "workflow_runs": shown})).with_link(page.link(call, total)))
}

fn show(call: &Call) -> Answer {
    let (git, pulls) = (call.read_git()?, pulls_of(call)?);
    let state = call.state();
    let run = run_of(call, call.repository(&state, Role::Read)?)?;
    shown(call.view(&state)?, &git, run, pulls).map(Reply::ok)
}

/// Whether runs show the pull requests that they are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pulls {
    Shown,
    Excluded,
}

fn pulls_of(call: &Call) -> Result<Pulls, Refusal> {
    Ok(match call.choice("WorkflowRun", "exclude_pull_requests", &["false", "true"])? {
        "true" => Pulls::Excluded,
        _ => Pulls::Shown,
    })
}

fn invalid(parameter: &str) -> Refusal {
    Refusal::invalid("WorkflowRun", parameter)
}

/// Nothing runs here that could leave any.
fn artifacts(call: &Call) -> Answer {
    let state = call.state();
    run_of(call, call.repository(&state, Role::Read)?)?;
    Ok(Reply::ok(json!({"total_count": 0, "artifacts": []})))
}

fn shown(view: View<'_>, git: &Git, run: &WorkflowRun, pulls: Pulls) -> Result<Value, Refusal> {
    let head = git.find_commit(git2::Oid::from_str(&run.sha)?).ok();
    let head = head.map_or(Value::Null, |commit| wire::simple_commit(&commit));
    let mut shown = wire::workflow_run(view, run, &latest_jobs(view.repo, run), &head);
    if pulls == Pulls::Excluded {
        shown["pull_requests"] = json!([]);
    }
    Ok(shown)
}

fn jobs(call: &Call) -> Answer {
    let state = call.state();
    let repo = call.repository(&state, Role::Read)?;
    let run = run_of(call, repo)?;
    let found: Vec<&CheckRun> = match call.choice("WorkflowRun", "filter", &["latest", "all"])? {
        "all" => {
            let is_of = |check: &&CheckRun| check.job.as_ref().is_some_and(|job| job.run == run.id);
            repo.checks.values().filter(is_of).collect()
        }
        _ => latest_jobs(repo, run),
    };
    let (page, total) = (Page::asked_for(call), found.len());
    let view = call.view(&state)?;
    let shown: Value = page.of_list(found).into_iter().map(|check| wire::job(view, check)).collect();
    Ok(Reply::ok(json!({"total_count": total, "jobs": shown})).with_link(page.link(call, total)))
}

fn job(call: &Call) -> Answer {
    let state = call.state();
    let check = job_of(call, call.repository(&state, Role::Read)?)?;
    Ok(Reply::ok(wire::job(call.view(&state)?, check)))
}

/// The log's address. GitHub has none before the end of a job, and shows none to anonymous callers.
fn log(call: &Call) -> Answer {
    let state = call.state();
    let repo = call.repository(&state, Role::Read)?;
    let check = job_of(call, repo)?;
    if call.caller.is_none() {
        return Err(Refusal::needs(Role::Admin));
    }
    let has_log = check.is_completed() && check.job.as_ref().is_some_and(|job| job.log.is_some());
    if !has_log {
        return Err(Refusal::not_found());
    }
    Ok(Reply::found(job_log::address(&call.forge, repo.id, check.id, call.now)))
}
