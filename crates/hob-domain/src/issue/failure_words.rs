//! The words of a failure: in one line where only one fits, and its output as a block.

use hob_text::{clip_middle, terminal};

use crate::LastLines;

/// Lines of the output that people see.
const LINES_SHOWN: usize = 20;
/// Bytes of them.
const OUTPUT_MAX: usize = 3_000;
/// What a line has that names an error.
const ERRORS: [&str; 6] = ["error:", "exception:", "fatal:", "error[", "error -", "failed:"];

/// A failure in one line: what failed, and the line of its output that says why.
pub fn failure_line(failure: &str) -> String {
    let Some((what, output)) = parts(failure) else { return failure.trim().to_owned() };
    let lines = || output.lines().map(str::trim).filter(|line| line.chars().any(char::is_alphanumeric));
    let names_error = |line: &&str| ERRORS.iter().any(|error| line.to_ascii_lowercase().contains(error));
    let is_note = |line: &&str| line.starts_with("note:") || line.starts_with("at ") || line.starts_with("Node.js v");
    let last = lines().rfind(names_error).or_else(|| lines().rfind(|line| !is_note(line)));
    last.map_or_else(|| what.to_owned(), |last| format!("{what}: {last}"))
}

/// The last lines of a failure's output. `None` if the failure is one line.
pub(crate) fn failure_output(failure: &str) -> Option<LastLines> {
    let (_, output) = parts(failure)?;
    let lines: Vec<_> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines[lines.len().saturating_sub(LINES_SHOWN)..].join("\n");
    let lines = clip_middle(&terminal(&last), OUTPUT_MAX).replace("```", "'''");
    Some(LastLines { command: "the agent".to_owned(), lines })
}

/// What failed, and the output after it. `None` if the failure is one line.
fn parts(failure: &str) -> Option<(&str, &str)> {
    let failure = failure.trim();
    let (first, _) = failure.split_once('\n')?;
    let end = first.find(": ").unwrap_or(first.len());
    Some((&failure[..end], failure[end..].trim_start_matches(':').trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PYTHON: &str = "`fixer` ended with exit code 1: Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    \
                          import nope\nModuleNotFoundError: No module named 'nope'";

    /// Field note N84: the first line of a traceback says nothing.
    #[test]
    fn a_failure_of_many_lines_is_its_error() {
        for (failure, line) in [
            ("no route to host", "no route to host"),
            (PYTHON, "`fixer` ended with exit code 1: ModuleNotFoundError: No module named 'nope'"),
            (
                "`x` failed (exit code 1): throw err;\n  ^\n\nError: Cannot find module 'y'\n    at a.js:1:1\n\nNode.js v22.1.0",
                "`x` failed (exit code 1): Error: Cannot find module 'y'",
            ),
            (
                "signal 6 ended `x`: thread 'main' panicked at a.rs:1:1:\nboom\nnote: run with `RUST_BACKTRACE=1`",
                "signal 6 ended `x`: boom",
            ),
            ("it failed\nfor a reason", "it failed: for a reason"),
            ("it failed: \n---\n.", "it failed"),
        ] {
            assert_eq!(failure_line(failure), line);
        }
    }

    #[test]
    fn only_a_failure_of_many_lines_has_an_output() {
        assert_eq!(failure_output("no route to host\n"), None);
        let lines = failure_output(PYTHON).unwrap().lines;
        assert!(lines.starts_with("Traceback") && lines.ends_with("No module named 'nope'"), "{lines}");
        let long = format!("it failed: {}", "```line\n".repeat(3_000));
        let lines = failure_output(&long).unwrap().lines;
        assert!(lines.lines().count() == LINES_SHOWN && !lines.contains("```"), "{lines}");
    }
}
