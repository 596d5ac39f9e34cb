//! The forge's clock: the system's, plus what a test has advanced it by. If the runtime's time stops or jumps, as in a
//! test with virtual time, this clock does so too.

use std::{
    sync::atomic::{AtomicI64, Ordering},
    time::{Duration, Instant},
};

use chrono::TimeDelta;

use crate::names::Timestamp;

/// A clock that only ever jumps forwards.
#[derive(Debug)]
pub(super) struct Clock {
    ahead_ms: AtomicI64,
    /// The same moment by the machine's monotonic clock and by the runtime's.
    made: (Instant, tokio::time::Instant),
}

impl Default for Clock {
    fn default() -> Self {
        Self { ahead_ms: AtomicI64::new(0), made: (Instant::now(), tokio::time::Instant::now()) }
    }
}

impl Clock {
    /// The time by this clock.
    pub(super) fn now(&self) -> Timestamp {
        #[expect(clippy::disallowed_methods, reason = "the forge is where its clients' time comes from")]
        let now = chrono::Utc::now();
        let (machine, runtime) = (self.made.0.elapsed(), self.made.1.elapsed());
        // The two differ by nothing but a little noise unless the runtime's time is virtual.
        let apart = milliseconds(runtime) - milliseconds(machine);
        let virtual_ms = if apart.abs() > 1 { apart } else { 0 };
        now + TimeDelta::milliseconds(self.ahead_ms.load(Ordering::Relaxed) + virtual_ms)
    }

    /// Puts the clock forward.
    pub(super) fn advance(&self, by: Duration) {
        self.ahead_ms.fetch_add(milliseconds(by), Ordering::Relaxed);
    }
}

fn milliseconds(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_clock_follows_virtual_time() {
        let clock = Clock::default();
        let before = clock.now();
        tokio::time::sleep(Duration::from_secs(3_600)).await;
        let passed = clock.now() - before;
        assert!((3_599..=3_601).contains(&passed.num_seconds()), "{passed}");
    }
}
