//! How long things took lately, as the repository's record has it, and their percentiles.
//!
//! # Guarantees
//! A percentile is one of the times that were measured, and is told only if there are enough of them.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Times that are remembered of each kind: as many as the 99th percentile takes.
pub const TIMES_KEPT: usize = 100;

/// The latest times of one kind, in milliseconds, the oldest first.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Latest(Vec<u64>);

/// How long things took lately.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Durations {
    /// From the reading of all profiles until the agent is made.
    #[serde(skip_serializing_if = "Latest::is_empty")]
    pub loads: Latest,
    /// From the end of one run to the start of the next profile's.
    #[serde(skip_serializing_if = "Latest::is_empty")]
    pub hand_offs: Latest,
    /// From the claim of an attempt to the issue's first pull request.
    #[serde(skip_serializing_if = "Latest::is_empty")]
    pub pull_requests: Latest,
}

/// Percentiles of times. `None` if there are too few of them: fewer than 10 for the 50th, and fewer than it takes for one to be above the
/// 95th and the 99th.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Percentiles {
    /// How many times there are.
    pub samples: usize,
    /// What half of them keep to.
    pub p50_ms: Option<u64>,
    /// What 95 in 100 keep to.
    pub p95_ms: Option<u64>,
    /// What 99 in 100 keep to.
    pub p99_ms: Option<u64>,
}

impl Latest {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a time.
    pub fn push(&mut self, took: Duration) {
        self.extend(&[u64::try_from(took.as_millis()).unwrap_or(u64::MAX)]);
    }

    fn extend(&mut self, times: &[u64]) {
        self.0.extend(times);
        drop(self.0.drain(..self.0.len().saturating_sub(TIMES_KEPT)));
    }

    /// Their percentiles, by the nearest rank.
    pub fn percentiles(&self) -> Percentiles {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let samples = sorted.len();
        let at = |percent: usize, least: usize| {
            let rank = (samples * percent).div_ceil(100);
            sorted.get(rank.checked_sub(1)?).copied().filter(|_| samples >= least)
        };
        Percentiles { samples, p50_ms: at(50, 10), p95_ms: at(95, 20), p99_ms: at(99, 100) }
    }
}

impl Durations {
    /// Whether nothing was measured.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// These with `newer` ones after them.
    #[must_use]
    pub fn and(mut self, newer: &Self) -> Self {
        self.loads.extend(&newer.loads.0);
        self.hand_offs.extend(&newer.hand_offs.0);
        self.pull_requests.extend(&newer.pull_requests.0);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latest(times: impl IntoIterator<Item = u64>) -> Latest {
        let mut latest = Latest::default();
        times.into_iter().for_each(|ms| latest.push(Duration::from_millis(ms)));
        latest
    }

    /// Requirement M9: P50, P95 and P99 of distributions that are known, and none of too few times.
    #[test]
    fn percentiles_are_those_of_the_distribution() {
        for (name, times, expected) in [
            ("none", latest([]), (0, None, None, None)),
            ("too few for any", latest(1..=9), (9, None, None, None)),
            ("ten", latest((1..=10).rev()), (10, Some(5), None, None)),
            ("one short of the 95th", latest(1..=19), (19, Some(10), None, None)),
            ("twenty", latest((1..=20).map(|n| n * 10)), (20, Some(100), Some(190), None)),
            ("one short of the 99th", latest(1..=99), (99, Some(50), Some(95), None)),
            ("uniform", latest((1..=100).rev()), (100, Some(50), Some(95), Some(99))),
            (
                "a slow one in ten",
                latest((0..100).map(|n| if n % 10 == 9 { 900 } else { 5 })),
                (100, Some(5), Some(900), Some(900)),
            ),
            (
                "one that is far off",
                latest((0..100).map(|n| if n == 50 { 9_000 } else { 7 })),
                (100, Some(7), Some(7), Some(7)),
            ),
            (
                "the oldest are left out",
                latest((0..300).map(|n| if n < 200 { 1_000_000 } else { 3 })),
                (100, Some(3), Some(3), Some(3)),
            ),
        ] {
            let Percentiles { samples, p50_ms, p95_ms, p99_ms } = times.percentiles();
            assert_eq!((samples, p50_ms, p95_ms, p99_ms), expected, "{name}");
        }
    }

    #[test]
    fn what_is_newer_comes_after_and_what_was_not_measured_takes_no_room() {
        let old = Durations { loads: latest([1; TIMES_KEPT]), ..Durations::default() };
        let new = Durations { loads: latest([2]), pull_requests: latest([3]), ..Durations::default() };
        let both = old.and(&new);
        assert_eq!((both.loads.0.len(), both.loads.0.last()), (TIMES_KEPT, Some(&2)));
        assert_eq!(serde_json::to_string(&new).unwrap(), r#"{"loads":[2],"pull_requests":[3]}"#);
        assert_eq!(serde_json::from_str::<Durations>(r#"{"loads":[2],"pull_requests":[3]}"#).unwrap(), new);
    }
}
