//! The forge's clock: the system's, plus what a test has advanced it by.

use std::{
    sync::atomic::{AtomicI64, Ordering},
    time::Duration,
};

use chrono::TimeDelta;

use crate::domain::Timestamp;

/// A clock that only ever jumps forwards.
#[derive(Debug, Default)]
pub(super) struct Clock {
    ahead_ms: AtomicI64,
}

impl Clock {
    /// The time by this clock.
    pub(super) fn now(&self) -> Timestamp {
        #[expect(clippy::disallowed_methods, reason = "the forge is where its clients' time comes from")]
        let now = chrono::Utc::now();
        now + TimeDelta::milliseconds(self.ahead_ms.load(Ordering::Relaxed))
    }

    /// Puts the clock forward.
    pub(super) fn advance(&self, by: Duration) {
        self.ahead_ms.fetch_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX / 2), Ordering::Relaxed);
    }
}
