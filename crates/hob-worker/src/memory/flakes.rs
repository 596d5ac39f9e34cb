//! Checks that failed and passed on one and the same commit, as far as this process saw both.

use hob_domain::{CheckResult, CheckRun, Sha};

use crate::memory::bounded_map::BoundedMap;

/// Results that are remembered.
const RESULTS: usize = 256;

/// One result of a check on a commit.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Seen {
    sha: Sha,
    command: String,
    passed: bool,
}

/// The results of checks.
#[derive(Debug, Default)]
pub(crate) struct Flakes(BoundedMap<Seen, (), RESULTS>);

impl Flakes {
    /// Notes the results on a commit, and returns the checks that have now done both on it.
    pub(crate) fn note(&self, sha: &Sha, results: &[CheckResult]) -> Vec<String> {
        let mut flaky = Vec::new();
        // A check that timed out or was refused something tells nothing about its flakiness.
        let says = |result: &&CheckResult| result.passed() || result.failed() && result.refusal().is_none();
        for result in results.iter().filter(|result| result.run == CheckRun::Now).filter(says) {
            let seen = |passed| Seen { sha: sha.clone(), command: result.command.clone(), passed };
            if self.0.get(&seen(!result.passed())).is_some() {
                flaky.push(result.command.clone());
            }
            self.0.insert(seen(result.passed()), ());
        }
        flaky
    }
}

#[cfg(test)]
mod tests {
    use hob_domain::CheckExit;

    use super::*;

    #[test]
    fn a_check_is_flaky_that_did_both_on_one_commit() {
        let ran = |command: &str, exit| CheckResult {
            command: command.to_owned(),
            exit,
            output: String::new(),
            seconds: 1,
            run: CheckRun::Now,
            refused: None,
            tests: hob_domain::TestResults::default(),
        };
        let (passed, failed) = (CheckExit::Passed, CheckExit::Failed { code: 1 });
        let (known, one, two) = (Flakes::default(), Sha::from("1"), Sha::from("2"));
        let none = Vec::<String>::new();
        assert_eq!(known.note(&one, &[ran("a", passed), ran("b", failed)]), none);
        assert_eq!(known.note(&two, &[ran("a", failed), ran("b", passed)]), none, "another commit");
        assert_eq!(known.note(&one, &[ran("a", CheckExit::OutOfTime), ran("b", failed)]), none);
        assert_eq!(known.note(&one, &[ran("a", failed), ran("b", failed)]), ["a"]);
        let earlier = CheckResult { run: CheckRun::Earlier, ..ran("b", passed) };
        assert_eq!(known.note(&one, &[earlier]), none, "it did not run");
        let output = "permission denied".to_owned();
        let refused = CheckResult { refused: Some("mount".to_owned()), output, ..ran("a", failed) };
        assert!(refused.refusal().is_some());
        assert_eq!(known.note(&two, &[ran("c", passed), CheckResult { command: "c".to_owned(), ..refused }]), none);
        for n in 0..300 {
            known.note(&Sha(format!("{n}x")), &[ran("a", passed)]);
        }
        assert_eq!(known.note(&one, &[ran("b", passed)]), none, "the oldest goes first");
    }
}
