//! What the token may do, proved by trying it; and whether what Hob opens starts the repository's own checks.
//!
//! No try leaves anything behind: what it asks for is refused for its content, or is taken away again at once.

use hob_forge::{BaseBranch, ForgeError};

use crate::{
    Worker,
    preflight::{Finding, Health},
};

/// The account of a job's own token in GitHub Actions.
const JOBS_ACCOUNT: &str = "github-actions[bot]";

/// Where this process runs, as far as tokens are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunsIn {
    /// A job of GitHub Actions, which has a token of its own.
    Job,
    /// Anywhere else.
    Elsewhere,
}

/// Tries each permission that the work needs. `base` is where the ledger's ref is tried.
pub async fn prove_rights(worker: &Worker, base: &BaseBranch) -> Vec<Finding> {
    let (forge, prefix) = (worker.forge(), &worker.settings.ledger.prefix);
    let contents = forge.ledger().try_prefix(base).await.map_err(|error| {
        format!("{error}; if the forge refuses such refs, set `ledger.prefix` to `refs/heads/hob-ledger/`")
    });
    let issues = forge.try_issues().await.map_err(|error| error.to_string());
    let pulls = forge.try_pulls().await.map_err(|error| error.to_string());
    [
        ("ledger", contents, format!("refs below `{prefix}` can be created: contents can be written")),
        ("issues", issues, "labels and comments can be written".to_owned()),
        ("pulls", pulls, "pull requests can be opened".to_owned()),
    ]
    .into_iter()
    .map(|(about, tried, says)| match tried {
        Ok(()) => Finding { health: Health::Ok, about, says },
        Err(says) => Finding { health: Health::Bad, about, says },
    })
    .collect()
}

/// Whether the checks of the repository's own workflows start on the pull requests that Hob opens.
///
/// # Errors
/// [`ForgeError`] of asking whose token it is.
pub async fn starts_workflows(worker: &Worker, runs_in: RunsIn) -> Result<Finding, ForgeError> {
    let login = worker.forge().connection().login().await?;
    let (health, says) = told(login.as_ref().map(|login| login.as_str()), runs_in);
    Ok(Finding { health, about: "workflows", says: says.to_owned() })
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
            "the forge does not tell whose token this is. If it is the job's own GITHUB_TOKEN, it does not start workflows: \
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
