//! `publish.author` and `publish.signing`, which are texts of more than one part.

use std::{convert::Infallible, fmt, path::PathBuf, str::FromStr};

use serde::{Deserialize, Serialize};

/// Author and committer of Hob's commits, written as git does: `Hob`, or `Hob <hob@example.org>`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Author {
    /// Author and committer.
    pub name: String,
    /// Their address. `None` for the one that the forge keeps for the account.
    pub email: Option<String>,
}

/// A text that names no author.
#[derive(Debug, thiserror::Error)]
#[error("write `NAME` or `NAME <ADDRESS>`")]
pub struct InvalidAuthor;

impl TryFrom<String> for Author {
    type Error = InvalidAuthor;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let (name, email) = match text.split_once('<') {
            Some((name, rest)) => (name, Some(rest.trim_end().strip_suffix('>').ok_or(InvalidAuthor)?)),
            None => (text.as_str(), None),
        };
        let is_plain = |part: &str| !part.trim().is_empty() && !part.contains(['<', '>', '\n']);
        if !is_plain(name) || !email.is_none_or(is_plain) {
            return Err(InvalidAuthor);
        }
        Ok(Self { name: name.trim().to_owned(), email: email.map(|email| email.trim().to_owned()) })
    }
}

impl From<Author> for String {
    fn from(Author { name, email }: Author) -> Self {
        email.map_or_else(|| name.clone(), |email| format!("{name} <{email}>"))
    }
}

/// How commits are signed: `none`, `api`, or the path of an SSH key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Signing {
    /// Without a signature.
    None,
    /// By the forge, which creates the commits again for the App.
    Api,
    /// By this private SSH key.
    Ssh(PathBuf),
}

impl FromStr for Signing {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "none" => Self::None,
            "api" => Self::Api,
            path => Self::Ssh(path.into()),
        })
    }
}

impl From<String> for Signing {
    fn from(text: String) -> Self {
        let Ok(signing) = text.parse();
        signing
    }
}

impl fmt::Display for Signing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Api => f.write_str("api"),
            Self::Ssh(path) => write!(f, "{}", path.display()),
        }
    }
}

impl From<Signing> for String {
    fn from(signing: Signing) -> Self {
        signing.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_author_is_written_as_git_does() {
        for (text, name, email) in [
            ("Hob", "Hob", None),
            ("Hob  <hob@example.org>", "Hob", Some("hob@example.org")),
            ("A B <a@b> ", "A B", Some("a@b")),
        ] {
            let author = Author::try_from(text.to_owned()).unwrap();
            assert_eq!((author.name.as_str(), author.email.as_deref()), (name, email), "{text}");
        }
        for text in ["", " ", "<a@b>", "Hob <a@b", "Hob <>", "Hob <a> b", "A > B"] {
            assert!(Author::try_from(text.to_owned()).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_neither_none_nor_api_is_a_key() {
        for (text, signing) in
            [("none", Signing::None), ("api", Signing::Api), ("/keys/hob", Signing::Ssh("/keys/hob".into()))]
        {
            assert_eq!((Signing::from(text.to_owned()), signing.to_string().as_str()), (signing.clone(), text));
        }
    }
}
