//! The proof of a piece of work: the repository's checks on the base and on the head, and the verdict.

use serde::{Deserialize, Serialize};

use crate::{Rate, TestResults, failure_mark};

/// How one check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "exit", rename_all = "snake_case")]
pub enum CheckExit {
    /// Exit code 0.
    Passed,
    /// Another exit code.
    Failed {
        /// The code.
        code: i32,
    },
    /// A signal ended it.
    Signal {
        /// The signal's number.
        signal: i32,
    },
    /// It ran out of time.
    OutOfTime,
    /// The run was cancelled.
    Cancelled,
}

impl std::fmt::Display for CheckExit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Passed => f.write_str("passed"),
            Self::Failed { code } => write!(f, "exit code {code}"),
            Self::Signal { signal } => write!(f, "signal {signal}"),
            Self::OutOfTime => f.write_str("timed out"),
            Self::Cancelled => f.write_str("cancelled"),
        }
    }
}

/// When and how often a check was run.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckRun {
    /// For this piece of work.
    #[default]
    Now,
    /// Earlier, for another piece of work on the same commit.
    Earlier,
    /// Several times, since it failed.
    Again {
        /// How often it failed on this commit.
        here: Rate,
        /// How often it fails on unchanged code.
        base: Rate,
    },
}

/// One check, run once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    /// The shell command.
    pub command: String,
    /// How it ended.
    #[serde(flatten)]
    pub exit: CheckExit,
    /// The head and the tail of its output, standard output first; untrusted text.
    pub output: String,
    /// How long it took.
    pub seconds: u64,
    /// When it was run.
    #[serde(default)]
    pub run: CheckRun,
    /// What the sandbox refused it, with the counts, as a part of a sentence; untrusted text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// The tests that it named.
    #[serde(skip)]
    pub tests: TestResults,
}

/// Words that programs print about a refused call, in lower case.
const WORDS_OF_REFUSAL: [&str; 14] = [
    "connection refused",
    "could not resolve",
    "eacces",
    "eai_again",
    "econnrefused",
    "enetunreach",
    "enotfound",
    "eperm",
    "network is unreachable",
    "name resolution",
    "no such host",
    "operation not permitted",
    "permission denied",
    "permissionerror",
];

impl CheckResult {
    /// Whether it passed.
    pub fn passed(&self) -> bool {
        self.exit == CheckExit::Passed
    }

    /// Whether it ended without passing.
    pub fn failed(&self) -> bool {
        !self.passed() && !self.undecided()
    }

    /// Whether its end tells something of the code.
    pub fn says_something(&self) -> bool {
        !self.undecided() && self.refusal().is_none()
    }

    /// What the sandbox refused it, if that is why it failed. Many programs make calls that they can do without, so a
    /// refused call is only a reason if the output mentions such a failure, too.
    pub fn refusal(&self) -> Option<&str> {
        let refused = self.refused.as_deref().filter(|_| self.failed())?;
        let own = |line: &&str| !line.starts_with("hob: ");
        let said = self.output.lines().filter(own).collect::<Vec<_>>().join("\n").to_lowercase();
        WORDS_OF_REFUSAL.iter().any(|word| said.contains(word)).then_some(refused)
    }

    /// Whether it has no result.
    fn undecided(&self) -> bool {
        match self.exit {
            CheckExit::OutOfTime | CheckExit::Cancelled => true,
            CheckExit::Passed | CheckExit::Failed { .. } | CheckExit::Signal { .. } => false,
        }
    }
}

/// How many checks passed on the head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckTally {
    /// Checks that passed.
    pub passed: usize,
    /// Checks that ran.
    pub run: usize,
}

/// The checks before and after the work, matched by command.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// On the commit that the work starts from; empty if they were not run there.
    pub base: Vec<CheckResult>,
    /// On the work.
    pub head: Vec<CheckResult>,
}

/// The verdict of the evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// No check was run on the head: nothing is proven.
    NoChecks,
    /// A check ran out of time or was cancelled on the head, so there is no answer.
    Undecided {
        /// The commands without an answer.
        commands: Vec<String>,
    },
    /// Every check passes, before and after; or only after is known.
    Green,
    /// Every check passes now, and these failed before.
    RedToGreen {
        /// The commands that the work repaired.
        repaired: Vec<String>,
    },
    /// Checks fail now that did not fail before.
    Broken {
        /// The commands that the work broke.
        commands: Vec<String>,
    },
    /// Checks fail now, and all of them failed before too.
    StillRed {
        /// The commands.
        commands: Vec<String>,
    },
}

impl Evidence {
    /// Judges the work by its checks.
    pub fn verdict(&self) -> Verdict {
        let names = |results: Vec<&CheckResult>| results.iter().map(|result| result.command.clone()).collect();
        if self.head.is_empty() {
            return Verdict::NoChecks;
        }
        let failing: Vec<_> = self.head.iter().filter(|result| result.failed()).collect();
        let broken: Vec<_> = failing.iter().copied().filter(|result| !self.failed_before(&result.command)).collect();
        if !broken.is_empty() {
            return Verdict::Broken { commands: names(broken) };
        }
        let undecided: Vec<_> = self.head.iter().filter(|result| result.undecided()).collect();
        if !undecided.is_empty() {
            return Verdict::Undecided { commands: names(undecided) };
        }
        if !failing.is_empty() {
            return Verdict::StillRed { commands: names(failing) };
        }
        let repaired: Vec<_> = self.head.iter().filter(|result| self.failed_before(&result.command)).collect();
        if repaired.is_empty() { Verdict::Green } else { Verdict::RedToGreen { repaired: names(repaired) } }
    }

    /// How many checks passed on the work, and how many ran.
    pub fn tally(&self) -> CheckTally {
        let passed = self.head.iter().filter(|check| check.passed()).count();
        CheckTally { passed, run: self.head.len() }
    }

    /// The checks that fail on the work and did not fail before: the work has to fix these.
    pub fn worse(&self) -> Vec<CheckResult> {
        self.head.iter().filter(|check| !check.passed() && !self.failed_before(&check.command)).cloned().collect()
    }

    /// The checks that failed before and now fail in another way, because the work touches what they check. Numbers are
    /// ignored.
    pub fn red_otherwise(&self) -> Vec<CheckResult> {
        let otherwise = |check: &&CheckResult| {
            let before = self.base.iter().find(|before| before.command == check.command && before.failed());
            before.is_some_and(|before| failure_mark(&before.output, "") != failure_mark(&check.output, ""))
        };
        self.head.iter().filter(|check| check.failed()).filter(otherwise).cloned().collect()
    }

    /// A check without a result before did not fail before, so the work has to fix it.
    fn failed_before(&self, command: &str) -> bool {
        self.base.iter().any(|result| result.command == command && result.failed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RED: CheckExit = CheckExit::Failed { code: 1 };

    fn results(exits: &[CheckExit]) -> Vec<CheckResult> {
        let one = |(n, exit): (usize, &CheckExit)| CheckResult {
            command: format!("check{n}"),
            exit: *exit,
            output: String::new(),
            seconds: 1,
            run: CheckRun::Now,
            refused: None,
            tests: TestResults::default(),
        };
        exits.iter().enumerate().map(one).collect()
    }

    #[test]
    fn what_fails_as_before_is_told_from_what_the_work_touches() {
        let said = |output: &str| CheckResult { output: output.to_owned(), ..results(&[RED]).remove(0) };
        for (before, after, otherwise) in
            [("3 tests failed in 0.2 s", "3 tests failed in 0.3 s", 0), ("no such file", "the word is missing", 1)]
        {
            let evidence = Evidence { base: vec![said(before)], head: vec![said(after)] };
            assert_eq!((evidence.red_otherwise().len(), evidence.worse().len()), (otherwise, 0), "{before} {after}");
        }
        let worse = Evidence { base: results(&[CheckExit::Passed]), head: results(&[RED]) };
        assert_eq!((worse.red_otherwise().len(), worse.worse().len()), (0, 1));
    }

    #[test]
    fn the_verdict_follows_from_before_and_after() {
        let first = || vec!["check0".to_owned()];
        let green = CheckExit::Passed;
        for (base, head, verdict) in [
            (&[][..], &[][..], Verdict::NoChecks),
            (&[green], &[green], Verdict::Green),
            (&[], &[green], Verdict::Green),
            (&[RED, green], &[green, green], Verdict::RedToGreen { repaired: first() }),
            (&[green], &[RED], Verdict::Broken { commands: first() }),
            (&[], &[RED], Verdict::Broken { commands: first() }),
            (&[CheckExit::OutOfTime], &[RED], Verdict::Broken { commands: first() }),
            (&[RED], &[RED], Verdict::StillRed { commands: first() }),
            (&[RED], &[CheckExit::Signal { signal: 9 }], Verdict::StillRed { commands: first() }),
            (&[green], &[CheckExit::OutOfTime], Verdict::Undecided { commands: first() }),
            (&[green], &[CheckExit::Cancelled], Verdict::Undecided { commands: first() }),
        ] {
            let evidence = Evidence { base: results(base), head: results(head) };
            assert_eq!(evidence.verdict(), verdict, "{base:?} {head:?}");
        }
    }
}
