//! The results of single tests, as a check's output and the files that it wrote tell them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Tests that are kept of one run.
const TESTS_MAX: usize = 20_000;
/// The longest name, in bytes.
const NAME_MAX: usize = 400;

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestEnd {
    /// It was not run, on purpose.
    Skipped,
    /// It passed.
    Passed,
    /// What it says of the code does not hold.
    Failed,
    /// It could not say anything: it does not compile, or names what is not there.
    Broken,
}

/// The tests of a run.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestResults {
    /// Each test by its name.
    pub tests: BTreeMap<String, TestEnd>,
    /// Whether tests that are not named may have passed, as many runners name failures alone.
    pub names_failures_alone: bool,
}

impl TestResults {
    /// Adds a test. One that ran more than once, in several programs or again after a failure, has its worst end.
    pub fn add(&mut self, name: impl AsRef<str>, end: TestEnd) {
        let mut name = name.as_ref().trim().to_owned();
        if name.is_empty() || self.tests.len() >= TESTS_MAX && !self.tests.contains_key(&name) {
            return;
        }
        let cut = (0..=NAME_MAX.min(name.len())).rev().find(|at| name.is_char_boundary(*at)).unwrap_or_default();
        name.truncate(cut);
        let known = self.tests.entry(name).or_insert(end);
        *known = (*known).max(end);
    }

    /// The tests of both.
    pub fn and(mut self, other: Self) -> Self {
        for (name, end) in other.tests {
            self.add(name, end);
        }
        self.names_failures_alone |= other.names_failures_alone;
        self
    }

    /// Whether no test was named.
    pub fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }

    /// The end of a test; `None` if it was not there. Where only failures are named, a test that is not named passed, or
    /// was not there.
    pub fn end(&self, name: &str) -> Option<TestEnd> {
        self.tests.get(name).copied()
    }

    /// The names of those that ended so.
    pub fn ended(&self, end: TestEnd) -> impl Iterator<Item = &str> {
        self.tests.iter().filter(move |(_, one)| **one == end).map(|(name, _)| name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_has_its_worst_end_and_a_bounded_name() {
        let mut one = TestResults::default();
        one.add("a", TestEnd::Failed);
        one.add(" a ", TestEnd::Passed);
        one.add("", TestEnd::Passed);
        one.add("é".repeat(400), TestEnd::Passed);
        assert_eq!((one.end("a"), one.tests.len()), (Some(TestEnd::Failed), 2));
        assert!(one.tests.keys().all(|name| name.len() <= NAME_MAX));
        let mut other = TestResults { names_failures_alone: true, ..TestResults::default() };
        other.add("b", TestEnd::Skipped);
        let both = one.and(other);
        assert!(both.names_failures_alone && both.end("b") == Some(TestEnd::Skipped));
        assert_eq!(both.ended(TestEnd::Failed).collect::<Vec<_>>(), ["a"]);
    }
}
