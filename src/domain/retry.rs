//! Failure classes, and what follows from each. Nothing else reads a class.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What kind of failure an error is: every error of an I/O module has one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "class", rename_all = "snake_case")]
pub enum FailureClass {
    /// It may work later: network, 5xx, rate limit, time-out.
    Transient {
        /// The wait the other side asked for, if it named one.
        retry_after: Option<Duration>,
    },
    /// Trying again changes nothing: invalid input, permission, other 4xx.
    Permanent,
    /// A person has to decide or to set something up.
    NeedsHuman,
    /// The run was ended on purpose.
    Cancelled,
}
