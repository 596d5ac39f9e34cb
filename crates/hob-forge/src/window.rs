//! A quota over a sliding window: exact, so that no span of it ever has more, whatever the pace.

use std::{collections::VecDeque, time::Duration};

use tokio::time::Instant;

/// So many in any span of this length; what it keeps is bounded by that number.
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
    pub(super) fn wait(&self, now: Instant) -> Duration {
        let full = self.counted.len().checked_sub(self.most);
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
        for second in [0, 10, 20] {
            assert!(window.wait(at(second)).is_zero());
            window.count(at(second));
        }
        assert_eq!(window.wait(at(25)).as_secs(), 35);
        window.count(at(60));
        assert_eq!(window.wait(at(61)).as_secs(), 9);
        assert!(window.wait(at(70)).is_zero());
        window.count(at(300));
        assert_eq!(window.counted.len(), 1);
    }
}
