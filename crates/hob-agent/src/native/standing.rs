//! The state of a run's work.

use crate::native::{seen::Seen, tools::Plan};

/// The state of a run's work.
#[derive(Debug, Default)]
pub(super) struct Standing {
    /// The model's checklist, as it last was.
    pub(super) plan: Option<Plan>,
    /// Files that its tools changed.
    pub(super) files: Vec<String>,
    /// What was shown of the change.
    pub(super) seen: Seen,
    /// Whether the last look was given: once a run.
    pub(super) looked: bool,
    /// The output of the check that runs by itself, as it was told last.
    pub(super) quick_failure: Option<String>,
    /// Whether that check had to be ended: it is not run again.
    pub(super) is_slow: bool,
}
