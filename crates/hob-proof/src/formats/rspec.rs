//! RSpec: the formatter `json`, and the list of failures below all others.

use serde::Deserialize;

use hob_domain::{TestEnd, TestResults};

use crate::failure::failed;

#[derive(Deserialize)]
struct Report {
    examples: Vec<Example>,
}

#[derive(Deserialize)]
struct Example {
    full_description: String,
    status: String,
    #[serde(default)]
    exception: Option<Exception>,
}

#[derive(Deserialize)]
struct Exception {
    class: String,
    message: String,
}

/// The tests of a report. `None` if it is none.
pub fn rspec(text: &str) -> Option<TestResults> {
    let report: Report = serde_json::from_str(text).ok()?;
    let mut results = TestResults::default();
    for Example { full_description, status, exception } in report.examples {
        let end = match status.as_str() {
            "passed" => TestEnd::Passed,
            "failed" => exception.map_or(TestEnd::Failed, |one| failed(&format!("{}: {}", one.class, one.message))),
            _pending => TestEnd::Skipped,
        };
        results.add(full_description, end);
    }
    Some(results)
}

/// The failures that the output lists: `rspec ./spec/slug_spec.rb:4 # slug keeps accents`.
pub(super) fn listed(output: &str) -> TestResults {
    let mut results = TestResults::default();
    let lines: Vec<&str> = output.lines().collect();
    for line in &lines {
        let Some((place, name)) = line.strip_prefix("rspec ").and_then(|rest| rest.split_once(" # ")) else { continue };
        if !place.contains(".rb") {
            continue;
        }
        let above = lines.iter().position(|line| line.trim_start().split_once(") ").is_some_and(|(_, of)| of == name));
        let said = above.map(|at| lines[at + 1..].iter().take(6).copied().collect::<Vec<_>>().join("\n"));
        results.add(name, said.map_or(TestEnd::Failed, |said| failed(&said)));
    }
    results.names_failures_alone = lines.iter().any(|line| line.contains(" examples, ") || line.contains(" example, "));
    results
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read() {
        let text = r#"{"version":"3.13","examples":[
            {"full_description":"Slug cuts","status":"passed"},
            {"full_description":"Slug keeps","status":"failed","exception":{"class":"NoMethodError","message":"undefined method `keep'"}},
            {"full_description":"Slug later","status":"pending","exception":null}]}"#;
        let results = rspec(text).unwrap();
        assert_eq!(results.end("Slug cuts"), Some(TestEnd::Passed));
        assert_eq!(results.end("Slug keeps"), Some(TestEnd::Broken));
        assert_eq!(results.end("Slug later"), Some(TestEnd::Skipped));
        assert_eq!(rspec("{}"), None);
    }
}
