//! What `lab/measure/routing_fit.py` learns from: issues and profiles as the router sees them.

use std::{env, fs, path::PathBuf};

use serde_json::{Value, json};

use super::{Candidate, RoutedText, Router, profile_words::Field, score::features, topics::TOPICS};

/// Reads the file that `HOB_ROUTING_JOBS` names, whose lines are pairs of a file of issues and a folder of profiles, and writes the
/// features beside each file of issues.
#[test]
#[ignore = "a step of lab/measure/routing_fit.py, which sets HOB_ROUTING_JOBS"]
#[expect(clippy::disallowed_methods, reason = "the script that runs it names the file")]
fn features_of_issues() {
    let jobs = fs::read_to_string(env::var_os("HOB_ROUTING_JOBS").unwrap()).unwrap();
    for line in jobs.lines() {
        let (issues, profiles): (PathBuf, PathBuf) = serde_json::from_str(line).unwrap();
        let mut files: Vec<_> = fs::read_dir(profiles).unwrap().map(|file| file.unwrap().path()).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "md"));
        files.sort();
        let read = |file: &PathBuf| {
            let name = file.file_name().unwrap().to_str().unwrap();
            Candidate::from(&crate::profile::parse(name, &fs::read(file).unwrap()).profile.unwrap())
        };
        let candidates: Vec<_> = files.iter().map(read).collect();
        let router = Router::new(&candidates);
        let of_profile = |candidate: &Candidate| {
            let topics = Field::new(candidate).topics;
            let topics = topics.iter().map(|(topic, share)| (TOPICS.name(*topic).to_owned(), json!(share)));
            json!({"name": candidate.name, "topics": topics.collect::<serde_json::Map<_, _>>()})
        };
        let mut lines = vec![json!(candidates.iter().map(of_profile).collect::<Vec<_>>())];
        for line in fs::read_to_string(&issues).unwrap().lines() {
            let issue: Value = serde_json::from_str(line).unwrap();
            let labels: Vec<String> = serde_json::from_value(issue["labels"].clone()).unwrap_or_default();
            let text = |key: &str| issue[key].as_str().unwrap_or_default();
            lines.push(features(&router, RoutedText { title: text("title"), body: text("body"), labels: &labels }));
        }
        let lines: Vec<_> = lines.iter().map(Value::to_string).collect();
        fs::write(issues.with_extension("features"), lines.join("\n")).unwrap();
    }
}
