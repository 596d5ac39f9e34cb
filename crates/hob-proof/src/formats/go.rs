//! Go: `--- PASS: TestA (0.00s)` above the line of its package, and the events of `go test -json`.

use serde::Deserialize;

use hob_domain::{TestEnd, TestResults};

/// An event of `go test -json`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event {
    action: String,
    package: String,
    test: Option<String>,
}

pub(super) fn go(output: &str) -> TestResults {
    let mut results = TestResults::default();
    // Tests whose package is named below them.
    let mut open: Vec<(&str, TestEnd)> = Vec::new();
    for line in output.lines() {
        if line.starts_with('{') {
            event(line, &mut results);
            continue;
        }
        let ended = line.trim_start().strip_prefix("--- ").and_then(|rest| rest.split_once(": "));
        if let Some((word, name)) = ended {
            let end = match word {
                "PASS" => TestEnd::Passed,
                "FAIL" => TestEnd::Failed,
                "SKIP" => TestEnd::Skipped,
                _other => continue,
            };
            open.extend(name.rsplit_once(" (").filter(|(_, time)| time.ends_with("s)")).map(|(name, _)| (name, end)));
            continue;
        }
        let mut fields = line.split('\t');
        let (Some(word), Some(package)) = (fields.next(), fields.next()) else { continue };
        match word.trim_end() {
            "ok" | "FAIL" => {
                let package = package.trim();
                let (package, why) = package.split_once(" [").unwrap_or((package, ""));
                if matches!(why, "build failed]" | "setup failed]") {
                    results.add(package, TestEnd::Broken);
                }
                // Without `-v`, only failures are named.
                results.names_failures_alone |= open.iter().all(|(_, end)| *end == TestEnd::Failed) && why.is_empty();
                open.drain(..).for_each(|(name, end)| results.add(format!("{package} {name}"), end));
            }
            _other => {}
        }
    }
    results
}

fn event(line: &str, results: &mut TestResults) {
    let Ok(Event { action, package, test }) = serde_json::from_str(line) else { return };
    let end = match action.as_str() {
        "pass" => TestEnd::Passed,
        "fail" => TestEnd::Failed,
        "skip" => TestEnd::Skipped,
        "build-fail" => TestEnd::Broken,
        _other => return,
    };
    match test {
        Some(test) => results.add(format!("{package} {test}"), end),
        None if end == TestEnd::Broken => results.add(package, end),
        None => {}
    }
}
