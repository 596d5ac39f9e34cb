//! The forge's clock: its last `Date` header, advanced by the machine's monotonic clock. Hob's own wall clock is never
//! read.

use std::sync::{Mutex, PoisonError};

use chrono::SubsecRound;
use hob_domain::Timestamp;
use tokio::time::Instant;

/// The forge's time, as its answers have shown.
#[derive(Debug, Default)]
pub(super) struct ForgeClock {
    anchor: Mutex<Option<(Timestamp, Instant)>>,
}

impl ForgeClock {
    /// Sets the time from the `Date` of an answer that has just come.
    pub(super) fn set(&self, date: &str) {
        if let Ok(date) = chrono::DateTime::parse_from_rfc2822(date) {
            *self.anchor.lock().unwrap_or_else(PoisonError::into_inner) = Some((date.to_utc(), Instant::now()));
        }
    }

    /// The forge's current time. `None` before its first answer.
    pub(super) fn known(&self) -> Option<Timestamp> {
        let anchor = *self.anchor.lock().unwrap_or_else(PoisonError::into_inner);
        anchor.map(|(date, at)| (date + at.elapsed()).trunc_subsecs(0))
    }

    /// The forge's current time in whole seconds, like all its times, so that they can be compared; the epoch before
    /// the first answer, when no lease may look expired.
    pub(super) fn now(&self) -> Timestamp {
        self.known().unwrap_or(Timestamp::UNIX_EPOCH)
    }
}
