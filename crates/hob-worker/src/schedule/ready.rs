//! The issues that may be claimed now, for an engine that gives each issue its own process.

use std::time::Duration;

use hob_config::{RepositorySettings, Settings};
use hob_domain::{IssueNumber, RepoName, Sha};
use serde::Serialize;

use crate::{
    WorkError, Worker, explain,
    repository_file::file_at,
    schedule::poll::{Poll, Scope, poll},
};

/// The most polls, as long as each brought something up to date: a merge may let the next issue be claimed.
const PASSES: usize = 3;

/// An issue that may be claimed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReadyIssue {
    /// The repository.
    pub repo: RepoName,
    /// The issue.
    pub issue: IssueNumber,
    /// Its title.
    pub title: String,
}

/// Does the upkeep of a poll, and lists the issues that may be claimed afterwards, in order, without claiming any.
///
/// # Errors
/// [`WorkError`] if the forge could not be asked; the trouble of one issue does not fail the list.
pub async fn ready(worker: &Worker) -> Result<Vec<ReadyIssue>, WorkError> {
    for _pass in 0..PASSES {
        let Some(Poll { reconciled, base, .. }) = poll(worker, &Scope::All).await? else { break };
        if base.is_none() {
            return Ok(Vec::new());
        }
        if reconciled.reconciled == 0 {
            break;
        }
    }
    let mut found: Vec<_> = explain::all(worker).await?.into_iter().filter(|issue| issue.place.is_some()).collect();
    found.sort_by_key(|issue| issue.place);
    let repo = worker.forge.repo();
    let issues =
        found.into_iter().map(|found| ReadyIssue { repo: repo.clone(), issue: found.issue, title: found.title });
    Ok(issues.collect())
}

/// The longest that an attempt in this repository takes, by Hob's settings and its own, without the time that the forge
/// lets Hob wait when its limits are used up.
///
/// # Errors
/// [`WorkError`] if the forge could not be asked, or the repository's settings cannot be used.
pub async fn longest_attempt(worker: &Worker) -> Result<Duration, WorkError> {
    let base = worker.forge.repository().base_branch().await?;
    let rules = file_at(worker, &base.sha).await?;
    Ok(longest(&rules.over(&worker.settings), &rules))
}

/// The same, by the settings alone if those of the repository cannot be used.
pub(super) async fn longest_at(worker: &Worker, base: &Sha) -> Result<Duration, WorkError> {
    match file_at(worker, base).await {
        Ok(rules) => Ok(longest(&rules.over(&worker.settings), &rules)),
        Err(error) if error.is_of_the_repositorys_file() => {
            Ok(longest(&worker.settings, &RepositorySettings::default()))
        }
        Err(error) => Err(error),
    }
}

fn longest(settings: &Settings, rules: &RepositorySettings) -> Duration {
    let of = |commands: usize| settings.check_time.saturating_mul(u32::try_from(commands).unwrap_or(u32::MAX));
    // The checks run on the base, on each candidate of the work, and again after each time that they went back to the agent; the set-up
    // steps run before each of them if files of `setup_key` change.
    let rounds = settings.limits.check_rounds.saturating_add(settings.limits.candidates.most());
    let runs = rounds.saturating_add(1);
    let commands = of(rules.checks.len()).saturating_add(of(rules.setup.len())).saturating_mul(runs);
    // Checks that failed run again on the base and after each round, and each round has the runs between base and head.
    let proofs = rounds.saturating_mul(2).saturating_add(1);
    let proofs = if rules.checks.is_empty() { 0 } else { proofs };
    let commands = commands.saturating_add(settings.proof_time.saturating_mul(proofs));
    // A fetch, a checkout, and a push, which has at most half of the lease.
    let git = settings.workspace.transfer_time + settings.workspace.local_time + settings.lease.duration / 2;
    settings.limits.attempt_time.saturating_add(commands).saturating_add(git)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_lasts_as_long_as_its_agents_and_each_run_of_its_checks_and_steps() {
        let settings =
            Settings::load(None, [].into(), &[("testing.limits.check_rounds".to_owned(), "1".to_owned())]).unwrap();
        let minutes = |file: &str| longest(&settings, &RepositorySettings::parse(file).unwrap()).as_secs() / 60;
        // 30 of agents, 10 of fetching, 5 of the checkout, 2.5 of the push.
        assert_eq!(minutes(""), 47);
        // 20 of proofs: on the base, and twice for each of two rounds.
        assert_eq!(minutes("checks = ['a', 'b', 'c']"), 47 + 3 * 30 + 5 * 20);
        assert_eq!(minutes("checks = ['a']\nsetup = ['b']\nsetup_key = ['c']"), 47 + 3 * 20 + 5 * 20);
        let three = [("testing.limits.check_rounds", "1"), ("limits.candidates", "3")];
        let three = three.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let settings = Settings::load(None, [].into(), &three).unwrap();
        let rules = RepositorySettings::parse("checks = ['a']").unwrap();
        assert_eq!(longest(&settings, &rules).as_secs() / 60, 47 + 5 * 10 + 9 * 20);
    }
}
