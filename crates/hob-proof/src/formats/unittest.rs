//! Python's unittest: `test_a (tests.test_x.T.test_a) ... ok` of `-v`, otherwise `FAIL: test_a (…)`.

use hob_domain::{TestEnd, TestResults};

use crate::failure::failed;

pub(super) fn unittest(output: &str) -> TestResults {
    let mut results = TestResults::default();
    let mut is_verbose = false;
    // A test whose first line has no end: its description follows, or what was printed meanwhile, such as a warning.
    let mut open: Option<String> = None;
    let lines: Vec<&str> = output.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        if let Some((word, rest)) = line.split_once(": ")
            && matches!(word, "FAIL" | "ERROR")
            && let Some(name) = name_of(rest)
        {
            let block = lines[at + 1..]
                .iter()
                .skip(1)
                .take_while(|line| !line.starts_with("====") && !line.starts_with("----"));
            let end = block.filter(|line| !line.starts_with(' ')).map(|line| failed(line)).max();
            results.add(name, end.unwrap_or(TestEnd::Failed));
            continue;
        }
        let (before, end) = match line.rsplit_once(" ... ") {
            Some((before, end)) => (before, end_of(end)),
            None => (*line, end_of(line).filter(|_| open.is_some())),
        };
        match (name_of(before), end, open.take()) {
            (Some(name), Some(end), _) => {
                is_verbose = true;
                results.add(name, end);
            }
            (Some(name), None, _) => open = Some(name),
            (None, Some(end), Some(name)) => {
                is_verbose = true;
                results.add(name, end);
            }
            (None, None, before) => open = before,
            (None, Some(_), None) => {}
        }
    }
    let is_there = lines.iter().any(|line| {
        let count = line.strip_prefix("Ran ").and_then(|rest| rest.split_once(" test")).map(|(count, _)| count);
        count.is_some_and(|count| count.parse::<u64>().is_ok())
    });
    results.names_failures_alone = is_there && !is_verbose;
    results
}

fn end_of(word: &str) -> Option<TestEnd> {
    match word.trim() {
        "ok" | "unexpected success" => Some(TestEnd::Passed),
        "FAIL" => Some(TestEnd::Failed),
        // Its reason is told below; until then it only failed.
        "ERROR" => Some(TestEnd::Failed),
        word if word.starts_with("skipped") || word == "expected failure" => Some(TestEnd::Skipped),
        _other => None,
    }
}

/// The whole name in `test_a (tests.test_x.T.test_a)`; before Python 3.11 the part in brackets ends with the class.
fn name_of(text: &str) -> Option<String> {
    let (name, rest) = text.split_once(" (")?;
    let inner = rest.split_once(')')?.0;
    let is_name = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_.".contains(c));
    if !is_name(name) || !is_name(inner) || !inner.contains('.') {
        return None;
    }
    Some(if inner.ends_with(&format!(".{name}")) { inner.to_owned() } else { format!("{inner}.{name}") })
}
