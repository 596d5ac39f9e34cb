//! Races for issues: workers that poll at the same moment see the same issue first, and all but one request it in vain.
//! A worker that lost lately waits a moment before it tries, and then checks whether there still is room.

use std::time::Duration;

use parking_lot::Mutex;

/// Races lost in a row that lengthen the pause: the longest is eight times as long as a race takes.
const LOST_MAX: u32 = 3;
/// The most that one race counts for: one that waited for a rate limit says nothing of the others.
const TOOK_MAX: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
struct Lately {
    lost: u32,
    took: Duration,
}

/// The results of a worker's last races.
#[derive(Debug, Default)]
pub(crate) struct Races(Mutex<Lately>);

impl Races {
    /// Notes that another worker was faster, and how long the race took.
    pub(crate) fn lost(&self, took: Duration) {
        let mut lately = self.0.lock();
        *lately = Lately { lost: (lately.lost + 1).min(LOST_MAX), took: took.min(TOOK_MAX) };
    }

    /// Notes that this worker was the fastest: there may be fewer of them now.
    pub(crate) fn won(&self) {
        let mut lately = self.0.lock();
        lately.lost = lately.lost.saturating_sub(1);
    }

    /// The pause before the next race, with `chance` drawn from 0 to 1; `None` if no race was lost lately.
    pub(crate) fn pause(&self, chance: f64) -> Option<Duration> {
        let lately = self.0.lock();
        (lately.lost > 0).then(|| (lately.took * (1 << lately.lost)).mul_f64(chance))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_lost_waits_longer_each_time_and_who_won_shorter() {
        let races = Races::default();
        let second = Duration::from_secs(1);
        assert_eq!(races.pause(1.0), None);
        for seconds in [2, 4, 8, 8] {
            races.lost(second);
            assert_eq!(races.pause(1.0), Some(second * seconds));
        }
        assert_eq!(races.pause(0.25), Some(second * 2));
        for seconds in [Some(4), Some(2), None, None] {
            races.won();
            assert_eq!(races.pause(1.0), seconds.map(|seconds| second * seconds));
        }
        races.lost(second * 60);
        assert_eq!(races.pause(1.0), Some(TOOK_MAX * 2));
    }
}
