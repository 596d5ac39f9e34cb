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

/// The pause, cut short where something is `due` before its end: a dead worker's lease runs out, or an attempt may be
/// tried again. The forge's clock has whole seconds, so one is added.
pub fn until_due(pause: Duration, due: Option<Duration>) -> Duration {
    due.map_or(pause, |due| pause.min(due.saturating_add(Duration::from_secs(1))))
}

/// The longest pause after errors (requirement A8).
const ERROR_PAUSE_MAX: Duration = Duration::from_secs(300);

/// The pause after a poll that failed, `before` others in a row before it: drawn evenly, `draw` from 0 to 1, below a
/// bound that doubles each time up to five minutes; never shorter than the interval of polls that go well.
pub fn error_pause(before: u32, interval: Duration, draw: f64) -> Duration {
    let bound = interval.saturating_mul(2 << before.min(16)).min(ERROR_PAUSE_MAX);
    bound.mul_f64(draw.clamp(0.0, 1.0)).max(interval)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requirement A2.
    #[test]
    fn idle_polls_double_the_pause_up_to_the_maximum_and_work_brings_it_back() {
        for (idle, seconds) in [(0, 30), (1, 60), (2, 120), (3, 240), (4, 300), (5, 300), (u32::MAX, 300), (0, 30)] {
            let pause = poll_pause(idle, Duration::from_secs(30), Duration::from_secs(300));
            assert_eq!(pause.as_secs(), seconds, "after {idle} idle polls");
        }
        assert_eq!(poll_pause(9, Duration::from_secs(30), Duration::ZERO).as_secs(), 30);
    }

    #[test]
    fn a_pause_ends_a_second_after_what_is_due_in_it() {
        for (due, seconds) in [(None, 300), (Some(0), 1), (Some(10), 11), (Some(299), 300), (Some(u64::MAX), 300)] {
            assert_eq!(until_due(Duration::from_secs(300), due.map(Duration::from_secs)).as_secs(), seconds, "{due:?}");
        }
    }

    #[test]
    fn errors_in_a_row_are_followed_by_longer_pauses_up_to_five_minutes() {
        let interval = Duration::from_secs(30);
        for (before, draw, seconds) in
            [(0, 1.0, 60), (1, 1.0, 120), (2, 0.5, 120), (3, 1.0, 300), (u32::MAX, 1.0, 300), (9, 0.0, 30)]
        {
            assert_eq!(error_pause(before, interval, draw).as_secs(), seconds, "{before} {draw}");
        }
        assert_eq!(error_pause(0, Duration::from_secs(3_600), 0.5).as_secs(), 3_600);
    }
}
