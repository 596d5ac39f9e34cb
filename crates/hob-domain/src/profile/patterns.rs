//! Patterns of a profile: regular expressions for errors, globs for paths. Both are bounded on creation, and match in
//! linear time.

use std::fmt;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use regex::{Regex, RegexBuilder};
use serde::{Serialize, Serializer};

/// The most bytes of a compiled expression.
const COMPILED_MAX: usize = 256 * 1024;

/// A regular expression for an error message, without look-around and back-references, so that a search takes linear
/// time.
#[derive(Debug, Clone)]
pub struct ErrorPattern(Regex);

/// An expression that is not valid, or too large.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{}", reason(.0))]
pub struct InvalidPattern(#[source] regex::Error);

/// The reason in one line: the message shows the expression with a mark below it, and then the reason.
fn reason(error: &regex::Error) -> String {
    error.to_string().lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

impl ErrorPattern {
    /// Reads an expression; `^` and `$` are the ends of a line.
    ///
    /// # Errors
    /// [`InvalidPattern`] if it is not a valid expression.
    pub fn new(text: &str) -> Result<Self, InvalidPattern> {
        let built =
            RegexBuilder::new(text).multi_line(true).size_limit(COMPILED_MAX).dfa_size_limit(COMPILED_MAX).build();
        built.map(Self).map_err(InvalidPattern)
    }

    /// Whether the text contains such an error.
    pub fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    /// The expression.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl PartialEq for ErrorPattern {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Serialize for ErrorPattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl fmt::Display for ErrorPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Globs over a repository's paths; a folder with a slash at its end matches everything below it.
#[derive(Debug, Clone, Default)]
pub struct PathGlobs {
    texts: Vec<String>,
    set: GlobSet,
}

impl PathGlobs {
    /// Compiles the globs, in the order given.
    ///
    /// # Errors
    /// The invalid glob, and the reason.
    pub fn new(texts: Vec<String>) -> Result<Self, globset::Error> {
        let mut set = GlobSetBuilder::new();
        for text in &texts {
            let whole = text.strip_suffix('/').map_or_else(|| text.clone(), |folder| format!("{folder}/**"));
            let glob = GlobBuilder::new(whole.trim_start_matches('/')).literal_separator(true).build();
            set.add(glob?);
        }
        let set = set.build()?;
        Ok(Self { texts, set })
    }

    /// Whether one of them matches the path.
    pub fn is_match(&self, path: &str) -> bool {
        self.set.is_match(path)
    }

    /// The globs as they were written.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
}

impl PartialEq for PathGlobs {
    fn eq(&self, other: &Self) -> bool {
        self.texts == other.texts
    }
}

impl Serialize for PathGlobs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.texts.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_pattern_is_bounded() {
        assert!(ErrorPattern::new("^E[0-9]{4}$").unwrap().is_match("one\nE0382\ntwo"));
        for bad in ["(", r"(a)\1", "(?=a)", r"\w{1000}{100}", "(a{1000}){1000}"] {
            let why = ErrorPattern::new(bad).unwrap_err().to_string();
            assert!(!why.is_empty() && !why.contains('\n'), "{bad}: {why}");
        }
    }

    #[test]
    fn a_folder_stands_for_all_below_it() {
        let globs = PathGlobs::new(vec!["docs/".to_owned(), "*.md".to_owned(), "/src/**/*.rs".to_owned()]).unwrap();
        for (path, is_in) in
            [("docs/a/b.png", true), ("a.md", true), ("a/b.md", false), ("src/a.rs", true), ("Docs/a", false)]
        {
            assert_eq!(globs.is_match(path), is_in, "{path}");
        }
        assert!(PathGlobs::new(vec!["a[".to_owned()]).is_err());
    }
}
