//! Where the work of a run stands.

use crate::native::tools::Plan;

/// Where the work of a run stands.
#[derive(Debug, Default)]
pub(super) struct Standing {
    /// The model's checklist, as it last was.
    pub(super) plan: Option<Plan>,
    /// Files that its tools changed.
    pub(super) files: Vec<String>,
    /// Whether the model was reminded to end with a tool.
    pub(super) reminded: bool,
    /// Whether a tool that can change files ran well.
    pub(super) changed: bool,
}
