//! What is wrong with a profile's file, and where.

use std::fmt;

use serde::Serialize;

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The value is passed over.
    Warning,
    /// The profile cannot be used: what it restrains would not be restrained.
    Error,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// The line of the file, from 1; none: it is about the whole of it.
    pub line: Option<usize>,
    /// What is wrong, and what to write.
    pub text: String,
}

impl Problem {
    /// A problem of the whole file, which cannot be used.
    pub fn of_file(text: impl Into<String>) -> Self {
        Self { severity: Severity::Error, line: None, text: text.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.text),
            None => f.write_str(&self.text),
        }
    }
}
