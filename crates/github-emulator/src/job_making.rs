//! Adds jobs to the state, with the check run of each and the run of its workflow.

use git2::Repository as Git;

use super::{
    forge::Forge,
    git::commit_named,
    job::{Annotation, Job, JobChange, JobIds, JobStatus, JobStep},
    refusal::Refusal,
    state::{self, Account, CheckApp, CheckRun, Repository, State, WorkflowRun},
    users::{AccountKind, Role},
    webhook_events::queue_check,
};
use crate::names::{Login, RepoName, Timestamp};

/// The commit of a run.
#[derive(Debug, Clone)]
pub(super) struct RunCommit {
    pub(super) sha: String,
    pub(super) branch: Option<String>,
    /// The title that the run takes from it.
    pub(super) title: String,
}

/// <https://docs.github.com/rest/actions/workflows#get-a-workflow>
const WORKFLOW_STATES: [&str; 5] = ["active", "deleted", "disabled_fork", "disabled_inactivity", "disabled_manually"];

/// Makes a job.
///
/// # Errors
/// 422 if there is no such repository or commit, the run has a job of this name, or a field is invalid.
pub(super) fn make(forge: &Forge, name: &RepoName, job: &Job) -> Result<JobIds, Refusal> {
    let id = with_repository(&mut forge.state(), name, |repo| Ok(repo.id))?;
    let git = forge.git.open(id)?;
    let no_commit = || Refusal::unprocessable(format!("No commit found for SHA: {}", job.head_sha));
    let sha = commit_named(&git, &job.head_sha).ok_or_else(no_commit)?;
    let title = git.find_commit(sha)?.summary().ok().flatten().unwrap_or_default().to_owned();
    let (branch, sha) = (branch_at(&git, &job.head_sha, sha)?, sha.to_string());
    add_actions(forge);
    if job.name.trim().is_empty() {
        return Err(Refusal::missing("Job", "name"));
    }
    let now = forge.now();
    let run = with_repository(&mut forge.state(), name, |repo| {
        let mut run = match run_of(repo, job, &sha) {
            Some(known) => known.clone(),
            None => {
                let commit = RunCommit { sha: sha.clone(), branch, title };
                new_run(forge, repo, workflow_of(job), event_of(job), commit)
            }
        };
        run.updated_at = now;
        if repo.checks.values().any(|other| other.name == job.name && is_of(other, &run)) {
            return Err(Refusal::exists("Job", "name"));
        }
        let labels = if job.labels.is_empty() { vec!["ubuntu-latest".to_owned()] } else { job.labels.clone() };
        let mut check = queued(forge, &run, &job.name, labels);
        let change = JobChange {
            status: job.status,
            conclusion: job.conclusion,
            steps: Some(job.steps.clone()),
            log: job.log.clone(),
            annotations: Some(job.annotations.clone()),
        };
        apply(&mut check, &change, now)?;
        repo.runs.insert(run.id, run);
        repo.checks.insert(check.id, check.clone());
        Ok(check)
    })?;
    tell(forge, name, &run, "created");
    if run.is_completed() {
        tell(forge, name, &run, "completed");
    }
    Ok(JobIds { run: run.job.as_ref().map_or(0, |job| job.run), job: run.id })
}

/// Changes a job.
///
/// # Errors
/// 404 if there is none of this id; 422 if a field is invalid.
pub(super) fn change(forge: &Forge, name: &RepoName, id: u64, change: &JobChange) -> Result<(), Refusal> {
    let now = forge.now();
    let ended = with_repository(&mut forge.state(), name, |repo| {
        let run = repo.checks.get_mut(&id).filter(|run| run.job.is_some()).ok_or_else(Refusal::not_found)?;
        let mut new = run.clone();
        apply(&mut new, change, now)?;
        let ended = !run.is_completed() && new.is_completed();
        *run = new.clone();
        if let Some(run) = new.job.as_ref().and_then(|job| repo.runs.get_mut(&job.run)) {
            run.updated_at = now;
        }
        Ok(ended.then_some(new))
    })?;
    if let Some(run) = ended {
        tell(forge, name, &run, "completed");
    }
    Ok(())
}

/// Sets the state of the workflow with this file name.
///
/// # Errors
/// 422 if there is no such repository, or GitHub has no such state.
pub(super) fn set_workflow_state(forge: &Forge, name: &RepoName, file: &str, state: &str) -> Result<(), Refusal> {
    if !WORKFLOW_STATES.contains(&state) {
        return Err(Refusal::invalid("Workflow", "state"));
    }
    with_repository(&mut forge.state(), name, |repo| {
        repo.workflow_states.insert(file.to_owned(), state.to_owned());
        Ok(())
    })
}

/// Reruns some jobs of a run, in its next attempt: each as a new check run that waits.
pub(super) fn begin_again(forge: &Forge, repo: &mut Repository, jobs: &[CheckRun], actor: &Login) -> Vec<CheckRun> {
    let now = forge.now();
    let run = jobs.first().and_then(|job| job.job.as_ref()).and_then(|job| repo.runs.get_mut(&job.run));
    let Some(run) = run else { return Vec::new() };
    run.attempt += 1;
    (run.started_at, run.updated_at) = (now, now);
    run.triggering_actor = actor.clone();
    let run = run.clone();
    let again = |old: &CheckRun| {
        let labels = old.job.as_ref().map(|job| job.labels.clone()).unwrap_or_default();
        queued(forge, &run, &old.name, labels)
    };
    let new: Vec<CheckRun> = jobs.iter().map(again).collect();
    for check in &new {
        repo.checks.insert(check.id, check.clone());
    }
    new
}

/// Notifies webhooks of a job's check run. The sender is the account that started the workflow.
pub(super) fn tell(forge: &Forge, name: &RepoName, check: &CheckRun, action: &'static str) {
    let actor = {
        let state = forge.state();
        let repo = state.repositories.get(name.owner(), name.name());
        let run = repo.and_then(|repo| repo.runs.get(&check.job.as_ref()?.run));
        run.map_or_else(|| name.owner().into(), |run| run.triggering_actor.clone())
    };
    queue_check(forge, name, &actor, check, action);
}

fn with_repository<T>(
    state: &mut State,
    name: &RepoName,
    work: impl FnOnce(&mut Repository) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    let repo = state.repositories.get_mut(name.owner(), name.name());
    repo.map_or_else(|| Err(Refusal::unprocessable(format!("there is no repository {name}"))), work)
}

/// The branch of this name, or one whose tip is this commit.
fn branch_at(git: &Git, name: &str, sha: git2::Oid) -> Result<Option<String>, Refusal> {
    if git.find_reference(&format!("refs/heads/{name}")).is_ok() {
        return Ok(Some(name.to_owned()));
    }
    for reference in git.references_glob("refs/heads/*")? {
        let reference = reference?;
        if let (Ok(name), true) = (reference.name(), reference.target() == Some(sha)) {
            return Ok(Some(name.trim_start_matches("refs/heads/").to_owned()));
        }
    }
    Ok(None)
}

/// Adds the account of GitHub's own App, if it does not exist yet.
pub(super) fn add_actions(forge: &Forge) {
    let login = CheckApp::of_actions().owner;
    let mut state = forge.state();
    if state.accounts.get(login.as_str()).is_none() {
        let (id, created_at) = (forge.next_id(), forge.now());
        state.accounts.put(Account {
            id,
            login,
            role: Role::None,
            kind: AccountKind::Bot,
            created_at,
            signing_keys: Vec::new(),
        });
    }
}

fn workflow_of(job: &Job) -> &str {
    if job.workflow.is_empty() { "CI" } else { &job.workflow }
}

fn event_of(job: &Job) -> &str {
    if job.event.is_empty() { "push" } else { &job.event }
}

/// The newest run of the job's workflow on this commit, by the same event.
fn run_of<'s>(repo: &'s Repository, job: &Job, sha: &str) -> Option<&'s WorkflowRun> {
    let mut all = repo.runs.values().rev();
    all.find(|run| run.sha == sha && run.workflow == workflow_of(job) && run.event == event_of(job))
}

/// Whether it is a job of this run.
pub(super) fn is_of(check: &CheckRun, run: &WorkflowRun) -> bool {
    check.job.as_ref().is_some_and(|job| job.run == run.id)
}

/// The next run of a workflow, started by this event.
pub(super) fn new_run(
    forge: &Forge,
    repo: &Repository,
    workflow: &str,
    event: &str,
    RunCommit { sha, branch, title }: RunCommit,
) -> WorkflowRun {
    let workflow = workflow.to_owned();
    let known = repo.runs.values().rev().find(|run| run.workflow == workflow);
    let of_pull = repo.issues.values().find(|issue| issue.pull.as_ref().is_some_and(|pull| pull.head_sha == sha));
    let actor = of_pull.map_or_else(|| repo.name.owner().into(), |issue| issue.author.clone());
    let file: String =
        workflow.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    let now = forge.now();
    WorkflowRun {
        id: forge.next_id(),
        suite: forge.next_id(),
        sha,
        branch,
        event: event.to_owned(),
        workflow_id: known.map_or_else(|| forge.next_id(), |run| run.workflow_id),
        number: known.map_or(1, |run| run.number + 1),
        workflow,
        path: format!(".github/workflows/{file}.yml"),
        attempt: 1,
        triggering_actor: actor.clone(),
        actor,
        title,
        created_at: now,
        started_at: now,
        updated_at: now,
    }
}

/// A job of a run that waits, as the check run that it is.
pub(super) fn queued(forge: &Forge, run: &WorkflowRun, name: &str, labels: Vec<String>) -> CheckRun {
    let mut check = CheckRun::queued(forge.next_id(), run.sha.clone(), name.to_owned());
    check.app = Some(CheckApp::of_actions());
    check.suite = run.suite;
    check.started_at = Some(written(forge.now()));
    check.external_id = Some(format!("{}-{}", run.id, check.id));
    let (attempt, created_at) = (run.attempt, forge.now());
    check.job = Some(state::Job { run: run.id, attempt, created_at, labels, steps: Vec::new(), log: None });
    check
}

/// Applies the fields of a job; a conclusion completes it.
fn apply(run: &mut CheckRun, change: &JobChange, now: Timestamp) -> Result<(), Refusal> {
    let invalid = |field: &str| Refusal::invalid("Job", field);
    let ends = change.conclusion.is_some();
    let status = change.status.or(ends.then_some(JobStatus::Completed));
    if ends && status != Some(JobStatus::Completed) {
        return Err(invalid("status"));
    }
    if let Some(status) = status {
        status.name().clone_into(&mut run.status);
        run.conclusion = change.conclusion.map(|conclusion| conclusion.name().to_owned());
        run.completed_at = run.is_completed().then(|| written(now));
    }
    if run.is_completed() && run.conclusion.is_none() {
        return Err(Refusal::missing("Job", "conclusion"));
    }
    if let Some(annotations) = &change.annotations {
        if let Some(field) = annotations.iter().find_map(Annotation::wrong_field) {
            return Err(invalid(field));
        }
        run.annotations.clone_from(annotations);
    }
    let Some(job) = run.job.as_mut() else { return Ok(()) };
    if let Some(steps) = &change.steps {
        job.steps = steps.iter().map(step).collect::<Result<_, _>>()?;
    }
    if let Some(log) = &change.log {
        job.log = Some(log.clone());
    }
    Ok(())
}

fn step(step: &JobStep) -> Result<state::Step, Refusal> {
    let ends = step.conclusion.is_some();
    let status = step.status.unwrap_or(if ends { JobStatus::Completed } else { JobStatus::Queued });
    let fits = matches!(status, JobStatus::Queued | JobStatus::InProgress | JobStatus::Completed);
    if !fits || ends != (status == JobStatus::Completed) {
        return Err(Refusal::invalid("Job", "steps"));
    }
    Ok(state::Step {
        name: step.name.clone(),
        status: status.name().to_owned(),
        conclusion: step.conclusion.map(|conclusion| conclusion.name().to_owned()),
    })
}

fn written(at: Timestamp) -> String {
    at.format("%Y-%m-%dT%H:%M:%SZ").to_string()
}
