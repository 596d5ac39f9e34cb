//! The verdict on an instance of SWE-bench: by the tests that it names, as the runner's report and output say how each ended.

use std::path::Path;

use hob_domain::{TestEnd, TestResults};
use hob_proof::formats::{junit, printed};

use crate::text::{quoted, text_up_to};

/// Bytes of one report.
const REPORT_MAX: u64 = 16 << 20;
/// Tests that a sentence names.
const NAMED_MAX: usize = 3;
/// The tests that an instance wants to pass.
#[derive(Debug, Clone)]
pub(crate) struct NamedTests(Vec<String>);

impl NamedTests {
    /// These tests.
    pub(crate) fn new(names: Vec<String>) -> Self {
        Self(names)
    }

    /// A run of the command as a part of the script, whose report is the `number`th one in `/logs`.
    pub(crate) fn run(number: usize, line: &str) -> String {
        let options = format!("--junitxml=/logs/{} -o junit_family=xunit1", report(number));
        format!("( export PYTEST_ADDOPTS={}\n{line}\n)", quoted(&options))
    }

    /// What the reports and the output of a run say of each test. Where they name none, nothing tells what ran.
    pub(crate) fn read(logs: &Path, output: &str) -> TestResults {
        let reports = (1..).map_while(|number| text_up_to(&logs.join(report(number)), REPORT_MAX).ok());
        reports.filter_map(|text| junit(&text)).fold(printed(output), TestResults::and)
    }

    /// What is wrong with a run that ended with exit code 0. `None` if each of the tests passed.
    pub(crate) fn complaint(&self, results: &TestResults) -> Option<String> {
        if results.tests.is_empty() {
            return Some("the command succeeded, and named no test".to_owned());
        }
        let passed = |name: &&String| match results.tests.get(&as_read(name)) {
            Some(TestEnd::Passed) => true,
            Some(TestEnd::Skipped | TestEnd::Failed | TestEnd::Broken) => false,
            None => results.names_failures_alone,
        };
        let missing: Vec<String> = self.0.iter().filter(|name| !passed(name)).map(|name| quoted(name)).collect();
        let named = missing.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
        let of = self.0.len();
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

fn report(number: usize) -> String {
    format!("tests-{number}.xml")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(names: &[&str], logs: &Path, output: &str) -> Option<String> {
        let named = NamedTests::new(names.iter().map(|name| (*name).to_owned()).collect());
        named.complaint(&NamedTests::read(logs, output))
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
            let found =
                super::tests::complaint(&["tests/test_a.py::test_x", "tests/test_a.py::test_y"], logs.path(), "");
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
        let logs = tempfile::tempdir().unwrap();
        assert_eq!(complaint(&names, logs.path(), output), None);
    }

    #[test]
    fn exit_code_0_alone_solves_nothing() {
        let logs = tempfile::tempdir().unwrap();
        assert!(complaint(&["two"], logs.path(), "fine\n").is_some_and(|said| said.contains("named no test")));
        assert_eq!(complaint(&["two"], logs.path(), "ok 1 - two\n"), None);
    }
}
