//! The token's permissions, proved by trying; and whether Hob's pull requests start the repository's own checks.
//!
//! No try leaves anything behind: its request is refused for its content, or is undone at once.

use hob_forge::{BaseBranch, ForgeError, LEDGER_PREFIX};

use crate::{
    Worker,
    preflight::{Finding, Health},
};

/// The account of a job's own token in GitHub Actions.
const JOBS_ACCOUNT: &str = "github-actions[bot]";

/// The folder of a repository's workflows.
const WORKFLOWS: &str = ".github/workflows/";
/// The most workflows that are read.
const WORKFLOWS_READ: usize = 50;

/// The environment of this process, as far as tokens are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunsIn {
    /// A job of GitHub Actions, which has its own token.
    Job,
    /// Anywhere else.
    Elsewhere,
}

/// Tries each permission that the work needs. `base` is the commit on which the ledger's ref is tried.
pub async fn prove_rights(worker: &Worker, base: &BaseBranch) -> Vec<Finding> {
    let forge = worker.forge();
    let contents = forge.ledger().try_refs(base).await.map_err(|error| error.to_string());
    let issues = forge.try_issues().await.map_err(|error| error.to_string());
    let pulls = forge.try_pulls().await.map_err(|error| error.to_string());
    let statuses = forge.try_statuses().await.map_err(|error| error.to_string());
    let mut findings: Vec<Finding> = [
        ("ledger", contents, format!("refs below `{LEDGER_PREFIX}` can be created: contents can be written")),
        ("issues", issues, "labels and comments can be written".to_owned()),
        ("pulls", pulls, "pull requests can be opened".to_owned()),
    ]
    .into_iter()
    .map(|(about, tried, says)| match tried {
        Ok(()) => Finding { health: Health::Ok, about, says },
        Err(says) => Finding { health: Health::Bad, about, says },
    })
    .collect();
    findings.push(match statuses {
        Ok(()) => {
            Finding { health: Health::Ok, about: "proof", says: "the commit status `hob/proof` can be set".to_owned() }
        }
        // The work goes on without.
        Err(says) => {
            Finding { health: Health::Note, about: "proof", says: format!("no commit status `hob/proof`: {says}") }
        }
    });
    findings
}

/// Whether the checks of the repository's own workflows start on Hob's pull requests. The workflows are read from
/// `base`.
///
/// # Errors
/// [`ForgeError`] of asking for the token's account, and of reading the workflows.
pub async fn starts_workflows(worker: &Worker, base: &BaseBranch, runs_in: RunsIn) -> Result<Finding, ForgeError> {
    let login = worker.forge().connection().login().await?;
    let (health, says) = match told(login.as_ref().map(|login| login.as_str()), runs_in) {
        (Health::Ok, _) if !checks_pulls(worker, base).await? => (
            Health::Note,
            "the repository has no workflow of GitHub Actions with `on: pull_request`: unless another program checks pull \
             requests, Hob's own checks are the only ones",
        ),
        told => told,
    };
    Ok(Finding { health, about: "workflows", says: says.to_owned() })
}

/// Whether a workflow of the base branch starts for pull requests.
async fn checks_pulls(worker: &Worker, base: &BaseBranch) -> Result<bool, ForgeError> {
    let repository = worker.forge().repository();
    let is_workflow = |path: &&String| {
        path.strip_prefix(WORKFLOWS).is_some_and(|name| name.ends_with(".yml") || name.ends_with(".yaml"))
    };
    let paths = repository.file_paths(&base.tree).await?;
    for path in paths.iter().filter(is_workflow).take(WORKFLOWS_READ) {
        match repository.file(path, &base.sha).await {
            Ok(text) if text.as_deref().is_some_and(names_pull_requests) => return Ok(true),
            Ok(_) | Err(ForgeError::Unreadable { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}

/// Whether a workflow names one of the events of a pull request, outside comments.
fn names_pull_requests(workflow: &str) -> bool {
    let code = workflow.lines().map(|line| line.split_once('#').map_or(line, |(code, _)| code));
    code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'))
        .any(|word| matches!(word, "pull_request" | "pull_request_target"))
}

/// <https://docs.github.com/actions/concepts/security/github_token>
fn told(login: Option<&str>, runs_in: RunsIn) -> (Health, &'static str) {
    match (login, runs_in) {
        (Some(JOBS_ACCOUNT), _) => (
            Health::Note,
            "a job's own GITHUB_TOKEN does not start workflows: those of pull requests that Hob opens wait until a person \
             approves them. Use a GitHub App or a fine-grained token",
        ),
        (None, RunsIn::Job) => (
            Health::Note,
            "the forge does not say whose token this is. If it is the job's own GITHUB_TOKEN, it does not start workflows: \
             use a GitHub App or a fine-grained token",
        ),
        (Some(_) | None, RunsIn::Job | RunsIn::Elsewhere) => {
            (Health::Ok, "pull requests that Hob opens start the repository's workflows, as those of a person do")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workflow_for_pull_requests_is_told_by_its_event() {
        for (text, wanted) in [
            ("on: pull_request", true),
            ("on: [push, pull_request]", true),
            ("on:\n  pull_request:\n    branches: [main]", true),
            ("on:\n  push:  # not pull_request", false),
            ("on: push\nname: pull_requests", false),
            ("", false),
        ] {
            assert_eq!(names_pull_requests(text), wanted, "{text}");
        }
    }

    #[test]
    fn only_the_token_of_a_job_starts_no_workflows() {
        for (login, runs_in, health) in [
            (Some("github-actions[bot]"), RunsIn::Job, Health::Note),
            (Some("github-actions[bot]"), RunsIn::Elsewhere, Health::Note),
            (None, RunsIn::Job, Health::Note),
            (None, RunsIn::Elsewhere, Health::Ok),
            (Some("hob-bot"), RunsIn::Job, Health::Ok),
            (Some("hob[bot]"), RunsIn::Elsewhere, Health::Ok),
        ] {
            assert_eq!(told(login, runs_in).0, health, "{login:?} {runs_in:?}");
        }
    }
}
