//! A quota over a sliding window: exact, so that no span ever exceeds it at any pace. `governor`, which paces the writes, does
//! not replace it: after a pause it admits a whole quota at once and the refill after it, up to twice the quota in one
//! span, and it reserves no part for leases.

use std::{collections::VecDeque, time::Duration};

use tokio::time::Instant;

use crate::purpose::Share;

/// The part of a window that is reserved for leases: a fifth.
const OF_LEASES: usize = 5;

/// At most `most` entries in any span of this length; memory is bounded by that number.
#[derive(Debug)]
pub(super) struct Window {
    span: Duration,
    most: usize,
    counted: VecDeque<Instant>,
}

impl Window {
    /// A window that admits `most` in any `span`.
    pub(super) fn new(span: Duration, most: u32) -> Self {
        Self { span, most: usize::try_from(most).unwrap_or(usize::MAX), counted: VecDeque::new() }
    }

    /// How long until one more fits.
    pub(super) fn wait(&self, now: Instant, share: Share) -> Duration {
        let most = match share {
            Share::Lease => self.most,
            Share::Common => self.most - self.most / OF_LEASES,
        };
        self.until(most, now)
    }

    /// How long until less than this part of it, in percent, is counted.
    pub(super) fn wait_below(&self, percent: usize, now: Instant) -> Duration {
        self.until((self.most * percent / 100).max(1), now)
    }

    /// How long until `many` fit, or as many as ever fit, if that is less.
    pub(super) fn wait_for(&self, many: usize, now: Instant) -> Duration {
        self.until(self.most - many.clamp(1, self.most.max(1)) + 1, now)
    }

    /// The window's length.
    pub(super) fn span(&self) -> Duration {
        self.span
    }

    /// How long until fewer than `most` are counted.
    fn until(&self, most: usize, now: Instant) -> Duration {
        let full = self.counted.len().checked_sub(most);
        let oldest = full.and_then(|over| self.counted.get(over));
        oldest.map_or(Duration::ZERO, |at| (*at + self.span).saturating_duration_since(now))
    }

    /// Counts one.
    pub(super) fn count(&mut self, now: Instant) {
        self.counted.push_back(now);
        while self.counted.len() > self.most || self.counted.front().is_some_and(|at| *at + self.span <= now) {
            self.counted.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_span_of_the_window_has_more_than_its_number() {
        let (begin, minute) = (Instant::now(), Duration::from_secs(60));
        let at = |seconds| begin + Duration::from_secs(seconds);
        let mut window = Window::new(minute, 3);
        let wait = |window: &Window, seconds| window.wait(at(seconds), Share::Common);
        for second in [0, 10, 20] {
            assert!(wait(&window, second).is_zero());
            window.count(at(second));
        }
        assert_eq!(wait(&window, 25).as_secs(), 35);
        window.count(at(60));
        assert_eq!(wait(&window, 61).as_secs(), 9);
        assert!(wait(&window, 70).is_zero());
        window.count(at(300));
        assert_eq!(window.counted.len(), 1);
    }

    #[test]
    fn a_fifth_of_the_window_is_kept_for_the_leases() {
        let (begin, minute) = (Instant::now(), Duration::from_secs(60));
        let at = |seconds| begin + Duration::from_secs(seconds);
        let mut window = Window::new(minute, 10);
        for second in 0..8 {
            assert!(window.wait(at(second), Share::Common).is_zero());
            window.count(at(second));
        }
        assert_eq!(window.wait(at(10), Share::Common).as_secs(), 50);
        assert!(window.wait(at(10), Share::Lease).is_zero());
        for (many, seconds) in [(1, 0), (2, 0), (3, 50), (10, 57), (1_000, 57)] {
            assert_eq!(window.wait_for(many, at(10)).as_secs(), seconds, "{many}");
        }
        window.count(at(10));
        window.count(at(10));
        assert_eq!(window.wait(at(10), Share::Lease).as_secs(), 50);
    }
}
