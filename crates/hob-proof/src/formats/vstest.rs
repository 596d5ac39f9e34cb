//! `dotnet test`: `Passed Site.Tests.Slug.Cuts [3 ms]`.

use hob_domain::{TestEnd, TestResults};

pub(super) fn vstest(output: &str) -> TestResults {
    let mut results = TestResults::default();
    for line in output.lines().filter(|line| line.starts_with("  ")) {
        let Some((word, rest)) = line.trim_start().split_once(' ') else { continue };
        let end = match word {
            "Passed" => TestEnd::Passed,
            "Failed" => TestEnd::Failed,
            "Skipped" => TestEnd::Skipped,
            _other => continue,
        };
        let time = rest.rsplit_once(" [").filter(|(_, time)| time.ends_with("s]"));
        if let Some((name, _)) = time {
            results.add(name, end);
        }
    }
    // Its usual words name failures alone.
    let is_there =
        output.lines().any(|line| line.contains("Passed!  - Failed:") || line.contains("Failed!  - Failed:"));
    results.names_failures_alone = is_there && results.ended(TestEnd::Passed).next().is_none();
    results
}
