//! TAP, as of node's runner, bats, prove and many others: `not ok 2 - words`.

use hob_domain::{TestEnd, TestResults};

use crate::failure::failed;

/// The columns of one level of subtests.
const INDENT: usize = 4;

pub(super) fn tap(output: &str) -> TestResults {
    let mut results = TestResults::default();
    // The names of the subtests that are open, from outside inwards.
    let mut open: Vec<&str> = Vec::new();
    // The depth of the last test: a line below deeper ones is their suite's.
    let mut had_tests: Option<usize> = None;
    let lines: Vec<&str> = output.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        let text = line.trim_start();
        let depth = (line.len() - text.len()) / INDENT;
        if let Some(name) = text.strip_prefix("# Subtest: ") {
            open.truncate(depth);
            open.push(name.trim());
            continue;
        }
        // What Perl's tests say where `prove` shows no lines of TAP.
        if let Some(name) = text.strip_prefix("#   Failed test '").and_then(|name| name.strip_suffix('\'')) {
            results.add(name, TestEnd::Failed);
            continue;
        }
        let (is_ok, rest) = match (text.strip_prefix("ok "), text.strip_prefix("not ok ")) {
            (Some(rest), _) => (true, rest),
            (None, Some(rest)) => (false, rest),
            (None, None) => continue,
        };
        let (number, name) = rest.split_once(' ').unwrap_or((rest, ""));
        let is_suite = had_tests == Some(depth + 1);
        had_tests = Some(depth);
        if number.parse::<u64>().is_err() {
            continue;
        }
        let name = name.trim_start_matches("- ");
        let (name, note) =
            name.strip_prefix("# ").map_or_else(|| name.split_once(" # ").unwrap_or((name, "")), |note| ("", note));
        let note = note.trim_start().to_lowercase();
        let why = || said_below(&lines[at + 1..]);
        let end = match (is_ok, note.starts_with("skip") || note.starts_with("todo")) {
            (_, true) => TestEnd::Skipped,
            (true, false) => TestEnd::Passed,
            (false, false) => why(),
        };
        let name = if name.is_empty() { number } else { name };
        open.truncate(depth);
        if is_suite {
            continue;
        }
        results.add([&open[..], &[name]].concat().join(" › "), end);
    }
    let has_lines = lines.iter().any(|line| line.trim_start().starts_with("ok ") || line.starts_with("1.."));
    results.names_failures_alone = !has_lines && !results.is_empty();
    results
}

/// The end of a failed test by the block of notes below it.
fn said_below(lines: &[&str]) -> TestEnd {
    let is_of_it = |line: &&&str| !line.trim_start().starts_with("ok ") && !line.trim_start().starts_with("not ok ");
    let block: Vec<&str> = lines.iter().take_while(is_of_it).take(40).copied().collect();
    failed(&block.join("\n"))
}
