//! RSpec's formatter `json`.

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
