//! pytest: the lines of `-v`, and the summary `FAILED tests/a.py::test_x - assert 1 == 2`.

use hob_domain::{TestEnd, TestResults};

use crate::failure::failed;

pub(super) fn pytest(output: &str) -> TestResults {
    let mut results = TestResults::default();
    let (mut is_verbose, mut is_there) = (false, false);
    for line in output.lines() {
        if let Some((word, rest)) = line.split_once(' ')
            && matches!(word, "FAILED" | "ERROR" | "PASSED" | "XFAIL" | "XPASS")
            && rest.contains(".py")
        {
            let (name, why) = rest.split_once(" - ").unwrap_or((rest, ""));
            is_there = true;
            results.add(
                name,
                match word {
                    "ERROR" => TestEnd::Broken,
                    "FAILED" => failed(why),
                    "XFAIL" => TestEnd::Skipped,
                    _passed => TestEnd::Passed,
                },
            );
            continue;
        }
        if !line.contains(".py::") {
            continue;
        }
        // `tests/a.py::test_x PASSED   [ 33%]`; the name may have blanks.
        let ends = [
            (" PASSED", TestEnd::Passed),
            (" FAILED", TestEnd::Failed),
            (" SKIPPED", TestEnd::Skipped),
            (" ERROR", TestEnd::Broken),
            (" XFAIL", TestEnd::Skipped),
            (" XPASS", TestEnd::Passed),
        ];
        let found = ends.into_iter().filter_map(|(word, end)| Some((line.rfind(word)?, end))).max_by_key(|(at, _)| *at);
        if let Some((at, end)) = found {
            is_verbose = true;
            results.add(&line[..at], end);
        }
    }
    let says_how_many = output.lines().any(|line| {
        line.starts_with('=')
            && line.contains(" in ")
            && ["passed", "failed", "error"].iter().any(|word| line.contains(word))
    });
    results.names_failures_alone = !is_verbose && (is_there || says_how_many);
    results
}
