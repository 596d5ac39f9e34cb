//! What was shown of a run's change, each with the state of the folder that it holds for.

use std::collections::BTreeMap;

use crate::native::change::Tree;

/// What was shown of a change.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) diff: Option<Tree>,
    /// The last result of each check, or without checks of the model's own commands.
    pub(super) runs: BTreeMap<String, Run>,
    pub(super) is_task_reread: bool,
    /// Whether a check failed after something was changed: the work is harder than it looked.
    pub(super) has_failed: bool,
}

/// A command's last result.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) result: Shown,
    pub(super) tree: Tree,
}

/// What a command's end says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shown {
    Passed,
    Failed,
    /// It ended well, but the exit code was that of something else.
    Hidden,
}
