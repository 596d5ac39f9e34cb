//! TAP, as of node's runner, bats, prove and many others: `not ok 2 - words`.

use hob_domain::{TestEnd, TestResults};

/// The columns of one level of subtests.
const INDENT: usize = 4;

pub(super) fn tap(output: &str) -> TestResults {
    let mut results = TestResults::default();
    // The names of the subtests that are open, from outside inwards.
    let mut open: Vec<&str> = Vec::new();
    for line in output.lines() {
        let text = line.trim_start();
        let depth = (line.len() - text.len()) / INDENT;
        if let Some(name) = text.strip_prefix("# Subtest: ") {
            open.truncate(depth);
            open.push(name.trim());
            continue;
        }
        let (is_ok, rest) = match (text.strip_prefix("ok "), text.strip_prefix("not ok ")) {
            (Some(rest), _) => (true, rest),
            (None, Some(rest)) => (false, rest),
            (None, None) => continue,
        };
        let (number, name) = rest.split_once(' ').unwrap_or((rest, ""));
        if number.parse::<u64>().is_err() {
            continue;
        }
        let name = name.trim_start_matches("- ");
        let (name, note) = name.split_once(" # ").unwrap_or((name, ""));
        let note = note.trim_start().to_lowercase();
        let end = match (is_ok, note.starts_with("skip") || note.starts_with("todo")) {
            (_, true) => TestEnd::Skipped,
            (true, false) => TestEnd::Passed,
            (false, false) => TestEnd::Failed,
        };
        let name = if name.is_empty() { number } else { name };
        open.truncate(depth);
        results.add([&open[..], &[name]].concat().join(" › "), end);
    }
    results
}
