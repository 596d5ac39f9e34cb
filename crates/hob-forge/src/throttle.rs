//! Politeness: writes one after another, spaced and counted, and no calls at all while a limit is used up.
//!
//! Source: GitHub, "Best practices for using the REST API": serial requests, at least one second between writes, obey
//! `retry-after` and `x-ratelimit-reset`; "Rate limits for the REST API": about 80 content-creating requests a minute
//! and 500 an hour; for points see `points`.

use std::{
    collections::HashMap,
    num::NonZeroU32,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use hob_config::ForgeSettings;
use tokio::{
    sync::MutexGuard,
    time::{Instant, error::Elapsed, timeout_at},
};
use tokio_util::sync::CancellationToken;

use crate::{
    call::Call,
    points::Points,
    purpose::Share,
    wait::{wait_for_points, wait_for_turn},
    window::Window,
};

/// The most resources whose gates are kept; a forge has about a dozen.
const GATES: usize = 50;

/// Held while a write is under way.
pub(super) type WriteTurn<'a> = MutexGuard<'a, Vec<Window>>;

#[derive(Debug, Default)]
struct Gates {
    all: Option<Instant>,
    resources: HashMap<String, Instant>,
}

/// The only gate for all calls.
#[derive(Debug)]
pub(super) struct Throttle {
    /// The holder of the turn counts its write in the windows.
    turns: tokio::sync::Mutex<Vec<Window>>,
    pace: Option<DefaultDirectRateLimiter>,
    skip_spacing: CancellationToken,
    gates: Mutex<Gates>,
    points: Option<Points>,
}

impl Throttle {
    /// A gate with these settings. An interval of zero spaces and counts nothing.
    pub(super) fn new(settings: &ForgeSettings) -> Self {
        let interval = Duration::from_millis(settings.write_interval_ms);
        let quota = Quota::with_period(interval).map(|quota| quota.allow_burst(NonZeroU32::MIN));
        let windows = [(60, settings.writes_per_minute), (3_600, settings.writes_per_hour)];
        let windows = windows.into_iter().filter(|(_, most)| *most > 0 && !interval.is_zero());
        let windows = windows.map(|(seconds, most)| Window::new(Duration::from_secs(seconds), most));
        Self {
            turns: tokio::sync::Mutex::new(windows.collect()),
            pace: quota.map(RateLimiter::direct),
            skip_spacing: CancellationToken::new(),
            gates: Mutex::default(),
            points: (!interval.is_zero()).then(Points::default),
        }
    }

    /// Counts the request's points; one that reads waits until they fit, at most for `patience`.
    ///
    /// # Errors
    /// The time that it would take, if that is longer; nothing is counted then.
    pub(super) async fn points(&self, patience: Duration, call: Call<'_>) -> Result<(), Duration> {
        let Some(points) = &self.points else { return Ok(()) };
        let ends = Instant::now() + patience;
        while let Err(wait) = points.take(call) {
            if wait > ends.saturating_duration_since(Instant::now()) {
                return Err(wait);
            }
            wait_for_points(wait).await;
        }
        Ok(())
    }

    /// How long the next poll waits, so that reads of work that goes on find room.
    pub(super) fn wait_of_polls(&self) -> Duration {
        self.points.as_ref().map(Points::wait_of_polls).unwrap_or_default()
    }

    /// Waits for a turn to write, at most for `patience`. It counts as this many writes.
    ///
    /// # Errors
    /// The time that it would take, if that is longer; nothing is counted then.
    pub(super) async fn write_turn(
        &self,
        patience: Duration,
        share: Share,
        writes: usize,
    ) -> Result<WriteTurn<'_>, Duration> {
        let ends = Instant::now() + patience;
        let mut turn = loop {
            let Ok(turn) = timeout_at(ends, self.turns.lock()).await else { return Err(patience) };
            let now = Instant::now();
            let wait = turn.iter().map(|window| window.wait(now, share)).max().unwrap_or_default();
            if wait.is_zero() {
                break turn;
            }
            if wait > ends.saturating_duration_since(now) {
                return Err(wait);
            }
            // Release the turn, so that writes that keep a lease do not wait behind this one.
            drop(turn);
            wait_for_turn(wait).await;
        };
        self.pace(ends).await.map_err(|_late| patience)?;
        let now = Instant::now();
        turn.iter_mut().for_each(|window| (0..writes).for_each(|_| window.count(now)));
        Ok(turn)
    }

    /// Waits for a turn to push, which is spaced like a write and counts as none, at most for `patience`.
    ///
    /// # Errors
    /// The time that was waited, if that was too short.
    pub(super) async fn push_turn(&self, patience: Duration) -> Result<WriteTurn<'_>, Duration> {
        let ends = Instant::now() + patience;
        let turn = timeout_at(ends, self.turns.lock()).await.map_err(|_late| patience)?;
        self.pace(ends).await.map_err(|_late| patience)?;
        Ok(turn)
    }

    async fn pace(&self, ends: Instant) -> Result<(), Elapsed> {
        let Some(pace) = &self.pace else { return Ok(()) };
        timeout_at(ends, self.skip_spacing.run_until_cancelled(pace.until_ready())).await.map(drop)
    }

    /// How long until the longest window has room for this many more writes.
    pub(super) async fn wait_for(&self, writes: usize) -> Duration {
        let (turns, now) = (self.turns.lock().await, Instant::now());
        let longest = turns.iter().max_by_key(|window| window.span());
        longest.map_or(Duration::ZERO, |window| window.wait_for(writes, now))
    }

    /// Stops spacing writes. They are still counted.
    pub(super) fn skip_spacing(&self) {
        self.skip_spacing.cancel();
    }

    /// Stops all calls to this resource for this long.
    pub(super) fn close(&self, resource: &str, wait: Duration) {
        self.gates().close(resource, wait, Instant::now());
    }

    /// Stops all calls for this long.
    pub(super) fn close_all(&self, wait: Duration) {
        self.gates().close_all(wait, Instant::now());
    }

    /// How long calls to this resource must still wait.
    pub(super) fn closed_for(&self, resource: &str) -> Option<Duration> {
        self.gates().closed_for(resource, Instant::now())
    }

    /// How long all calls must still wait.
    pub(super) fn closed_to_all(&self) -> Option<Duration> {
        self.gates().closed_for("", Instant::now())
    }

    fn gates(&self) -> std::sync::MutexGuard<'_, Gates> {
        self.gates.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Gates {
    /// A gate never opens earlier than was said before.
    fn close(&mut self, resource: &str, wait: Duration, now: Instant) {
        self.resources.retain(|_, until| *until > now);
        if self.resources.len() < GATES {
            let known = self.resources.entry(resource.to_owned()).or_insert(now);
            *known = (now + wait).max(*known);
        }
    }

    fn close_all(&mut self, wait: Duration, now: Instant) {
        self.all = self.all.max(Some(now + wait));
    }

    fn closed_for(&self, resource: &str, now: Instant) -> Option<Duration> {
        let until = self.all.max(self.resources.get(resource).copied())?;
        let left = until.saturating_duration_since(now);
        (!left.is_zero()).then_some(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn throttle(interval: u64, minute: u32, hour: u32) -> Throttle {
        let settings = hob_config::Settings::load(None, HashMap::new(), &[]).unwrap();
        Throttle::new(&ForgeSettings {
            write_interval_ms: interval,
            writes_per_minute: minute,
            writes_per_hour: hour,
            ..settings.forge
        })
    }

    #[tokio::test]
    async fn a_quota_that_is_used_up_is_said_rather_than_waited_for() {
        for (minute, hour, least, most) in [(3, 0, 1, 60), (80, 3, 3_000, 3_600)] {
            let (throttle, patience) = (throttle(1, minute, hour), Duration::from_secs(1));
            for _ in 0..3 {
                drop(throttle.write_turn(patience, Share::Common, 1).await.unwrap());
            }
            let wait = throttle.write_turn(patience, Share::Common, 1).await.unwrap_err();
            assert!(wait > Duration::from_secs(least) && wait <= Duration::from_secs(most), "{wait:?}");
        }
    }

    #[tokio::test]
    async fn who_waits_behind_a_long_write_is_told_in_the_end() {
        let throttle = throttle(0, 1, 1);
        let held = throttle.write_turn(Duration::ZERO, Share::Common, 1).await.unwrap();
        assert_eq!(throttle.write_turn(Duration::ZERO, Share::Common, 1).await.unwrap_err(), Duration::ZERO);
        drop(held);
        // Without a pause between writes, nothing is counted.
        for _ in 0..1_000 {
            drop(throttle.write_turn(Duration::ZERO, Share::Common, 1).await.unwrap());
        }
    }

    #[tokio::test]
    async fn whoever_ends_does_not_wait_for_the_pace() {
        let throttle = throttle(3_600_000, 0, 0);
        drop(throttle.write_turn(Duration::ZERO, Share::Common, 1).await.unwrap());
        throttle.skip_spacing();
        drop(throttle.write_turn(Duration::from_secs(60), Share::Common, 1).await.unwrap());
    }

    #[test]
    fn a_limit_closes_its_own_gate_and_a_secondary_one_all() {
        let (mut gates, now) = (Gates::default(), Instant::now());
        gates.close("search", Duration::from_secs(30), now);
        gates.close("search", Duration::from_secs(10), now);
        assert_eq!(gates.closed_for("core", now), None);
        assert_eq!(gates.closed_for("search", now), Some(Duration::from_secs(30)));
        gates.close_all(Duration::from_secs(60), now);
        assert_eq!(gates.closed_for("core", now), Some(Duration::from_secs(60)));
        let later = now + Duration::from_secs(60);
        assert_eq!((gates.closed_for("core", later), gates.closed_for("search", later)), (None, None));
        for n in 0..1_000 {
            gates.close(&n.to_string(), Duration::from_secs(1), later);
        }
        assert_eq!(gates.resources.len(), GATES);
    }
}
