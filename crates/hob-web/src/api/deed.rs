//! What operators can ask for.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Deed {
    /// Approve the action or the plan that waits.
    Approve,
    /// Answer the question, and requeue the issue.
    Answer,
    /// Requeue the issue as it is.
    Retry,
    /// Leave it alone until it is resumed.
    Pause,
    /// End a pause.
    Resume,
    /// End the work for good.
    Cancel,
}
