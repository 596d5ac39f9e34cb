//! Runners that put a mark before each test: jest, vitest, mocha, node's `spec`, PHPUnit's `--testdox`. The lines above that
//! are indented less name its suites.

use hob_domain::{TestEnd, TestResults};

/// The longest line that may name a suite, in characters.
const SUITE_MAX: usize = 160;

pub(super) fn marks(output: &str) -> TestResults {
    let mut results = TestResults::default();
    // The suites that are open: their indentation and name.
    let mut open: Vec<(usize, &str)> = Vec::new();
    let has_marks = output.contains(['✓', '✔', '✕', '✖', '✘', '×']);
    if !has_marks {
        return results;
    }
    for line in output.lines() {
        let text = line.trim_start();
        let indent = line.chars().count() - text.chars().count();
        let text = text.trim_end();
        if text.is_empty() {
            continue;
        }
        open.retain(|(of, _)| *of < indent);
        match test(text) {
            // A test that is not in a suite has none to be mistaken for, unless it is of mocha's kind, which is also a list.
            Some(_) if open.is_empty() && !starts_with_mark(text) => {}
            Some((name, end)) => {
                let suites = open.iter().map(|(_, suite)| *suite).filter(|suite| !is_file(suite));
                let name: Vec<&str> = suites.chain([without_time(name)]).collect();
                results.add(name.join(" › "), end);
            }
            None if text.chars().count() <= SUITE_MAX => {
                open.push((indent, without_time(text.trim_start_matches("▶ "))))
            }
            None => {}
        }
    }
    results.names_failures_alone = results.ended(TestEnd::Passed).next().is_none() && !results.is_empty();
    results
}

fn starts_with_mark(text: &str) -> bool {
    text.starts_with(['✓', '✔', '✕', '✖', '✘', '×', '○', '﹣', '↓'])
}

/// The name and the end that a line says.
fn test(text: &str) -> Option<(&str, TestEnd)> {
    let (mark, rest) = text.split_once(' ')?;
    let end = match mark {
        "✓" | "✔" => TestEnd::Passed,
        "✕" | "✖" | "✘" | "×" => TestEnd::Failed,
        "○" | "﹣" | "-" | "↓" => TestEnd::Skipped,
        // mocha's number of a failure.
        number if number.strip_suffix(')').is_some_and(|number| number.parse::<u32>().is_ok()) => TestEnd::Failed,
        _other => return None,
    };
    let rest = rest.trim_start();
    Some((rest.strip_prefix("skipped ").filter(|_| mark == "○").unwrap_or(rest), end))
}

/// The file that jest names above its suites.
fn is_file(suite: &str) -> bool {
    suite.starts_with("PASS ") || suite.starts_with("FAIL ")
}

/// A name without the time and note behind it.
fn without_time(name: &str) -> &str {
    let name = name.split_once(" # ").map_or(name, |(name, _)| name).trim_end();
    let bracketed = name.rsplit_once(" (").filter(|(_, time)| is_time(time.trim_end_matches(')')));
    let bare = name.rsplit_once(' ').filter(|(_, time)| is_time(time));
    bracketed.or(bare).map_or(name, |(name, _)| name).trim_end()
}

fn is_time(text: &str) -> bool {
    let number = text.trim_end_matches("ms").trim_end_matches('s').trim();
    text.ends_with('s') && !number.is_empty() && number.chars().all(|c| c.is_ascii_digit() || c == '.')
}
