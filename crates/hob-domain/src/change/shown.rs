//! What the four runs of the checks show about a change: on the base, on the head, the new tests on the old code (*needed*) and
//! the old tests on the new code (*kept*). `hob-proof` finds it; `docs/proof.md` says what each word claims.

use serde::{Deserialize, Serialize};

/// Names that a list keeps.
const NAMES_MAX: usize = 20;

/// The one word about a change, where every check passes on the head or failed before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "word", rename_all = "snake_case")]
pub enum Word {
    /// The checks pass, the new or repaired tests fail without the change by what they assert, and the old tests pass with it.
    Proven,
    /// The checks and the old tests pass, and the new tests do not show that the change is needed.
    NeedNotShown {
        /// Why not.
        why: NeedUnknown,
    },
    /// The checks pass, and old tests fail on the new code.
    OldTestsChanged,
    /// The checks pass, and whether the old tests do was not found out.
    KeptNotShown {
        /// Why not.
        why: NotMade,
    },
    /// Only the test side changed.
    OnlyTests,
    /// No test changed, and none was repaired.
    NoTests,
    /// The checks do not pass, or there are none: the runs show nothing more.
    Unshown,
}

impl Word {
    /// Its name in statements and in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::NeedNotShown { .. } => "need_not_shown",
            Self::OldTestsChanged => "old_tests_changed",
            Self::KeptNotShown { .. } => "kept_not_shown",
            Self::OnlyTests => "only_tests",
            Self::NoTests => "no_tests",
            Self::Unshown => "unshown",
        }
    }
}

/// How much the runs show for a change, the most first. Candidates are compared by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// Its tests need it, and the old ones pass.
    Proven,
    /// Its checks pass.
    Green,
    /// Its checks pass, and old tests fail on it.
    OldTestsChanged,
    /// Nothing: there are no checks, or they failed before and still do.
    Unshown,
}

/// Why the need of a change is not shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum NeedUnknown {
    /// The new tests pass without it.
    PassesWithout,
    /// The new tests do not compile, or name what only the change adds.
    CannotRun,
    /// The run was not made.
    NotMade(NotMade),
}

/// Why a run was not made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "notMade", rename_all = "snake_case")]
pub enum NotMade {
    /// Its time was over.
    NoTime,
    /// Files hold code and tests that cannot be told apart.
    Mixed {
        /// The files.
        files: Names,
    },
    /// A set-up step failed on its tree.
    SetUpFailed,
    /// The sandbox kept a check from passing.
    Refused,
    /// The setting `proof_time` is 0s, or a check does not pass on the head.
    Off,
}

/// Some names of many.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names {
    /// The first ones.
    pub first: Vec<String>,
    /// How many there are.
    pub all: usize,
}

impl FromIterator<String> for Names {
    fn from_iter<T: IntoIterator<Item = String>>(names: T) -> Self {
        let mut kept = Self::default();
        for name in names {
            if kept.first.len() < NAMES_MAX {
                kept.first.push(name);
            }
            kept.all += 1;
        }
        kept
    }
}

impl Names {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.all == 0
    }

    /// The names that are not among the first ones of `others`.
    #[must_use]
    pub fn without(&self, others: &Self) -> Self {
        let first: Vec<_> = self.first.iter().filter(|name| !others.first.contains(name)).cloned().collect();
        Self { all: self.all - (self.first.len() - first.len()), first }
    }
}

/// How closely results could be compared.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Closeness {
    /// Test by test.
    Tests,
    /// Check by check: the checks do not name their tests.
    #[default]
    Checks,
}

/// What the runs show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// The word.
    #[serde(flatten)]
    pub word: Word,
    /// How closely.
    pub by: Closeness,
    /// What fails without the change and passes with it: tests, or checks where those name none.
    pub needed: Names,
    /// Old tests, or checks of old tests, that passed on the base and fail on the new code.
    pub broken: Names,
    /// Tests that the head does not have any more.
    pub removed: Names,
    /// Tests that ran on the base and are skipped on the head.
    pub skipped: Names,
    /// Tests that only the head has.
    pub new: Names,
    /// Changed files that decide what the checks run.
    pub judges: Names,
}

impl Shown {
    /// How much they show.
    pub fn strength(&self) -> Strength {
        match self.word {
            Word::Proven => Strength::Proven,
            Word::NeedNotShown { .. } | Word::KeptNotShown { .. } | Word::OnlyTests | Word::NoTests => Strength::Green,
            Word::OldTestsChanged => Strength::OldTestsChanged,
            Word::Unshown => Strength::Unshown,
        }
    }

    /// Whether a person should look at how the change is tested before anything else.
    pub fn asks_for_a_look(&self) -> bool {
        !self.judges.is_empty() || !self.removed.is_empty() || !self.skipped.is_empty() || !self.broken.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_read_as_it_was_written() {
        let names: Names = (0..30).map(|n| format!("test {n}")).collect();
        assert_eq!((names.first.len(), names.all), (20, 30));
        for word in [
            Word::Proven,
            Word::NeedNotShown { why: NeedUnknown::NotMade(NotMade::Mixed { files: names.clone() }) },
            Word::KeptNotShown { why: NotMade::NoTime },
            Word::OldTestsChanged,
            Word::OnlyTests,
            Word::NoTests,
            Word::Unshown,
        ] {
            assert_eq!(serde_json::to_value(&word).unwrap()["word"], word.name());
            let shown = Shown {
                word,
                by: Closeness::Tests,
                needed: names.clone(),
                broken: Names::default(),
                removed: Names::default(),
                skipped: Names::default(),
                new: Names::default(),
                judges: Names::default(),
            };
            let text = serde_json::to_string(&shown).unwrap();
            assert_eq!(serde_json::from_str::<Shown>(&text).unwrap(), shown, "{text}");
            assert!(!shown.asks_for_a_look());
        }
    }
}
