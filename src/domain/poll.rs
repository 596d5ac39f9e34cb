//! How long to wait before the forge is asked again (requirement A2).

use std::time::Duration;

/// The pause after a poll: `interval`; after polls that found nothing, `interval` × 2^n for the n-th of them in a row,
/// at most `max`.
pub fn poll_pause(idle_polls: u32, interval: Duration, max: Duration) -> Duration {
    match idle_polls {
        0 => interval,
        idle => interval.saturating_mul(1 << idle.min(16)).min(max.max(interval)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_polls_double_the_pause_up_to_the_maximum_and_work_brings_it_back() {
        for (idle, seconds) in [(0, 30), (1, 60), (2, 120), (3, 240), (4, 300), (5, 300), (u32::MAX, 300), (0, 30)] {
            let pause = poll_pause(idle, Duration::from_secs(30), Duration::from_secs(300));
            assert_eq!(pause.as_secs(), seconds, "after {idle} idle polls");
        }
        assert_eq!(poll_pause(9, Duration::from_secs(30), Duration::ZERO).as_secs(), 30);
    }
}
