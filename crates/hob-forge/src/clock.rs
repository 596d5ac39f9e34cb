//! The forge's clock: its last `Date` header, carried on by the machine's monotonic clock. No wall clock of ours is read.

use std::sync::{Mutex, PoisonError};

use chrono::SubsecRound;
use hob_domain::Timestamp;
use tokio::time::Instant;

/// The forge's time, as far as its answers have told it.
#[derive(Debug, Default)]
pub(super) struct ForgeClock {
    anchor: Mutex<Option<(Timestamp, Instant)>>,
}

impl ForgeClock {
    /// Takes the `Date` of an answer that has just come.
    pub(super) fn set(&self, date: &str) {
        if let Ok(date) = chrono::DateTime::parse_from_rfc2822(date) {
            *self.anchor.lock().unwrap_or_else(PoisonError::into_inner) = Some((date.to_utc(), Instant::now()));
        }
    }

    /// The forge's time now; none before its first answer.
    pub(super) fn known(&self) -> Option<Timestamp> {
        let anchor = *self.anchor.lock().unwrap_or_else(PoisonError::into_inner);
        anchor.map(|(date, at)| (date + at.elapsed()).trunc_subsecs(0))
    }

    /// The forge's time now, in whole seconds as all its times are, so that one can be compared with the other; the
    /// epoch before the first answer, at which no lease looks expired.
    pub(super) fn now(&self) -> Timestamp {
        self.known().unwrap_or(Timestamp::UNIX_EPOCH)
    }
}
