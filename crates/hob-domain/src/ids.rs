//! Identifiers, each a separate type, so that an issue's number cannot be used as a pull request's.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A point in time by the forge's clock.
pub type Timestamp = chrono::DateTime<chrono::Utc>;

/// The beginning of every comment of Hob's; a comment with it is never an answer, regardless of its author.
pub const OWN_MARK: &str = "<!-- hob:";

macro_rules! identifier {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl From<$inner> for $name {
            fn from(inner: $inner) -> Self {
                Self(inner)
            }
        }
    };
}

macro_rules! number {
    ($(#[$doc:meta])* $name:ident) => {
        identifier!($(#[$doc])* $name(u64));
        impl Copy for $name {}
    };
}

macro_rules! text {
    ($(#[$doc:meta])* $name:ident) => {
        identifier!($(#[$doc])* $name(String));

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }

        impl $name {
            /// The text itself.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
    };
}

number!(
    /// An issue's number within its repository.
    IssueNumber
);
number!(
    /// A pull request's number within its repository.
    PullNumber
);
number!(
    /// A comment's id, unique on the forge.
    CommentId
);
number!(
    /// An issue event's id, unique on the forge; events are ordered by it.
    EventId
);
number!(
    /// The fencing token of a lease; it grows by one with each acquisition.
    Generation
);
text!(
    /// An account's name; [`Login::is`] compares it ignoring case.
    Login
);
text!(
    /// One worker process, unique over machines and restarts.
    WorkerId
);
text!(
    /// Random text that makes one claim's commit unlike any other's.
    Nonce
);
text!(
    /// A git object id in hexadecimal.
    Sha
);
text!(
    /// One run of an agent on an issue.
    RunId
);
text!(
    /// One exact action of an agent, as a hash.
    ActionMark
);

impl Login {
    /// Whether this is the account `other`; the forge's names never differ only by case.
    pub fn is(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }
}

impl Sha {
    /// The first ten digits: enough for people.
    pub fn short(&self) -> &str {
        self.0.get(..10).unwrap_or(&self.0)
    }
}

impl IssueNumber {
    /// `issue 7`; 0 is a task that is given by hand.
    pub fn in_words(self) -> String {
        if self.0 == 0 { "the task".to_owned() } else { format!("issue {self}") }
    }
}

impl FromStr for IssueNumber {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.trim_start_matches('#').parse() {
            Ok(number) if number > 0 => Ok(Self(number)),
            Ok(_) | Err(_) => Err(format!("`{text}` is not an issue number such as `12`")),
        }
    }
}

/// A repository's name, `owner/name`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RepoName {
    owner: String,
    name: String,
}

/// A text that is not a repository's name.
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

    /// Whether this is the repository `other`: the forge's names never differ only by case.
    pub fn is(&self, other: &Self) -> bool {
        self.owner.eq_ignore_ascii_case(&other.owner) && self.name.eq_ignore_ascii_case(&other.name)
    }

    /// Its address on the git server at this web address.
    pub fn on_git_server(&self, server: &str) -> String {
        format!("{}/{self}.git", server.trim_end_matches('/'))
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

    #[test]
    fn an_issue_number_may_have_its_hash() {
        assert_eq!("#12".parse(), Ok(IssueNumber(12)));
        assert!("0".parse::<IssueNumber>().is_err() && "twelve".parse::<IssueNumber>().is_err());
    }
}
