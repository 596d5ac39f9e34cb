//! The four runs as the statement has them: results and digests, without anything that a check printed but names of tests.
//! A run that was made has the names of in-toto's predicate `test-result` v0.1, where it has one.

use serde::{Deserialize, Serialize};

use crate::{
    CheckExit, CheckResult, CheckRun, NotMade, Sha, TestEnd, TestResults,
    change::{
        sha256::Sha256Hex,
        stated_names::{first_names, visible},
    },
};

/// The most checks that are listed; the first ones.
const CHECKS_MAX: usize = 12;
/// The longest command, in characters.
const COMMAND_MAX: usize = 200;

/// The four runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedRuns {
    /// On the base.
    pub base: StatedRun,
    /// On the head.
    pub head: StatedRun,
    /// The new tests on the old code.
    pub needed: StatedRun,
    /// The old tests on the new code.
    pub kept: StatedRun,
}

/// One of the four runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedRun {
    /// The tree.
    pub tree: Sha,
    /// How it ended.
    #[serde(flatten)]
    pub end: RunEnd,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "RunForm", into = "RunForm")]
pub enum RunEnd {
    /// It was made.
    Made(RunMade),
    /// Its tree is the base's.
    SameAsBase,
    /// Its tree is the head's.
    SameAsHead,
    /// It was not made.
    NotMade(NotMade),
}

/// A run that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunMade {
    /// Its result; `None` if there was no check to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<RunResult>,
    /// The first tests that failed, or could not run.
    #[serde(default)]
    pub failed_tests: Vec<String>,
    /// The checks, up to the number that is listed.
    pub checks: Vec<StatedCheck>,
}

/// The result of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum RunResult {
    /// Each check passed.
    Passed,
    /// One did not.
    Failed,
}

/// A check in a run, without its output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedCheck {
    /// The shell command; cut if it is long.
    pub command: String,
    /// How it ended.
    #[serde(flatten)]
    pub exit: CheckExit,
    /// How long it took.
    pub seconds: u64,
    /// When it was run.
    pub run: CheckRun,
    /// The digest of its output, as far as it was kept.
    pub output: Sha256Hex,
    /// What the sandbox refused it, if that may have kept it from passing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// The tests that it named; `None` if it named none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<StatedTests>,
}

/// The tests that a check named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedTests {
    /// Tests that passed.
    pub passed: usize,
    /// Tests that failed.
    pub failed: usize,
    /// Tests that could not run.
    pub broken: usize,
    /// Tests that were skipped.
    pub skipped: usize,
    /// The digest of the sorted lines of names and ends.
    #[serde(flatten)]
    pub digest: Sha256Hex,
}

/// The form of a run's end in JSON.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum RunForm {
    Same {
        #[serde(rename = "sameAs")]
        same_as: SameAs,
    },
    NotMade(NotMade),
    Made(RunMade),
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SameAs {
    Base,
    Head,
}

impl From<RunForm> for RunEnd {
    fn from(form: RunForm) -> Self {
        match form {
            RunForm::Same { same_as: SameAs::Base } => Self::SameAsBase,
            RunForm::Same { same_as: SameAs::Head } => Self::SameAsHead,
            RunForm::NotMade(why) => Self::NotMade(why),
            RunForm::Made(made) => Self::Made(made),
        }
    }
}

impl From<RunEnd> for RunForm {
    fn from(end: RunEnd) -> Self {
        match end {
            RunEnd::Made(made) => Self::Made(made),
            RunEnd::SameAsBase => Self::Same { same_as: SameAs::Base },
            RunEnd::SameAsHead => Self::Same { same_as: SameAs::Head },
            RunEnd::NotMade(why) => Self::NotMade(why),
        }
    }
}

impl RunEnd {
    /// A run with these results.
    pub fn made(checks: &[CheckResult]) -> Self {
        let passed = checks.iter().all(CheckResult::passed);
        let result = (!checks.is_empty()).then_some(if passed { RunResult::Passed } else { RunResult::Failed });
        let fails = |check: &CheckResult| {
            let failed = check.tests.ended(TestEnd::Failed).chain(check.tests.ended(TestEnd::Broken));
            failed.map(str::to_owned).collect::<Vec<_>>()
        };
        let failed: Vec<String> = checks.iter().flat_map(fails).collect();
        Self::Made(RunMade {
            result,
            failed_tests: first_names(failed.iter().map(String::as_str)),
            checks: checks.iter().take(CHECKS_MAX).map(StatedCheck::from).collect(),
        })
    }
}

impl From<&CheckResult> for StatedCheck {
    fn from(result: &CheckResult) -> Self {
        Self {
            command: visible(&result.command, COMMAND_MAX),
            exit: result.exit,
            seconds: result.seconds,
            run: result.run,
            output: Sha256Hex::of(&result.output),
            refused: result.refusal().map(|refused| visible(refused, COMMAND_MAX)),
            tests: (!result.tests.is_empty()).then(|| StatedTests::from(&result.tests)),
        }
    }
}

impl From<&TestResults> for StatedTests {
    fn from(tests: &TestResults) -> Self {
        let count = |end| tests.ended(end).count();
        Self {
            passed: count(TestEnd::Passed),
            failed: count(TestEnd::Failed),
            broken: count(TestEnd::Broken),
            skipped: count(TestEnd::Skipped),
            digest: Sha256Hex::of(lines(tests)),
        }
    }
}

/// The tests as `name TAB outcome`, one a line, sorted as bytes.
fn lines(tests: &TestResults) -> String {
    let line = |(name, end): (&String, &TestEnd)| {
        let end = match end {
            TestEnd::Skipped => "skipped",
            TestEnd::Passed => "passed",
            TestEnd::Failed => "failed",
            TestEnd::Broken => "broken",
        };
        format!("{}\t{end}\n", name.replace(['\t', '\n'], " "))
    };
    let mut lines: Vec<_> = tests.tests.iter().map(line).collect();
    lines.sort_unstable();
    lines.concat()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::Rate;

    /// A check's result, with two tests.
    pub(crate) fn check(command: &str, exit: CheckExit, run: CheckRun) -> CheckResult {
        let mut tests = TestResults::default();
        tests.add("t::b", TestEnd::Passed);
        tests.add("t::a", if exit == CheckExit::Passed { TestEnd::Skipped } else { TestEnd::Failed });
        CheckResult {
            command: command.to_owned(),
            exit,
            output: "a long text, `@ann` and \u{1b}[31m".to_owned(),
            seconds: 2,
            run,
            refused: Some("a host".to_owned()),
            tests,
        }
    }

    #[test]
    fn each_end_of_a_run_is_read_as_it_was_written() {
        let made = RunEnd::made(&[check("x", CheckExit::Failed { code: 1 }, CheckRun::Now)]);
        let none = RunEnd::made(&[]);
        let run = CheckRun::Again { here: Rate { failed: 1, runs: 4 }, base: Rate { failed: 3, runs: 17 } };
        let again = RunEnd::made(&[check("x", CheckExit::Passed, run)]);
        let says_again = "\"run\":{\"again\":{\"here\":{\"failed\":1,\"runs\":4},\"base\":{\"failed\":3,\"runs\":17}}}";
        let mixed = RunEnd::NotMade(NotMade::Mixed { files: ["a".to_owned()].into_iter().collect() });
        for (end, says) in [
            (made, "\"result\":\"FAILED\",\"failedTests\":[\"t::a\"]"),
            (again, says_again),
            (none, "{\"tree\":\"t\",\"failedTests\":[],\"checks\":[]}"),
            (RunEnd::SameAsBase, "{\"tree\":\"t\",\"sameAs\":\"base\"}"),
            (RunEnd::SameAsHead, "\"sameAs\":\"head\""),
            (RunEnd::NotMade(NotMade::NoTime), "{\"tree\":\"t\",\"notMade\":\"no_time\"}"),
            (mixed, "\"notMade\":\"mixed\",\"files\""),
        ] {
            let run = StatedRun { tree: "t".into(), end };
            let text = serde_json::to_string(&run).unwrap();
            assert!(text.contains(says), "{text}");
            assert_eq!(serde_json::from_str::<StatedRun>(&text).unwrap(), run, "{text}");
        }
    }

    #[test]
    fn tests_are_told_by_a_digest_of_sorted_lines() {
        let one = check("x", CheckExit::Passed, CheckRun::Now);
        assert_eq!(lines(&one.tests), "t::a\tskipped\nt::b\tpassed\n");
        let stated = StatedTests::from(&one.tests);
        assert_eq!((stated.passed, stated.skipped, stated.failed), (1, 1, 0));
        assert_eq!(stated.digest, Sha256Hex::of("t::a\tskipped\nt::b\tpassed\n"));
    }

    #[test]
    fn many_checks_and_long_commands_are_cut() {
        let many: Vec<_> =
            (0..70).map(|n| check(&format!("{n} {}", "é".repeat(400)), CheckExit::Passed, CheckRun::Now)).collect();
        let RunEnd::Made(run) = RunEnd::made(&many) else { panic!("it was made") };
        assert_eq!((run.checks.len(), run.result), (12, Some(RunResult::Passed)));
        assert!(run.checks.iter().all(|check| check.command.chars().count() == 200 && check.command.ends_with('…')));
    }
}
