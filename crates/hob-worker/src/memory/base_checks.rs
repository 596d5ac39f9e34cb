//! The memory of checks that passed on a base, so that they are not rerun for every issue of the same base.

use std::time::Duration;

use hob_domain::{CheckResult, CheckRun, Sha, Timestamp};

use crate::memory::bounded_map::BoundedMap;

/// Bases that are remembered: attempts under way may have begun on older ones.
const BASES: usize = 4;
/// How long a result counts: a check's other inputs, such as a package index, change too.
const COUNTS: Duration = Duration::from_secs(86_400);

/// A base, and the checks that ran on it.
type Checked = (Sha, Vec<String>);

/// Checks that all passed on a commit.
#[derive(Debug, Clone)]
struct Passed {
    at: Timestamp,
    results: Vec<CheckResult>,
}

/// The checks that passed. Those of a base where one failed are not kept: the machine may have been at fault, and all
/// work on that base would suffer.
#[derive(Debug, Default)]
pub(crate) struct BaseChecks(BoundedMap<Checked, Passed, BASES>);

impl BaseChecks {
    /// The results of exactly these checks on this commit.
    pub(crate) fn get(&self, base: &Sha, checks: &[String], now: Timestamp) -> Option<Vec<CheckResult>> {
        let passed = self.0.get(&(base.clone(), checks.to_vec()))?;
        (passed.at + COUNTS > now).then_some(passed.results)
    }

    /// Remembers the results if all passed.
    pub(crate) fn note(&self, base: &Sha, checks: &[String], results: &[CheckResult], now: Timestamp) {
        if !results.iter().all(CheckResult::passed) {
            return;
        }
        // The output of a check is only needed for repairs.
        let earlier =
            |result: &CheckResult| CheckResult { run: CheckRun::Earlier, output: String::new(), ..result.clone() };
        let results = results.iter().map(earlier).collect();
        self.0.insert((base.clone(), checks.to_vec()), Passed { at: now, results });
    }
}

#[cfg(test)]
mod tests {
    use hob_domain::CheckExit;

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(seconds, 0).unwrap()
    }

    fn result(exit: CheckExit) -> CheckResult {
        let (command, output) = ("test".to_owned(), "ok".to_owned());
        CheckResult {
            command,
            exit,
            output,
            seconds: 7,
            run: CheckRun::Now,
            refused: None,
            tests: hob_domain::TestResults::default(),
        }
    }

    #[test]
    fn what_passed_counts_for_its_commit_its_checks_and_a_day() {
        let (known, checks) = (BaseChecks::default(), ["test".to_owned()]);
        let (one, two) = (Sha::from("1"), Sha::from("2"));
        known.note(&one, &checks, &[result(CheckExit::Passed)], at(0));
        let kept = known.get(&one, &checks, at(86_399)).unwrap();
        assert_eq!((kept[0].run, kept[0].seconds, kept[0].output.as_str()), (CheckRun::Earlier, 7, ""));
        assert_eq!(known.get(&one, &checks, at(86_400)), None);
        assert_eq!(known.get(&two, &checks, at(0)), None);
        assert_eq!(known.get(&one, &["test".to_owned(), "lint".to_owned()], at(0)), None);
        known.note(&two, &checks, &[result(CheckExit::Passed), result(CheckExit::Failed { code: 1 })], at(0));
        assert_eq!(known.get(&two, &checks, at(0)), None);
        for n in 3..=6 {
            known.note(&Sha(n.to_string()), &checks, &[result(CheckExit::Passed)], at(0));
        }
        assert_eq!(known.get(&one, &checks, at(0)), None, "the oldest goes first");
    }
}
