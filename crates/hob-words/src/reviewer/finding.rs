//! One thing that a reviewer found.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A finding's severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FindingSeverity {
    /// It costs the next reader time.
    Low,
    /// It fails in a case that will come.
    Medium,
    /// A wrong result, lost data, a security hole: it must not be merged.
    High,
}

impl FindingSeverity {
    /// The severity with this name, in the words that reviewers use.
    pub(super) fn named(word: &str) -> Option<Self> {
        Some(match word.to_ascii_lowercase().as_str() {
            "high" | "critical" | "severe" | "blocker" => Self::High,
            "medium" | "moderate" | "major" => Self::Medium,
            "low" | "minor" | "nit" => Self::Low,
            _other => return None,
        })
    }
}

impl fmt::Display for FindingSeverity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        })
    }
}

/// One thing that a reviewer found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Its severity.
    pub severity: FindingSeverity,
    /// The changed file, as the diff names it.
    pub file: String,
    /// The line after the change, from 1. `None` if the reviewer named none.
    #[serde(default)]
    pub line: Option<u32>,
    /// What goes wrong, on one line.
    pub reason: String,
}

impl Finding {
    /// Its place: `path:line`.
    pub fn place(&self) -> String {
        match self.line {
            Some(line) => format!("{}:{line}", self.file),
            None => self.file.clone(),
        }
    }
}
