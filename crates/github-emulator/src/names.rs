//! Names of accounts, repositories and commits. They are the emulator's own: it shares no types with its clients.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A point in time by the forge's clock.
pub type Timestamp = chrono::DateTime<chrono::Utc>;

/// The suffix of a bot's name in the REST API.
const BOT: &str = "[bot]";

/// An account's name. Compared without regard to case by [`Login::is`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Login(pub String);

impl Login {
    /// The text itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the account `other`: the forge's names differ by more than case.
    pub fn is(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }

    /// The name of an App's account in the REST API, as of `renovate[bot]`, which the payloads of `octokit/webhooks` have.
    pub(crate) fn of_bot(slug: &str) -> Self {
        Self(format!("{slug}{BOT}"))
    }

    /// The name without a bot's suffix, as GraphQL and addresses of pages have it.
    pub(crate) fn slug(&self) -> &str {
        self.0.strip_suffix(BOT).unwrap_or(&self.0)
    }
}

impl fmt::Display for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<String> for Login {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Login {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

/// A repository's name, `owner/name`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RepoName {
    owner: String,
    name: String,
}

/// A text that names no repository.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a repository: expected `owner/name`")]
pub struct InvalidRepoName(String);

impl RepoName {
    /// The account that owns it.
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// Its name below the owner.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether this is `owner/name`, without regard to case.
    pub(crate) fn is(&self, owner: &str, name: &str) -> bool {
        self.owner.eq_ignore_ascii_case(owner) && self.name.eq_ignore_ascii_case(name)
    }
}

impl fmt::Display for RepoName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.owner, self.name)
    }
}

impl FromStr for RepoName {
    type Err = InvalidRepoName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let plain = |part: &str| {
            !part.is_empty()
                && part.len() <= 100
                && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
                && !part.chars().all(|c| c == '.')
        };
        match text.split_once('/') {
            Some((owner, name)) if plain(owner) && plain(name) => {
                Ok(Self { owner: owner.to_owned(), name: name.to_owned() })
            }
            Some(_) | None => Err(InvalidRepoName(text.to_owned())),
        }
    }
}

impl TryFrom<String> for RepoName {
    type Error = InvalidRepoName;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<RepoName> for String {
    fn from(repo: RepoName) -> Self {
        repo.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_is_an_owner_and_a_name() {
        for good in ["a/b", "acme/site.github.io", "A-1/b_c"] {
            assert_eq!(good.parse::<RepoName>().unwrap().to_string(), good);
        }
        for bad in ["", "a", "a/", "/b", "a/b/c", "a b/c", "../..", "a/..", "a/b\n"] {
            assert!(bad.parse::<RepoName>().is_err(), "{bad:?}");
        }
    }
}
