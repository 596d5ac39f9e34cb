//! cargo-nextest: `PASS [   0.004s] (1/3) site money::rounds`.

use hob_domain::{TestEnd, TestResults};

pub(super) fn nextest(output: &str) -> TestResults {
    let mut results = TestResults::default();
    for line in output.lines() {
        let Some((status, rest)) = line.trim_start().split_once(" [") else { continue };
        let end = match status.split_whitespace().next().unwrap_or_default() {
            "PASS" | "LEAK" | "FLAKY" => TestEnd::Passed,
            "FAIL" | "TIMEOUT" | "ABORT" | "LEAK-FAIL" => TestEnd::Failed,
            signal if signal.starts_with("SIG") => TestEnd::Failed,
            "SKIP" => TestEnd::Skipped,
            _other => continue,
        };
        let Some((time, name)) = rest.split_once("] ") else { continue };
        let is_time = time.trim().is_empty() || time.trim().trim_start_matches('>').ends_with('s');
        let name = name.trim();
        // A count, such as `(1/3)`, may stand before the name.
        let name = name.strip_prefix('(').and_then(|rest| rest.split_once(") ")).map_or(name, |(_, name)| name);
        if is_time && name.split_whitespace().count() == 2 {
            results.add(name, end);
        }
    }
    results
}
