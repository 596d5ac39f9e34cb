//! Results of checks that an attempt has so far, by tree, on this machine: a tree is not checked twice, and a worker that takes
//! over from one that died between two runs makes none of them again.
//!
//! # Guarantees
//! They are the attempt's: its orderly end forgets them, and no other issue sees them. Where children are confined, none can write
//! them.

use std::{
    io,
    path::{Path, PathBuf},
};

use hob_domain::{CheckExit, CheckResult, IssueNumber, RepoName, Sha, Sha256Hex, TestResults};
use hob_process::Environment;
use hob_sandbox::Tier;
use hob_text::KnownSecrets;
use serde::{Deserialize, Serialize};
use tokio::fs;

/// The results of one repository's attempts.
#[derive(Debug, Clone)]
pub(crate) struct EarlierChecks {
    folder: PathBuf,
    /// What no file may have.
    secrets: KnownSecrets,
}

/// What decides how checks end, as far as Hob can tell: any other value is another run.
#[derive(Debug)]
pub(crate) struct CheckInputs<'a> {
    pub(crate) tree: &'a Sha,
    /// The base, whose set-up may be shared.
    pub(crate) base: &'a Sha,
    pub(crate) checks: &'a [String],
    pub(crate) setup: &'a [String],
    pub(crate) hosts: &'a [String],
    pub(crate) tier: Tier,
    pub(crate) environment: &'a Environment,
}

impl CheckInputs<'_> {
    /// The name of their file.
    fn key(&self) -> String {
        let Self { tree, base, checks, setup, hosts, tier, environment } = self;
        let inputs = (env!("CARGO_PKG_VERSION"), tree, base, checks, setup, hosts, tier, environment);
        Sha256Hex::of(format!("{inputs:?}")).to_string()
    }
}

/// A result with its tests, which a result alone does not store.
#[derive(Serialize, Deserialize)]
struct Kept {
    result: CheckResult,
    tests: TestResults,
}

impl EarlierChecks {
    pub(crate) fn new(state_dir: &Path, repo: &RepoName, secrets: KnownSecrets) -> Self {
        Self { folder: state_dir.join("checked").join(repo.owner()).join(repo.name()), secrets }
    }

    /// The results of these checks on this tree in the attempt under way. `None` if they did not run to their end.
    pub(crate) async fn of(&self, issue: IssueNumber, inputs: &CheckInputs<'_>) -> Option<Vec<CheckResult>> {
        let text = fs::read(self.of_issue(issue).join(inputs.key())).await.ok()?;
        let kept: Vec<Kept> = serde_json::from_slice(&text).ok()?;
        Some(kept.into_iter().map(|Kept { result, tests }| CheckResult { tests, ..result }).collect())
    }

    /// Keeps the results, if each check ran to its end. Nothing depends on it.
    pub(crate) async fn keep(&self, issue: IssueNumber, inputs: &CheckInputs<'_>, results: &[CheckResult]) {
        let ended = |result: &CheckResult| !matches!(result.exit, CheckExit::OutOfTime | CheckExit::Cancelled);
        if results.len() != inputs.checks.len() || !results.iter().all(ended) {
            return;
        }
        if let Err(error) = self.write(issue, &inputs.key(), results).await {
            tracing::debug!(issue = issue.0, %error, "the results of checks are not kept: {error}");
        }
    }

    /// Writes the file as a whole: a worker that dies leaves all of it or nothing.
    async fn write(&self, issue: IssueNumber, key: &str, results: &[CheckResult]) -> io::Result<()> {
        let kept: Vec<_> =
            results.iter().map(|result| Kept { result: result.clone(), tests: result.tests.clone() }).collect();
        let (folder, text) = (self.of_issue(issue), serde_json::to_string(&kept)?);
        fs::create_dir_all(&folder).await?;
        let new = folder.join(format!("{key}.new"));
        fs::write(&new, self.secrets.redaction().text(&text).as_bytes()).await?;
        fs::rename(new, folder.join(key)).await
    }

    /// Forgets those of an attempt that has ended.
    pub(crate) async fn forget(&self, issue: IssueNumber) {
        fs::remove_dir_all(self.of_issue(issue)).await.ok();
    }

    fn of_issue(&self, issue: IssueNumber) -> PathBuf {
        self.folder.join(issue.to_string())
    }
}

#[cfg(test)]
mod tests {
    use hob_domain::{CheckRun, TestEnd};

    use super::*;

    fn result(exit: CheckExit) -> CheckResult {
        let mut tests = TestResults::default();
        tests.add("a", TestEnd::Passed);
        let (command, output) = ("make test".to_owned(), "the token is hunter2hunter2".to_owned());
        CheckResult { command, exit, output, seconds: 1, run: CheckRun::Now, refused: None, tests }
    }

    #[tokio::test]
    async fn results_count_for_their_attempt_and_their_inputs() {
        let (state, environment) = (tempfile::tempdir().unwrap(), Environment::default());
        let secrets = KnownSecrets::default();
        secrets.add(["hunter2hunter2".into()]);
        let earlier = EarlierChecks::new(state.path(), &"o/n".parse().unwrap(), secrets);
        let checks = ["make test".to_owned()];
        let (trees, base) = ([Sha::from("t"), Sha::from("u")], Sha::from("b"));
        let inputs = |tree: usize| CheckInputs {
            tree: &trees[tree],
            base: &base,
            checks: &checks,
            setup: &[],
            hosts: &[],
            tier: Tier::Box,
            environment: &environment,
        };
        for exit in [CheckExit::OutOfTime, CheckExit::Cancelled] {
            earlier.keep(IssueNumber(1), &inputs(0), &[result(exit)]).await;
        }
        assert_eq!(earlier.of(IssueNumber(1), &inputs(0)).await, None, "it did not run to its end");
        let failed = result(CheckExit::Failed { code: 1 });
        earlier.keep(IssueNumber(1), &inputs(0), std::slice::from_ref(&failed)).await;
        let found = earlier.of(IssueNumber(1), &inputs(0)).await.unwrap();
        assert_eq!((found[0].exit, &found[0].tests), (failed.exit, &failed.tests));
        assert!(!found[0].output.contains("hunter2hunter2"), "{found:?}");
        assert_eq!(earlier.of(IssueNumber(1), &inputs(1)).await, None);
        assert_eq!(earlier.of(IssueNumber(2), &inputs(0)).await, None);
        earlier.forget(IssueNumber(1)).await;
        assert_eq!(earlier.of(IssueNumber(1), &inputs(0)).await, None);
    }
}
