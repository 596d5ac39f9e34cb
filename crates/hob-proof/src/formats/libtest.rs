//! Rust's own harness, `cargo test`: `test money::rounds ... ok`.

use hob_domain::{TestEnd, TestResults};

pub(super) fn libtest(output: &str) -> TestResults {
    let mut results = TestResults::default();
    for line in output.lines() {
        let Some((name, end)) = line.strip_prefix("test ").and_then(|rest| rest.rsplit_once(" ... ")) else { continue };
        let end = match end.trim() {
            "ok" => TestEnd::Passed,
            "FAILED" => TestEnd::Failed,
            end if end == "ignored" || end.starts_with("ignored, ") => TestEnd::Skipped,
            _other => continue,
        };
        results.add(name.strip_suffix(" - should panic").unwrap_or(name), end);
    }
    results
}
