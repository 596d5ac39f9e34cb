//! Names that reach git's command line: checked before git starts, so that none can be read as an option, a refspec
//! or a revision expression.

use std::{fmt, str::FromStr};

/// A branch's name without `refs/heads/`, checked by the rules of `git check-ref-format --branch` and Hob's own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BranchName(String);

/// A text that is not a valid branch name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a branch name")]
pub struct InvalidBranchName(String);

/// Git allows longer names; the forge does not (255 bytes, `refs/heads/` included).
const LONGEST: usize = 244;

impl BranchName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name with `refs/heads/`.
    pub(super) fn full(&self) -> String {
        format!("refs/heads/{}", self.0)
    }
}

impl fmt::Display for BranchName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for BranchName {
    type Err = InvalidBranchName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // `refs/…` and `HEAD` are valid branch names to git, but not honest ones: they read as another ref.
        let misleading = text.starts_with("refs/") || text == "HEAD" || text == "@";
        // `+`, `,` and quotes are valid inside; `+` at the start forces a refspec.
        let option = text.starts_with(['-', '+']);
        let character =
            |c: char| c.is_control() || c.is_whitespace() || matches!(c, '~' | '^' | ':' | '?' | '*' | '[' | '\\');
        let part = |part: &str| part.is_empty() || part.starts_with('.') || part.ends_with(".lock");
        let sequence = text.contains("..") || text.contains("@{") || text.ends_with('.');
        let wrong = misleading || option || sequence || text.len() > LONGEST;
        if wrong || text.contains(character) || text.split('/').any(part) {
            return Err(InvalidBranchName(text.to_owned()));
        }
        Ok(Self(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Attack corpus D46.
    #[test]
    fn a_branch_name_that_git_could_misread_is_refused() {
        for good in ["main", "hob/7-fix-the-greeting", "release/1.2", "größe", "a+b", "dependabot/npm_and_yarn/x-1"] {
            assert!(good.parse::<BranchName>().is_ok(), "{good}");
        }
        let long = "x".repeat(245);
        for bad in [
            "",
            "-d",
            "+x",
            "x:main",
            "refs/heads/main",
            "a b",
            "a\u{1b}[m",
            "a\n",
            "a..b",
            "a.lock",
            "a/.b",
            "a//b",
            "/a",
            "a/",
            "a~1",
            "a^",
            "a?",
            "a*",
            "a[",
            "a\\b",
            "a@{1}",
            "@",
            "HEAD",
            "a.",
            "x.lock/y",
            &long,
        ] {
            assert!(bad.parse::<BranchName>().is_err(), "{bad:?}");
        }
    }
}
