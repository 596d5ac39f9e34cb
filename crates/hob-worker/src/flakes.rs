//! Checks that failed and passed on one and the same commit, as far as this process saw both.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use hob_domain::{CheckResult, CheckRun, Sha};

/// Results that are remembered.
const RESULTS: usize = 256;

/// One result: the commit, the check, and whether it passed.
type Seen = (Sha, String, bool);

/// The results of checks, the latest last.
#[derive(Debug, Default)]
pub(super) struct Flakes(Mutex<VecDeque<Seen>>);

impl Flakes {
    /// Notes the results on a commit, and returns the checks that have now done both on it.
    pub(super) fn note(&self, sha: &Sha, results: &[CheckResult]) -> Vec<String> {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut flaky = Vec::new();
        // A check that timed out or was refused something tells nothing about its flakiness.
        let says = |result: &&CheckResult| result.passed() || result.failed() && result.refusal().is_none();
        for result in results.iter().filter(|result| result.run == CheckRun::Now).filter(says) {
            let of = |passed| (sha.clone(), result.command.clone(), passed);
            if seen.contains(&of(!result.passed())) {
                flaky.push(result.command.clone());
            }
            if !seen.contains(&of(result.passed())) {
                seen.push_back(of(result.passed()));
            }
        }
        let over = seen.len().saturating_sub(RESULTS);
        drop(seen.drain(..over));
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
        for n in 0..300 {
            known.note(&Sha(format!("{n}x")), &[ran("a", passed)]);
        }
        assert_eq!(known.note(&one, &[ran("b", passed)]), none, "the oldest goes first");
    }
}
