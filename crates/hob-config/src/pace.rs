//! `forge.pace`: how fast Hob writes to the forge.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How fast Hob writes to the forge: `github`, `github/4`, `unlimited`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Pace {
    /// As GitHub asks for, shared by so many processes that have one identity.
    Github(u32),
    /// As fast as it can: for a forge of one's own.
    Unlimited,
}

/// What an attempt needs in an hour, 36 of them to keep its lease, and in a minute; no share is less.
const LEAST_PER_HOUR: u32 = 60;
const LEAST_PER_MINUTE: u32 = 10;

/// A text that names another pace.
#[derive(Debug, thiserror::Error)]
#[error("write `github`, `github/N` for one of N processes with one identity, or `unlimited`")]
pub struct InvalidPace;

impl TryFrom<String> for Pace {
    type Error = InvalidPace;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match text.split_once('/') {
            None if text == "github" => Ok(Self::Github(1)),
            None if text == "unlimited" => Ok(Self::Unlimited),
            Some(("github", parts)) => {
                parts.parse().ok().filter(|parts| *parts > 0).map(Self::Github).ok_or(InvalidPace)
            }
            Some(_) | None => Err(InvalidPace),
        }
    }
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Github(1) => f.write_str("github"),
            Self::Github(parts) => write!(f, "github/{parts}"),
            Self::Unlimited => f.write_str("unlimited"),
        }
    }
}

impl From<Pace> for String {
    fn from(pace: Pace) -> Self {
        pace.to_string()
    }
}

impl Pace {
    /// The part of the writes within a minute and within an hour that this process has; 0 is not limited. `None` if they are neither
    /// spaced nor counted.
    pub(super) fn share(self, per_minute: u32, per_hour: u32) -> Option<(u32, u32)> {
        let share = |all: u32, parts: u32, least: u32| (all / parts).max(least).min(all);
        match self {
            Self::Github(parts) => {
                Some((share(per_minute, parts, LEAST_PER_MINUTE), share(per_hour, parts, LEAST_PER_HOUR)))
            }
            Self::Unlimited => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use crate::Settings;

    #[test]
    fn processes_with_one_identity_share_what_the_forge_allows_it() {
        for (pace, interval, minute, hour) in [
            ("github", 1000, 80, 500),
            ("github/4", 1000, 20, 125),
            ("github/100", 1000, 10, 60),
            ("unlimited", 0, 0, 0),
        ] {
            let flag = ("forge.pace".to_owned(), pace.to_owned());
            let forge = Settings::load(None, HashMap::new(), &[flag]).unwrap().forge;
            assert_eq!(
                (forge.write_interval_ms, forge.writes_per_minute, forge.writes_per_hour),
                (interval, minute, hour)
            );
            assert_eq!(forge.pace.to_string(), pace);
        }
        for pace in ["github/0", "github/", "gitlab/2", "fast", "github/x"] {
            let flag = ("forge.pace".to_owned(), pace.to_owned());
            let error = Settings::load(None, HashMap::new(), &[flag]).unwrap_err().to_string();
            assert!(error.contains("write `github`, `github/N` for one of N processes"), "{error}");
        }
    }
}
