//! Problems of a profile's file, and where they are.

use std::fmt;

use serde::Serialize;

/// A problem's severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The value is ignored.
    Warning,
    /// The profile cannot be used, because a restriction would be lost.
    Error,
}

/// One problem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Its severity.
    pub severity: Severity,
    /// The line of the file, from 1. `None` if it is about the whole file.
    pub line: Option<usize>,
    /// What is wrong, and what to write.
    pub text: String,
}

impl Problem {
    /// A problem of the whole file, which then cannot be used.
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
