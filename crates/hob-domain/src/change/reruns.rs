//! How runs that were made again differ from those of a statement, by test where tests are named.

use std::fmt;

use crate::{
    CheckExit, Predicate, RunEnd, RunMade, RunResult, Sha, Shown, StatedCheck, StatedRun, StatedRuns, StatedTests,
};

/// The most names of failed tests that a statement has: a list that is as long may be cut.
const NAMED: usize = 10;

/// One of the four runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunName {
    /// On the base.
    Base,
    /// On the head.
    Head,
    /// The new tests on the old code.
    Needed,
    /// The old tests on the new code.
    Kept,
}

impl fmt::Display for RunName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Base => "base",
            Self::Head => "head",
            Self::Needed => "needed",
            Self::Kept => "kept",
        })
    }
}

/// A difference; `said` is the statement's, `is` that of now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunDifference {
    /// They show another word.
    Word {
        /// The statement's.
        said: &'static str,
        /// That of now.
        is: &'static str,
    },
    /// A run has another tree.
    Tree {
        /// The run.
        run: RunName,
        /// The statement's.
        said: Sha,
        /// That of now.
        is: Sha,
    },
    /// A run was made, or not, or took another one's place.
    End {
        /// The run.
        run: RunName,
        /// The statement's.
        said: &'static str,
        /// That of now.
        is: &'static str,
    },
    /// A check ended otherwise.
    Check {
        /// The run.
        run: RunName,
        /// The check.
        command: String,
        /// The statement's.
        said: String,
        /// That of now.
        is: String,
    },
    /// A test fails on one side only.
    Test {
        /// The run.
        run: RunName,
        /// The test.
        name: String,
        /// Whether it fails now, and did not.
        fails_now: bool,
    },
    /// The tests of a check ended otherwise, and none of them is named.
    Tests {
        /// The run.
        run: RunName,
        /// The check.
        command: String,
        /// The statement's.
        said: String,
        /// That of now.
        is: String,
    },
}

impl fmt::Display for RunDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word { said, is } => write!(f, "the statement says {said}, and the runs show {is}"),
            Self::Tree { run, said, is } => write!(f, "{run}: the tree was {said}, and is {is}"),
            Self::End { run, said, is } => write!(f, "{run}: {said} then, {is} now"),
            Self::Check { run, command, said, is } => write!(f, "{run}: `{command}`: {said} then, {is} now"),
            Self::Test { run, name, fails_now: true } => write!(f, "{run}: `{name}` fails now, and did not then"),
            Self::Test { run, name, fails_now: false } => write!(f, "{run}: `{name}` failed then, and does not now"),
            Self::Tests { run, command, said, is } => {
                write!(f, "{run}: the tests of `{command}`: {said} then, {is} now")
            }
        }
    }
}

/// How runs that were made again, and what they show, differ from the statement. How long they took, what they printed and which of
/// them were made earlier is not compared.
pub fn run_differences(said: &Predicate, shown: &Shown, runs: &StatedRuns) -> Vec<RunDifference> {
    let mut found = Vec::new();
    let (was, is) = (said.shown.word.name(), shown.word.name());
    if was != is {
        found.push(RunDifference::Word { said: was, is });
    }
    for (run, said, is) in [
        (RunName::Base, &said.runs.base, &runs.base),
        (RunName::Head, &said.runs.head, &runs.head),
        (RunName::Needed, &said.runs.needed, &runs.needed),
        (RunName::Kept, &said.runs.kept, &runs.kept),
    ] {
        found.extend(of_run(run, said, is));
    }
    found
}

fn of_run(run: RunName, said: &StatedRun, is: &StatedRun) -> Vec<RunDifference> {
    if said.tree != is.tree {
        return vec![RunDifference::Tree { run, said: said.tree.clone(), is: is.tree.clone() }];
    }
    match (&said.end, &is.end) {
        (RunEnd::Made(said), RunEnd::Made(is)) => of_made(run, said, is),
        (said, is) if said == is => Vec::new(),
        (said, is) => vec![RunDifference::End { run, said: ended(said), is: ended(is) }],
    }
}

fn ended(end: &RunEnd) -> &'static str {
    match end {
        RunEnd::Made(RunMade { result: Some(RunResult::Passed), .. }) => "passed",
        RunEnd::Made(RunMade { result: Some(RunResult::Failed), .. }) => "failed",
        RunEnd::Made(RunMade { result: None, .. }) => "no check",
        RunEnd::SameAsBase => "as the base",
        RunEnd::SameAsHead => "as the head",
        RunEnd::NotMade(_) => "not made",
    }
}

fn of_made(run: RunName, said: &RunMade, is: &RunMade) -> Vec<RunDifference> {
    let mut found = Vec::new();
    // What a full list lacks may have been cut off.
    let lacks = |list: &[String], name: &String| list.len() < NAMED && !list.contains(name);
    for name in is.failed_tests.iter().filter(|name| lacks(&said.failed_tests, name)) {
        found.push(RunDifference::Test { run, name: name.clone(), fails_now: true });
    }
    for name in said.failed_tests.iter().filter(|name| lacks(&is.failed_tests, name)) {
        found.push(RunDifference::Test { run, name: name.clone(), fails_now: false });
    }
    let named = !found.is_empty();
    for number in 0..said.checks.len().max(is.checks.len()) {
        let (said, is) = (said.checks.get(number), is.checks.get(number));
        let Some(StatedCheck { command, .. }) = said.or(is) else { continue };
        let command = || command.clone();
        let [was, now] = [said, is].map(|check| check.map_or("not run".to_owned(), exit));
        let same_command = said.map(|check| &check.command) == is.map(|check| &check.command);
        if !same_command || was != now {
            found.push(RunDifference::Check { run, command: command(), said: was, is: now });
        } else if !named {
            let [was, now] = [said, is].map(|check| check.and_then(|check| check.tests.as_ref()));
            if was.map(|tests| &tests.digest) != now.map(|tests| &tests.digest) {
                let (said, is) = (counts(was), counts(now));
                found.push(RunDifference::Tests { run, command: command(), said, is });
            }
        }
    }
    found
}

fn exit(check: &StatedCheck) -> String {
    match check.exit {
        // By which code a runner fails may differ between its versions.
        CheckExit::Failed { .. } => "failed".to_owned(),
        CheckExit::Passed | CheckExit::Signal { .. } | CheckExit::OutOfTime | CheckExit::Cancelled => {
            check.exit.to_string()
        }
    }
}

fn counts(tests: Option<&StatedTests>) -> String {
    match tests {
        None => "none named".to_owned(),
        Some(StatedTests { passed, failed, broken, skipped, .. }) => {
            format!("{passed} passed, {failed} failed, {broken} could not run, {skipped} skipped")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        CheckResult, CheckRun, NotMade, TestEnd, TestResults, Word,
        change::{stated_runs::tests::check, statement::tests::statement},
    };

    fn told(shown: &Shown, runs: &StatedRuns) -> Vec<String> {
        run_differences(&statement().predicate, shown, runs).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_same_runs_do_not_differ_although_they_took_longer() {
        let Predicate { shown, mut runs, .. } = statement().predicate;
        assert!(told(&shown, &runs).is_empty());
        let RunEnd::Made(base) = &mut runs.base.end else { panic!("it was made") };
        (base.checks[0].seconds, base.checks[0].run) = (900, CheckRun::Now);
        assert!(told(&shown, &runs).is_empty());
    }

    #[test]
    fn what_differs_is_told_by_word_run_check_and_test() {
        let Predicate { shown, runs, .. } = statement().predicate;
        let word = Shown { word: Word::Proven, ..shown.clone() };
        assert_eq!(told(&word, &runs), ["the statement says kept_not_shown, and the runs show proven"]);
        let base = |checks: &[CheckResult]| StatedRuns {
            base: StatedRun { end: RunEnd::made(checks), ..runs.base.clone() },
            ..runs.clone()
        };
        let red = check("make test", CheckExit::Failed { code: 1 }, CheckRun::Now);
        let green = check("make test", CheckExit::Passed, CheckRun::Now);
        let says = told(&shown, &base(&[green]));
        assert_eq!(says, ["base: `t::a` failed then, and does not now", "base: `make test`: failed then, passed now"]);
        let mut tests = red.tests.clone();
        tests.add("t::c", TestEnd::Failed);
        let says = told(&shown, &base(&[CheckResult { tests, ..red.clone() }]));
        assert_eq!(says, ["base: `t::c` fails now, and did not then"]);
        let mut fewer = TestResults::default();
        fewer.add("t::a", TestEnd::Failed);
        let says = told(&shown, &base(&[CheckResult { tests: fewer, ..red.clone() }]));
        assert_eq!(
            says,
            [
                "base: the tests of `make test`: 1 passed, 1 failed, 0 could not run, 0 skipped then, 0 passed, 1 failed, 0 could not run, 0 skipped now"
            ]
        );
        assert_eq!(told(&shown, &base(&[red.clone(), red]))[0], "base: `make test`: not run then, failed now");
    }

    #[test]
    fn another_tree_or_a_run_that_was_not_made_is_told() {
        let Predicate { shown, runs, .. } = statement().predicate;
        let other = StatedRuns { head: StatedRun { tree: "xx".into(), ..runs.head.clone() }, ..runs.clone() };
        assert_eq!(told(&shown, &other), ["head: the tree was bb, and is xx"]);
        let not =
            StatedRuns { needed: StatedRun { end: RunEnd::NotMade(NotMade::Off), ..runs.needed.clone() }, ..runs };
        assert_eq!(told(&shown, &not), ["needed: as the base then, not made now"]);
    }
}
