//! The circuit breaker of routing: when profiles fail to load again and again, routing is off for a while.
//!
//! # Guarantees
//! It opens and closes by its times alone, so that all jobs of a repository agree, and no one has to close it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// Failed loads that open it,
const FAILURES: usize = 3;
/// if the last one comes within this time of the first.
const WITHIN: Duration = Duration::from_secs(5 * 60);
/// How long it stays open after the last one.
const OPEN_FOR: Duration = Duration::from_secs(10 * 60);

/// The times of the last failed loads, the oldest first. While there are as many as open the circuit breaker, it is open.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FailedLoads(Vec<Timestamp>);

impl FailedLoads {
    /// Whether nothing has failed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Until when routing is off; `None` if it is on.
    pub fn off_until(&self, now: Timestamp) -> Option<Timestamp> {
        let [first, .., last] = self.0.as_slice() else { return None };
        let is_open = self.0.len() == FAILURES && *last <= *first + WITHIN;
        Some(*last + OPEN_FOR).filter(|until| is_open && now < *until)
    }

    /// What still counts at `now`.
    #[must_use]
    pub fn at(&self, now: Timestamp) -> Self {
        if self.off_until(now).is_some() {
            return self.clone();
        }
        // A record that another program wrote may have more of them than count.
        let recent = self.0.iter().rev().filter(|at| **at + WITHIN >= now).take(FAILURES - 1);
        let mut recent: Vec<_> = recent.copied().collect();
        recent.reverse();
        Self(recent)
    }

    /// The same after one more failed load; while routing is off, nothing is added.
    #[must_use]
    pub fn and_one(&self, now: Timestamp) -> Self {
        let mut loads = self.at(now);
        if loads.off_until(now).is_none() {
            loads.0.push(now);
        }
        loads
    }
}

/// The message while routing is off.
pub fn routing_is_off(until: Timestamp) -> String {
    let minutes = WITHIN.as_secs() / 60;
    format!(
        "routing is off until {}: {FAILURES} loads of profiles failed within {minutes} minutes; the base agent works",
        until.format("%Y-%m-%d %H:%M:%S UTC")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(seconds, 0).unwrap()
    }

    fn after(failures: &[i64]) -> FailedLoads {
        failures.iter().fold(FailedLoads::default(), |loads, seconds| loads.and_one(at(*seconds)))
    }

    /// Row M6.
    #[test]
    fn three_failures_within_five_minutes_turn_routing_off_for_ten() {
        for (failures, now, until) in [
            (&[][..], 0, None),
            (&[0][..], 0, None),
            (&[0, 10][..], 10, None),
            (&[0, 10, 20][..], 20, Some(620)),
            (&[0, 10, 20][..], 619, Some(620)),
            (&[0, 10, 20][..], 620, None),
            (&[0, 10, 300][..], 300, Some(900)),
            (&[0, 10, 301][..], 301, None),
            // The first is too old, the last three are not.
            (&[0, 200, 301, 400][..], 400, Some(1_000)),
            // What fails while it is off does not prolong it.
            (&[0, 10, 20, 500][..], 600, Some(620)),
            // Afterwards it counts from none.
            (&[0, 10, 20, 620][..], 620, None),
            (&[0, 10, 20, 620, 630][..], 630, None),
            (&[0, 10, 20, 620, 630, 640][..], 640, Some(1_240)),
            (&[0, 0, 0][..], 0, Some(600)),
        ] {
            assert_eq!(after(failures).off_until(at(now)), until.map(at), "{failures:?} at {now}");
        }
    }

    #[test]
    fn what_is_kept_is_bounded_and_fades() {
        let all: Vec<i64> = (0..100).collect();
        assert_eq!(after(&all).0, [at(0), at(1), at(2)]);
        assert_eq!(after(&[0, 100]).at(at(301)).0, [at(100)]);
        assert!(after(&[0, 1, 2]).at(at(602)).is_empty());
        let foreign = FailedLoads((0..1_000).map(at).collect());
        assert_eq!(foreign.off_until(at(1_000)), None);
        assert!(foreign.at(at(1_000)).0.len() < FAILURES);
    }

    #[test]
    fn it_reads_as_it_was_written() {
        let loads = after(&[0, 10]);
        let text = serde_json::to_string(&loads).unwrap();
        assert_eq!(text, r#"["1970-01-01T00:00:00Z","1970-01-01T00:00:10Z"]"#);
        assert_eq!(serde_json::from_str::<FailedLoads>(&text).unwrap(), loads);
    }
}
