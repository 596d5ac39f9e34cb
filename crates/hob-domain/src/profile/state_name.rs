//! The name of a state of an investigation.

use std::{fmt, str::FromStr};

use serde::Serialize;

/// The longest name.
const LONGEST: usize = 40;

/// A state's name: letters, digits, `_` and `-`, at most 40. It names no file and no label, so that capitals are fine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct StateName(String);

/// A text that cannot name a state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a state name: at most {LONGEST} letters, digits, `_` and `-`")]
pub struct InvalidStateName(String);

impl StateName {
    /// The text itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for StateName {
    type Err = InvalidStateName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let fits = (1..=LONGEST).contains(&text.len()) && text.chars().all(is_plain);
        // A hostile one may be as long as its file.
        let shown = || text.chars().take(LONGEST).flat_map(char::escape_default).collect();
        if fits { Ok(Self(text.to_owned())) } else { Err(InvalidStateName(shown())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row P8: the design's own states.
    #[test]
    fn a_state_may_have_capitals() {
        for good in ["Intake", "Normalize", "intake", "Root_Cause-2", "1st", &"a".repeat(40)] {
            assert_eq!(good.parse::<StateName>().unwrap().as_str(), good);
        }
        for bad in ["", "a b", "../a", "a.b", "\u{e4}", "a\n", &"a".repeat(41)] {
            let said = bad.parse::<StateName>().unwrap_err().to_string();
            assert!(said.contains("is not a state name") && !said.contains("profile"), "{said}");
        }
        let error = "\u{1b}[2J".repeat(1_000).parse::<StateName>().unwrap_err().to_string();
        assert!(error.len() < 700 && !error.contains('\u{1b}'), "{error}");
    }
}
