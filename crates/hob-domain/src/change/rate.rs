//! How often something failed.

use std::fmt;

use hob_text::count;
use serde::{Deserialize, Serialize};

/// How many of some runs failed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate {
    /// Runs that failed.
    pub failed: u32,
    /// All runs.
    pub runs: u32,
}

impl Rate {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { failed: self.failed.saturating_add(other.failed), runs: self.runs.saturating_add(other.runs) }
    }

    /// Adds a run.
    pub fn add(&mut self, failed: bool) {
        *self = self.and(Self { failed: u32::from(failed), runs: 1 });
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.failed, count(self.runs as usize, "run"))
    }
}
