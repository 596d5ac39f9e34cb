//! How long things take, on the dashboard.

use hob_domain::{Durations, Latest};

/// The section on times; empty if nothing was measured.
pub(super) fn times(durations: &Durations) -> String {
    let kinds = [
        ("load of an agent", &durations.loads),
        ("hand-off", &durations.hand_offs),
        ("claim to pull request", &durations.pull_requests),
    ];
    let rows: String = kinds.into_iter().filter_map(|(what, latest)| row(what, latest)).collect();
    if rows.is_empty() {
        return String::new();
    }
    format!("\n### Times\n\n| the latest | number | P50 | P95 | P99 |\n|---|---|---|---|---|\n{rows}")
}

fn row(what: &str, latest: &Latest) -> Option<String> {
    let of = latest.percentiles();
    let [p50, p95, p99] = [of.p50_ms, of.p95_ms, of.p99_ms].map(|ms| ms.map_or_else(|| "too few".to_owned(), in_words));
    (of.samples > 0).then(|| format!("| {what} | {} | {p50} | {p95} | {p99} |\n", of.samples))
}

fn in_words(ms: u64) -> String {
    match (ms, ms / 1_000) {
        (0, _) => "< 1 ms".to_owned(),
        (_, 0) => format!("{ms} ms"),
        (_, seconds @ 1..60) => format!("{seconds}.{} s", ms % 1_000 / 100),
        (_, seconds @ 60..3_600) => format!("{} min {} s", seconds / 60, seconds % 60),
        (_, seconds) => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Requirement M9: the dashboard has P50, P95 and P99, and says where there are too few times for one.
    #[test]
    fn times_are_told_with_their_percentiles() {
        let mut durations = Durations::default();
        assert_eq!(times(&durations), "");
        (0..100).for_each(|n| durations.loads.push(Duration::from_millis(n * 20)));
        (0..20).for_each(|n| durations.pull_requests.push(Duration::from_secs(n * 400)));
        (0..3).for_each(|_| durations.hand_offs.push(Duration::from_millis(70)));
        insta::assert_snapshot!(times(&durations), @r"

        ### Times

        | the latest | number | P50 | P95 | P99 |
        |---|---|---|---|---|
        | load of an agent | 100 | 980 ms | 1.8 s | 1.9 s |
        | hand-off | 3 | too few | too few | too few |
        | claim to pull request | 20 | 1 h 0 min | 2 h 0 min | too few |
        ");
    }

    #[test]
    fn a_time_is_as_exact_as_it_is_short() {
        for (ms, words) in [
            (0, "< 1 ms"),
            (999, "999 ms"),
            (1_000, "1.0 s"),
            (59_999, "59.9 s"),
            (60_000, "1 min 0 s"),
            (3_599_999, "59 min 59 s"),
            (3_600_000, "1 h 0 min"),
            (90_000_000, "25 h 0 min"),
        ] {
            assert_eq!(in_words(ms), words);
        }
    }
}
