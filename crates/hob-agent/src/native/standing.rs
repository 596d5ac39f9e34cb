//! The state of a run's work.

use std::collections::BTreeSet;

use crate::native::tools::Plan;

/// The state of a run's work.
#[derive(Debug, Default)]
pub(super) struct Standing {
    /// The model's checklist, as it last was.
    pub(super) plan: Option<Plan>,
    /// Files that its tools changed.
    pub(super) files: Vec<String>,
    /// What was looked at since the last change.
    pub(super) seen: Seen,
    /// Whether the last look was given: once a run.
    pub(super) looked: bool,
}

/// What the model looked at since its tools last changed a file.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The whole change.
    diff: bool,
    /// The checks that it ran.
    checks: BTreeSet<String>,
}

impl Seen {
    /// A command ran.
    pub(super) fn ran(&mut self, command: &str, checks: &[String]) {
        self.diff |= command.contains("git diff");
        self.checks.extend(checks.iter().filter(|check| command.contains(check.as_str())).cloned());
    }

    /// A file changed.
    pub(super) fn changed(&mut self) {
        *self = Self::default();
    }

    /// The checks that did not run since.
    pub(super) fn left<'c>(&self, checks: &'c [String]) -> Vec<&'c str> {
        checks.iter().filter(|check| !self.checks.contains(*check)).map(String::as_str).collect()
    }

    /// Whether there is nothing left to look at.
    pub(super) fn is_all(&self, checks: &[String]) -> bool {
        self.diff && self.left(checks).is_empty()
    }
}
