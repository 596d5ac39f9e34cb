//! The four runs of the checks, by the statement about the last published head.

use hob_domain::{NotMade, RunEnd, RunResult, StatedCheck, StatedRun, Statement};
use hob_text::count;
use hob_words::status_line;
use serde::Serialize;

use crate::cli::flight::told::{Cleaner, Told};

/// What the statement says.
#[derive(Debug, Serialize)]
pub(super) struct Proof {
    says: Told,
    runs: Vec<Run>,
    /// Tests and files that the word rests on, or that a person should look at.
    names: Vec<Named>,
}

/// One of the four runs.
#[derive(Debug, Serialize)]
struct Run {
    name: &'static str,
    of: &'static str,
    tree: Told,
    /// The word of its class. The new tests are to fail on the old code, so that run is neutral.
    class: &'static str,
    end: &'static str,
    checks: Vec<Check>,
    failed: Vec<Told>,
}

#[derive(Debug, Serialize)]
struct Check {
    command: Told,
    passed: bool,
    end: Told,
}

#[derive(Debug, Serialize)]
struct Named {
    name: &'static str,
    all: usize,
    first: Vec<Told>,
}

impl Proof {
    /// What this statement says.
    pub(super) fn of(cleaner: &Cleaner, statement: &Statement) -> Self {
        let said = &statement.predicate;
        let runs = [
            ("base", "the old code with its tests", &said.runs.base),
            ("head", "the new code with its tests", &said.runs.head),
            ("needed", "the new tests on the old code", &said.runs.needed),
            ("kept", "the old tests on the new code", &said.runs.kept),
        ];
        let shown = &said.shown;
        let names = [
            ("tests that fail without the change and pass with it", &shown.needed),
            ("tests that passed before and fail now", &shown.broken),
            ("tests that are gone", &shown.removed),
            ("tests that are skipped now", &shown.skipped),
            ("new tests", &shown.new),
            ("changed files that decide what the checks run", &shown.judges),
        ];
        let names = names.into_iter().filter(|(_, names)| !names.is_empty()).map(|(name, names)| Named {
            name,
            all: names.all,
            first: names.first.iter().map(|name| cleaner.line(name)).collect(),
        });
        Self {
            says: cleaner.line(&status_line(shown)),
            runs: runs.map(|(name, of, run)| Run::new(cleaner, name, of, run)).into(),
            names: names.collect(),
        }
    }
}

impl Run {
    fn new(cleaner: &Cleaner, name: &'static str, of: &'static str, run: &StatedRun) -> Self {
        let (class, end) = match &run.end {
            RunEnd::Made(made) => match made.result {
                Some(RunResult::Passed) => ("passed", "passed"),
                Some(RunResult::Failed) if name == "needed" => ("neutral", "failed"),
                Some(RunResult::Failed) => ("failed", "failed"),
                None => ("neutral", "there was no check to run"),
            },
            RunEnd::SameAsBase => ("neutral", "its tree is the base's"),
            RunEnd::SameAsHead => ("neutral", "its tree is the head's"),
            RunEnd::NotMade(why) => ("neutral", not_made(why)),
        };
        let made = match &run.end {
            RunEnd::Made(made) => Some(made),
            RunEnd::SameAsBase | RunEnd::SameAsHead | RunEnd::NotMade(_) => None,
        };
        let checks = made.into_iter().flat_map(|made| &made.checks).map(|check| Check::new(cleaner, check));
        let failed = made.into_iter().flat_map(|made| &made.failed_tests).map(|test| cleaner.line(test));
        let tree = cleaner.line(run.tree.short());
        Self { name, of, tree, class, end, checks: checks.collect(), failed: failed.collect() }
    }
}

impl Check {
    fn new(cleaner: &Cleaner, check: &StatedCheck) -> Self {
        let mut end = format!("{} in {} s", check.exit, check.seconds);
        if let Some(tests) = &check.tests {
            let all = tests.passed + tests.failed + tests.broken + tests.skipped;
            end.push_str(&format!(": {} of {} passed", tests.passed, count(all, "test")));
        }
        if let Some(refused) = &check.refused {
            end.push_str(&format!("; the sandbox refused it {refused}"));
        }
        let passed = check.exit == hob_domain::CheckExit::Passed;
        Self { command: cleaner.line(&check.command), passed, end: cleaner.line(&end) }
    }
}

fn not_made(why: &NotMade) -> &'static str {
    match why {
        NotMade::NoTime => "not made: its time was over",
        NotMade::Mixed { .. } => "not made: files hold code and tests that cannot be told apart",
        NotMade::SetUpFailed => "not made: a set-up step failed on its tree",
        NotMade::Refused => "not made: the sandbox kept a check from passing",
        NotMade::Off => "not made: a check does not pass on the head, or the proof is off",
    }
}
