//! The name of a profile.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// The longest name.
const LONGEST: usize = 40;

/// A profile's name: small letters, digits, `-` and `_`, the first a letter, at most 40.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ProfileName(String);

/// A text that names no profile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a profile name: at most 40 lower-case letters, digits, `-` and `_`, beginning with a letter")]
pub struct InvalidProfileName(String);

impl ProfileName {
    /// The text itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProfileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for ProfileName {
    type Err = InvalidProfileName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fits = text.len() <= LONGEST
            && text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_'));
        // A hostile one may be as long as its file.
        let shown = || text.chars().take(LONGEST).flat_map(char::escape_default).collect();
        if fits { Ok(Self(text.to_owned())) } else { Err(InvalidProfileName(shown())) }
    }
}

impl TryFrom<String> for ProfileName {
    type Error = InvalidProfileName;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<ProfileName> for String {
    fn from(name: ProfileName) -> Self {
        name.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row M10.
    #[test]
    fn a_name_is_plain_and_short() {
        for good in ["a", "code", "a-1_b", &"a".repeat(40)] {
            assert_eq!(good.parse::<ProfileName>().unwrap().as_str(), good);
        }
        for bad in ["", "1a", "-a", "A", "a b", "../a", "a/b", "a.b", "ä", "a\n", &"a".repeat(41)] {
            assert!(bad.parse::<ProfileName>().is_err(), "{bad:?}");
        }
        let error = "\u{1b}[2J".repeat(1_000).parse::<ProfileName>().unwrap_err().to_string();
        assert!(error.len() < 700 && !error.contains('\u{1b}'), "{error}");
    }
}
