//! The verdict on an instance of SWE-bench: by the tests that it names, as the runner's report and output say how each ended.

use std::path::Path;

use hob_domain::{TestEnd, TestResults};
use hob_proof::formats::{junit, printed};

use crate::text::{quoted, text_up_to};

/// Bytes of one report.
const REPORT_MAX: u64 = 16 << 20;
/// Tests that a sentence names.
const NAMED_MAX: usize = 3;
/// Programs whose tests are read by name; of any other command, the exit code is the verdict.
const NAMING: [&str; 12] = [
    "cargo test",
    "ctest",
    "go test",
    "jest",
    "mocha",
    "nextest",
    "node --test",
    "pytest",
    "rspec",
    "tap",
    "unittest",
    "vitest",
];

/// The tests that an instance wants to pass.
#[derive(Debug, Clone)]
pub(crate) struct NamedTests {
    names: Vec<String>,
    is_read: bool,
}

impl NamedTests {
    /// These tests of a run by `command`.
    pub(crate) fn new(names: Vec<String>, command: &str) -> Self {
        Self { names, is_read: NAMING.iter().any(|program| runs(command, program)) }
    }

    /// A run of the command as a part of the script, whose report is the `number`th one in `/logs`.
    pub(crate) fn run(number: usize, line: &str) -> String {
        let options = format!("--junitxml=/logs/{} -o junit_family=xunit1", report(number));
        format!("( export PYTEST_ADDOPTS={}\n{line}\n)", quoted(&options))
    }

    /// What is wrong with a run that ended with exit code 0. `None` if each of the tests passed, as far as its runner names them.
    pub(crate) fn complaint(&self, logs: &Path, output: &str) -> Option<String> {
        if !self.is_read {
            return None;
        }
        let reports = (1..).map_while(|number| text_up_to(&logs.join(report(number)), REPORT_MAX).ok());
        let results = reports.filter_map(|text| junit(&text)).fold(printed(output), TestResults::and);
        if results.tests.is_empty() {
            return Some("the command succeeded, and named no test".to_owned());
        }
        let passed = |name: &&String| match results.tests.get(&as_read(name)) {
            Some(TestEnd::Passed) => true,
            Some(TestEnd::Skipped | TestEnd::Failed | TestEnd::Broken) => false,
            None => results.names_failures_alone,
        };
        let missing: Vec<String> = self.names.iter().filter(|name| !passed(name)).map(|name| quoted(name)).collect();
        let named = missing.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
        let of = self.names.len();
        (!missing.is_empty()).then(|| format!("{} of {of} named tests did not pass, such as {named}", missing.len()))
    }
}

/// The name as Hob reads it: unittest's `test_a (tests.test_x.T)` is `tests.test_x.T.test_a`.
fn as_read(name: &str) -> String {
    match name.split_once(" (").and_then(|(test, class)| Some((test, class.strip_suffix(')')?))) {
        Some((test, class)) if class.ends_with(&format!(".{test}")) => class.to_owned(),
        Some((test, class)) => format!("{class}.{test}"),
        None => name.to_owned(),
    }
}

/// Whether a command has these words: `bootstrap` is not `tap`.
fn runs(command: &str, program: &str) -> bool {
    command.match_indices(program).any(|(at, _)| {
        let is_apart = |rest: Option<char>| !rest.is_some_and(char::is_alphanumeric);
        is_apart(command[..at].chars().next_back()) && is_apart(command[at + program.len()..].chars().next())
    })
}

fn report(number: usize) -> String {
    format!("tests-{number}.xml")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(command: &str) -> NamedTests {
        NamedTests::new(vec!["tests/test_a.py::test_x".to_owned(), "tests/test_a.py::test_y".to_owned()], command)
    }

    fn case(name: &str, inner: &str) -> String {
        format!("<testcase classname=\"tests.test_a\" file=\"tests/test_a.py\" name=\"{name}\">{inner}</testcase>")
    }

    /// Attack corpus K148.
    #[test]
    fn each_named_test_has_to_pass_in_the_reports() {
        let (x, y) = (case("test_x", ""), case("test_y", ""));
        for (reports, complaint) in [
            (vec![x.clone(), y.clone()], None),
            (vec![format!("{x}{y}")], None),
            (vec![x.clone()], Some("1 of 2 named tests did not pass, such as 'tests/test_a.py::test_y'")),
            (vec![x.clone(), case("test_y", "<skipped/>")], Some("1 of 2 named tests")),
            (vec![x.clone(), case("test_y", "<failure message=\"assert 1\"/>")], Some("1 of 2 named tests")),
            // What ends the process early leaves no report, or half of one.
            (vec![], Some("named no test")),
        ] {
            let logs = tempfile::tempdir().unwrap();
            for (at, cases) in reports.iter().enumerate() {
                let text = format!("<testsuites><testsuite>{cases}</testsuite></testsuites>");
                std::fs::write(logs.path().join(report(at + 1)), text).unwrap();
            }
            let found = of("python -m pytest {tests}").complaint(logs.path(), "");
            match complaint {
                None => assert_eq!(found, None),
                Some(words) => assert!(found.as_ref().is_some_and(|found| found.contains(words)), "{found:?}"),
            }
        }
    }

    #[test]
    fn names_of_unittest_are_read_in_both_forms() {
        let output =
            "test_x (tests.test_a.T.test_x) ... ok\ntest_y (tests.test_a.T) ... ok\n\nRan 2 tests in 0.001s\n\nOK\n";
        let names = ["test_x (tests.test_a.T)", "test_x (tests.test_a.T.test_x)", "tests.test_a.T.test_y"];
        let named = NamedTests::new(names.map(str::to_owned).to_vec(), "python3 -m unittest -v");
        let logs = tempfile::tempdir().unwrap();
        assert_eq!(named.complaint(logs.path(), output), None);
    }

    #[test]
    fn a_command_that_names_no_tests_is_judged_by_its_exit_code() {
        let logs = tempfile::tempdir().unwrap();
        for command in ["sh tests/run.sh {tests}", "sh bootstrap.sh {tests}"] {
            assert_eq!(of(command).complaint(logs.path(), "fine\n"), None, "{command}");
        }
    }
}
