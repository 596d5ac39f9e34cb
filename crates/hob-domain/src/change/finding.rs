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
    pub fn named(word: &str) -> Option<Self> {
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

/// Bytes of the findings that are kept for the next attempt.
const KEPT_MAX: usize = 8 * 1024;

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

/// As many of the findings as are kept for the next attempt, the first ones first.
pub(crate) fn kept(findings: Vec<Finding>) -> Vec<Finding> {
    let mut room = KEPT_MAX;
    let fits = |finding: &Finding| {
        let left = room.checked_sub(finding.file.len() + finding.reason.len());
        room = left.unwrap_or_default();
        left.is_some()
    };
    findings.into_iter().take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ledger_keeps_a_bounded_part_of_the_findings() {
        let finding = |bytes: usize| Finding {
            severity: FindingSeverity::High,
            file: "a.rs".to_owned(),
            line: Some(1),
            reason: "x".repeat(bytes),
        };
        for (bytes, all, left) in [(10, 30, 30), (1_000, 30, 8), (KEPT_MAX, 1, 0)] {
            assert_eq!(kept(vec![finding(bytes); all]).len(), left, "{bytes}");
        }
    }
}
