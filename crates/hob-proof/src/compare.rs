//! What follows from the four runs.

use std::collections::BTreeSet;

use hob_domain::{
    CheckExit, CheckResult, Closeness, Evidence, Names, NeedUnknown, NotMade, Shown, TestEnd, TestResults, Verdict,
    Word,
};

use crate::failure::failed;

/// One run of all checks on one tree.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Run {
    /// The checks.
    pub checks: Vec<CheckResult>,
    /// The tests that they named.
    tests: TestResults,
}

impl From<Vec<CheckResult>> for Run {
    fn from(checks: Vec<CheckResult>) -> Self {
        let tests = checks.iter().map(|check| check.tests.clone()).fold(TestResults::default(), TestResults::and);
        Self { checks, tests }
    }
}

/// A run that may coincide with another one, or was not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Made {
    /// It was made.
    Run(Run),
    /// Its tree is the base's.
    AsBase,
    /// Its tree is the head's.
    AsHead,
    /// It was not made.
    Not(NotMade),
}

/// The four runs, and the sides that the change touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runs {
    /// The base.
    pub base: Run,
    /// The head.
    pub head: Run,
    /// The old code with the new tests.
    pub needed: Made,
    /// The new code with the old tests.
    pub kept: Made,
    /// Whether code changed, beside tests and text.
    pub code: bool,
    /// Whether tests changed.
    pub tests: bool,
    /// Changed files that decide what the checks run.
    pub judges: Vec<String>,
}

impl Runs {
    /// What they show.
    pub fn shown(&self) -> Shown {
        let Self { base, head, .. } = self;
        let by = if self.names_tests() { Closeness::Tests } else { Closeness::Checks };
        let old = self.old_tests();
        let gone = |name: &&str| head.tests.end(name).is_none();
        let is_listed = !head.tests.names_failures_alone && !head.tests.is_empty();
        let removed: Vec<&str> = if is_listed { old.keys().filter(gone).collect() } else { Vec::new() };
        let skipped = head.tests.ended(TestEnd::Skipped).filter(|name| old.ran(name));
        let is_new = |name: &&str| base.tests.end(name).is_none() && !base.tests.names_failures_alone;
        let new = head.tests.tests.keys().map(String::as_str).filter(is_new);
        let (needed, broken) = (self.needed_by(), self.broken_by());
        Shown {
            word: self.word(&needed, &broken),
            by,
            needed: named(needed.into_iter()),
            broken: named(broken.into_iter()),
            removed: named(removed.into_iter().map(str::to_owned)),
            skipped: named(skipped.map(str::to_owned)),
            new: named(new.map(str::to_owned)),
            judges: named(self.judges.iter().cloned()),
        }
    }

    fn word(&self, needed: &BTreeSet<String>, broken: &BTreeSet<String>) -> Word {
        let evidence = Evidence { base: self.base.checks.clone(), head: self.head.checks.clone() };
        match evidence.verdict() {
            Verdict::Green | Verdict::RedToGreen { .. } => {}
            Verdict::NoChecks | Verdict::Undecided { .. } | Verdict::Broken { .. } | Verdict::StillRed { .. } => {
                return Word::Unshown;
            }
        }
        let has_tests = self.tests || !self.judges.is_empty();
        if !self.code && has_tests {
            return Word::OnlyTests;
        }
        if !broken.is_empty() {
            return Word::OldTestsChanged;
        }
        if let Made::Not(why) = &self.kept {
            return Word::KeptNotShown { why: why.clone() };
        }
        if !needed.is_empty() {
            return Word::Proven;
        }
        if !has_tests {
            return Word::NoTests;
        }
        let why = match &self.needed {
            Made::Not(why) => NeedUnknown::NotMade(why.clone()),
            Made::Run(run) if run.checks.iter().all(CheckResult::passed) => NeedUnknown::PassesWithout,
            Made::Run(_) => NeedUnknown::CannotRun,
            Made::AsBase | Made::AsHead => NeedUnknown::PassesWithout,
        };
        Word::NeedNotShown { why }
    }

    /// The tests that fail without the change, by what they assert, and pass with it; checks where no test is named.
    fn needed_by(&self) -> BTreeSet<String> {
        let without = match &self.needed {
            Made::Run(run) => run,
            Made::AsBase => &self.base,
            // A test of the base that the change also touched says nothing.
            Made::AsHead | Made::Not(_) => return BTreeSet::new(),
        };
        let fails = without.tests.ended(TestEnd::Failed).filter(|name| self.passes(name));
        let mut needed: BTreeSet<String> = fails.map(str::to_owned).collect();
        // Checks whose tests are named are judged by them.
        if without.tests.is_empty() {
            let fail = without.checks.iter().filter(|check| asserts(check) && self.head_passes(&check.command));
            needed.extend(fail.map(|check| check.command.clone()));
        }
        needed
    }

    /// The old tests that passed on the base and do not pass on the new code; checks where no test is named.
    fn broken_by(&self) -> BTreeSet<String> {
        let Made::Run(kept) = &self.kept else { return BTreeSet::new() };
        let before = &self.base.tests;
        let passed = |name: &&str| match before.end(name) {
            Some(end) => end == TestEnd::Passed,
            None => before.names_failures_alone,
        };
        let fails = [TestEnd::Failed, TestEnd::Broken].into_iter().flat_map(|end| kept.tests.ended(end));
        let mut broken: BTreeSet<String> = fails.filter(passed).map(str::to_owned).collect();
        for check in kept.checks.iter().filter(|check| !check.passed()) {
            let was_green = self.base.checks.iter().any(|base| base.command == check.command && base.passed());
            if broken.is_empty() && was_green {
                broken.insert(check.command.clone());
            }
        }
        broken.extend(self.vanished(kept));
        broken
    }

    /// The old tests that passed on the base and that checks which pass do not name any more, on the same tests with the new
    /// code: it ends the runner, or keeps it from them.
    fn vanished(&self, kept: &Run) -> Vec<String> {
        let before = &self.base.tests;
        if before.names_failures_alone || kept.tests.names_failures_alone {
            return Vec::new();
        }
        let is_gone = |(name, end): &(&String, &TestEnd)| **end == TestEnd::Passed && kept.tests.end(name).is_none();
        let gone: Vec<String> = before.tests.iter().filter(is_gone).map(|(name, _)| name.clone()).collect();
        // Some names have parts that differ from run to run.
        let other = kept.tests.tests.keys().filter(|name| before.end(name).is_none()).count();
        let all_pass = kept.checks.iter().all(CheckResult::passed);
        if all_pass && gone.len() > other { gone } else { Vec::new() }
    }

    /// Whether a test passes on the head.
    fn passes(&self, name: &str) -> bool {
        match self.head.tests.end(name) {
            Some(end) => end == TestEnd::Passed,
            None => self.head.tests.names_failures_alone && self.head.checks.iter().all(CheckResult::passed),
        }
    }

    fn head_passes(&self, command: &str) -> bool {
        self.head.checks.iter().any(|check| check.command == command && check.passed())
    }

    fn names_tests(&self) -> bool {
        !self.head.tests.is_empty() || !self.base.tests.is_empty()
    }

    /// The tests of the base.
    fn old_tests(&self) -> Old<'_> {
        Old(&self.base.tests)
    }
}

/// The tests of the base that ran there.
struct Old<'a>(&'a TestResults);

impl<'a> Old<'a> {
    fn keys(&self) -> impl Iterator<Item = &'a str> {
        let ran = |(_, end): &(&String, &TestEnd)| **end != TestEnd::Broken;
        self.0.tests.iter().filter(ran).map(|(name, _)| name.as_str())
    }

    fn ran(&self, name: &str) -> bool {
        matches!(self.0.end(name), Some(TestEnd::Passed | TestEnd::Failed))
    }
}

/// Whether a check that named no test failed by what it asserts, as far as its words tell.
fn asserts(check: &CheckResult) -> bool {
    let ran = match check.exit {
        // 126 and 127 are a shell's: the program cannot be run, or is not there.
        CheckExit::Failed { code } => !matches!(code, 126 | 127),
        CheckExit::Signal { .. } => true,
        CheckExit::Passed | CheckExit::OutOfTime | CheckExit::Cancelled => false,
    };
    ran && check.refusal().is_none() && failed(&check.output) == TestEnd::Failed
}

fn named(names: impl Iterator<Item = String>) -> Names {
    names.collect()
}

#[cfg(test)]
mod tests {
    use hob_domain::CheckRun;

    use super::*;
    use crate::formats::printed;

    /// A run of one check that printed this.
    fn run(code: i32, output: &str) -> Run {
        let exit = if code == 0 { CheckExit::Passed } else { CheckExit::Failed { code } };
        let (command, output) = ("make test".to_owned(), output.to_owned());
        let tests = printed(&output);
        vec![CheckResult { command, exit, output, seconds: 1, run: CheckRun::Now, refused: None, tests }].into()
    }

    /// What is shown of code and tests that changed.
    fn shown(base: Run, head: Run, needed: Run, kept: Run) -> Shown {
        let (needed, kept) = (Made::Run(needed), Made::Run(kept));
        Runs { base, head, needed, kept, code: true, tests: true, judges: Vec::new() }.shown()
    }

    const OLD: &str = "test old ... ok\n";
    const BOTH: &str = "test old ... ok\ntest new ... ok\n";

    #[test]
    fn a_change_is_proven_by_a_test_that_fails_without_it_beside_old_tests_that_pass() {
        let proven = shown(run(0, OLD), run(0, BOTH), run(101, "test old ... ok\ntest new ... FAILED\n"), run(0, OLD));
        assert_eq!((&proven.word, proven.by), (&Word::Proven, Closeness::Tests));
        assert_eq!((proven.needed.first, proven.new.first), (vec!["new".to_owned()], vec!["new".to_owned()]));
        let by_check = shown(run(0, ""), run(0, ""), run(1, "expected 2, found 1"), run(0, ""));
        assert_eq!((by_check.word, by_check.by), (Word::Proven, Closeness::Checks));
    }

    #[test]
    fn old_tests_that_the_new_code_keeps_from_running_are_named() {
        let proven = |kept: &str| {
            shown(run(0, OLD), run(0, BOTH), run(101, "test old ... ok\ntest new ... FAILED\n"), run(0, kept))
        };
        assert_eq!(proven("").word, Word::OldTestsChanged);
        assert_eq!(proven("").broken.first, ["old"]);
        // A name that differs from run to run.
        assert_eq!(proven("test old_0x7f3a ... ok\n").word, Word::Proven);
    }

    #[test]
    fn a_test_that_was_red_is_repaired_without_a_new_one() {
        let red = run(101, "test old ... FAILED\n");
        let runs = |code, tests, needed| Runs {
            base: red.clone(),
            head: run(0, OLD),
            needed,
            kept: Made::AsHead,
            code,
            tests,
            judges: Vec::new(),
        };
        assert_eq!(runs(true, false, Made::AsBase).shown().word, Word::Proven);
        // The test was bent, and nothing else.
        assert_eq!(runs(false, true, Made::AsHead).shown().word, Word::OnlyTests);
        let bent = runs(true, true, Made::Run(run(0, OLD))).shown().word;
        assert_eq!(bent, Word::NeedNotShown { why: NeedUnknown::PassesWithout });
    }

    #[test]
    fn why_the_need_is_not_shown_is_told_apart() {
        let without = |needed: Made| {
            Runs {
                base: run(0, OLD),
                head: run(0, BOTH),
                needed,
                kept: Made::Run(run(0, OLD)),
                code: true,
                tests: true,
                judges: Vec::new(),
            }
            .shown()
            .word
        };
        for (needed, why) in [
            (Made::Run(run(0, BOTH)), NeedUnknown::PassesWithout),
            (
                Made::Run(run(101, "error[E0425]: cannot find function\nerror: could not compile `site`\n")),
                NeedUnknown::CannotRun,
            ),
            (Made::Run(run(127, "sh: 1: pytest: not found\n")), NeedUnknown::CannotRun),
            (Made::Run(run(1, "ERROR tests/a.py - ImportError: no name\n")), NeedUnknown::CannotRun),
            (Made::Not(NotMade::NoTime), NeedUnknown::NotMade(NotMade::NoTime)),
        ] {
            assert_eq!(without(needed), Word::NeedNotShown { why });
        }
    }

    #[test]
    fn an_old_test_that_fails_on_the_new_code_is_named() {
        let old = "test a ... ok\ntest b ... ok\ntest c ... ok\n";
        let kept = "test a ... FAILED\ntest b ... ok\ntest c ... FAILED\n";
        let head = "test a ... ok\ntest b ... ignored\n";
        let shown = shown(run(0, old), run(0, head), run(0, head), run(101, kept));
        assert_eq!(shown.word, Word::OldTestsChanged);
        assert_eq!(
            (shown.broken.first, shown.removed.first),
            (vec!["a".to_owned(), "c".to_owned()], vec!["c".to_owned()])
        );
        assert_eq!(shown.skipped.first, ["b"]);
    }

    #[test]
    fn an_emptied_makefile_is_seen_by_the_old_one() {
        let kept = run(2, "FAIL: test_a (tests.T.test_a)\n---\nAssertionError\n---\nRan 3 tests in 0.1s\n");
        let base = run(0, "...\nRan 3 tests in 0.1s\n\nOK\n");
        let runs = Runs {
            base,
            head: run(0, ""),
            needed: Made::Run(run(0, "")),
            kept: Made::Run(kept),
            code: true,
            tests: false,
            judges: vec!["Makefile".to_owned()],
        };
        let shown = runs.shown();
        assert_eq!(
            (shown.word.clone(), shown.broken.first.as_slice()),
            (Word::OldTestsChanged, &["tests.T.test_a".to_owned()][..])
        );
        assert!(shown.asks_for_a_look() && shown.judges.first == ["Makefile"]);
    }

    #[test]
    fn without_tests_or_with_checks_that_fail_nothing_is_claimed() {
        let no_tests = Runs {
            base: run(0, OLD),
            head: run(0, OLD),
            needed: Made::AsBase,
            kept: Made::AsHead,
            code: true,
            tests: false,
            judges: Vec::new(),
        };
        assert_eq!(no_tests.shown().word, Word::NoTests);
        let red = Runs { head: run(1, "test old ... FAILED\n"), ..no_tests.clone() };
        assert_eq!(red.shown().word, Word::Unshown);
        let unknown =
            Runs { tests: true, kept: Made::Not(NotMade::NoTime), needed: Made::Run(run(0, OLD)), ..no_tests };
        assert_eq!(unknown.shown().word, Word::KeptNotShown { why: NotMade::NoTime });
    }
}
