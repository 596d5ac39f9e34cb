//! Politeness: writes one after another with a pause between them, and no call at all while a limit is used up.
//!
//! Source: GitHub, "Best practices for using the REST API": serial requests, at least one second between writes, obey
//! `retry-after` and `x-ratelimit-reset`.

use std::{
    num::NonZeroU32,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use tokio::{sync::MutexGuard, time::Instant};

/// Held while a write is under way.
pub(super) type WriteTurn<'a> = MutexGuard<'a, ()>;

/// The one gate before all calls.
#[derive(Debug)]
pub(super) struct Throttle {
    writes: tokio::sync::Mutex<()>,
    pace: Option<DefaultDirectRateLimiter>,
    closed_until: Mutex<Option<Instant>>,
}

impl Throttle {
    /// A gate that lets one write pass each `interval`; zero: no pause.
    pub(super) fn new(interval: Duration) -> Self {
        let quota = Quota::with_period(interval).map(|quota| quota.allow_burst(NonZeroU32::MIN));
        Self {
            writes: tokio::sync::Mutex::default(),
            pace: quota.map(RateLimiter::direct),
            closed_until: Mutex::default(),
        }
    }

    /// Waits for the turn to write.
    pub(super) async fn write_turn(&self) -> WriteTurn<'_> {
        let turn = self.writes.lock().await;
        if let Some(pace) = &self.pace {
            pace.until_ready().await;
        }
        turn
    }

    /// Lets no call pass for this long.
    pub(super) fn close_for(&self, wait: Duration) {
        *self.closed_until.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + wait);
    }

    /// How long no call passes yet.
    pub(super) fn closed_for(&self) -> Option<Duration> {
        let until = (*self.closed_until.lock().unwrap_or_else(PoisonError::into_inner))?;
        let left = until.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }
}
