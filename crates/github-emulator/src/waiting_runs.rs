//! Runs of workflows that wait for an approval: pull requests that a job's token opens or pushes to have them, and no
//! job begins before an account with write access has approved them.
//! <https://docs.github.com/actions/how-tos/write-workflows/choose-when-workflows-run/trigger-a-workflow>

use super::{
    forge::Forge,
    job_making::{RunCommit, add_actions, is_of, new_run, queued, tell},
    refusal::Refusal,
    state::{CheckRun, Repository, State, WorkflowRun},
};
use crate::names::{Login, RepoName};

/// The event that sets off the workflows of a pull request.
const EVENT: &str = "pull_request";

/// Sets the workflows that run for pull requests, each with the names of its jobs.
///
/// # Errors
/// 422 if there is no such repository.
pub(super) fn set_workflows(
    forge: &Forge,
    name: &RepoName,
    workflows: impl IntoIterator<Item = (String, Vec<String>)>,
) -> Result<(), Refusal> {
    repository(&mut forge.state(), name)?.pull_workflows = workflows.into_iter().collect();
    Ok(())
}

/// Adds waiting runs to a pull request that `actor` has opened, reopened or pushed to, if it used a job's token.
pub(super) fn hold(forge: &Forge, repo: &mut Repository, actor: &Login, number: u64) {
    if repo.pull_workflows.is_empty() || !forge.is_of_jobs(actor) {
        return;
    }
    let Some((issue, pull)) = repo.issues.get(&number).and_then(|issue| Some((issue, issue.pull.as_ref()?))) else {
        return;
    };
    let commit =
        RunCommit { sha: pull.head_sha.clone(), branch: Some(pull.head_ref.clone()), title: issue.title.clone() };
    let new = |workflow| new_run(forge, repo, workflow, EVENT, commit.clone());
    let runs: Vec<WorkflowRun> = repo.pull_workflows.keys().map(|workflow| new(workflow)).collect();
    for run in runs {
        repo.runs.insert(run.id, run);
    }
}

/// Approves the runs that wait on a pull request's head: their jobs then exist, queued.
///
/// # Errors
/// 422 if there is no such repository or pull request, or no run waits there.
pub(super) fn approve(forge: &Forge, name: &RepoName, number: u64) -> Result<(), Refusal> {
    add_actions(forge);
    let jobs: Vec<CheckRun> = {
        let mut state = forge.state();
        let repo = repository(&mut state, name)?;
        let pull = repo.issues.get(&number).and_then(|issue| issue.pull.as_ref());
        let waits = |run: &&WorkflowRun| {
            pull.is_some_and(|pull| run.sha == pull.head_sha) && !repo.checks.values().any(|check| is_of(check, run))
        };
        let names = |run: &WorkflowRun| repo.pull_workflows.get(&run.workflow).cloned().unwrap_or_default();
        let jobs_of = |run: &WorkflowRun| {
            let labels = || vec!["ubuntu-latest".to_owned()];
            names(run).into_iter().map(|name| queued(forge, run, &name, labels())).collect::<Vec<_>>()
        };
        let jobs: Vec<CheckRun> = repo.runs.values().filter(waits).flat_map(jobs_of).collect();
        for job in &jobs {
            repo.checks.insert(job.id, job.clone());
        }
        jobs
    };
    if jobs.is_empty() {
        return Err(Refusal::unprocessable(format!("no run waits for an approval on pull request {number} in {name}")));
    }
    for job in &jobs {
        tell(forge, name, job, "created");
    }
    Ok(())
}

fn repository<'s>(state: &'s mut State, name: &RepoName) -> Result<&'s mut Repository, Refusal> {
    let absent = || Refusal::unprocessable(format!("there is no repository {name}"));
    state.repositories.get_mut(name.owner(), name.name()).ok_or_else(absent)
}
