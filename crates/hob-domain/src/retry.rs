//! Failure classes, and what follows from each. No other module reads a class.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The class of an error; every error of an I/O module has one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "class", rename_all = "snake_case")]
pub enum FailureClass {
    /// A service, or the connection to it, failed and may work later: network, 5xx, rate limit, no answer in time.
    Transient {
        /// The wait the other side asked for, if it named one.
        retry_after: Option<Duration>,
    },
    /// The run did not finish, but not because of a service: it ran out of time, a signal ended it, or this machine
    /// failed. It may work next time.
    Unfinished,
    /// A retry changes nothing: invalid input, permission, other 4xx.
    Permanent,
    /// A model's quota is used up until it resets: a pause that does not count as an attempt.
    QuotaExhausted {
        /// The time until the reset, if known.
        reset_after: Option<Duration>,
    },
    /// A maintainer has to decide or set something up; the issue asks them.
    NeedsHuman,
    /// The worker lacks something that only its operator can supply, such as a program, a model's key or a right of its
    /// token. The issue is not to blame, so it is not blocked.
    Misconfigured,
    /// The run was ended on purpose.
    Cancelled,
}

impl FailureClass {
    /// Its name, for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Transient { .. } => "transient",
            Self::Unfinished => "unfinished",
            Self::Permanent => "permanent",
            Self::QuotaExhausted { .. } => "quota_exhausted",
            Self::NeedsHuman => "needs_human",
            Self::Misconfigured => "misconfigured",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether the same call may succeed later, without anybody's doing: what it is for stays due.
    pub fn is_temporary(&self) -> bool {
        matches!(self, Self::Transient { .. } | Self::Cancelled)
    }
}

/// One hash of how an attempt failed and on what work. Numbers in the reason are ignored, because ports, times and ids
/// differ between instances of the same failure.
pub fn failure_mark(reason: &str, work: &str) -> String {
    let words = reason.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    let mut digest = Sha256::new();
    for word in words {
        digest.update(word.to_ascii_lowercase());
        digest.update([b' ']);
    }
    digest.update([0]);
    digest.update(work);
    digest.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_failure_on_the_same_work_has_the_same_mark() {
        let mark = failure_mark("signal 9 ended `x` after 12.3 s", "+a");
        assert_eq!(mark, failure_mark("Signal 15 ended `x` after 9 s", "+a"));
        assert_ne!(mark, failure_mark("signal 9 ended `y` after 12.3 s", "+a"));
        assert_ne!(mark, failure_mark("signal 9 ended `x` after 12.3 s", "+b"));
    }
}
