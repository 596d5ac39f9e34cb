//! What the router is held to on real issues of public repositories: `lab/routing`, with the part that nobody tuned on.

use std::{collections::BTreeMap, fs, path::PathBuf};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::{Candidate, Evaluation, Judged, RoutedText, Router, RoutingRules, evaluate};

/// The files of real issues.
const REAL: [&str; 4] = ["issues", "plain", "fresh", "topics"];

/// A set of profiles, as `lab/routing/sets.json` has it.
#[derive(Deserialize)]
struct Set {
    profiles: String,
    topics: BTreeMap<String, String>,
    unclear: Vec<String>,
}

#[derive(Deserialize)]
struct Issue {
    source: String,
    title: String,
    body: String,
    labels: Vec<String>,
    topic: Option<String>,
}

fn lab(path: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../lab/routing")).join(path)
}

/// Whether an issue is only measured: `part` of `lab/measure/routing_split.py`.
fn is_held_out(issue: &Issue) -> bool {
    let repo = issue.source.split('#').next().unwrap().to_lowercase();
    Sha256::digest(repo)[0] < 0x80
}

/// The router's figures on the issues that are only measured.
fn measured(set: &Set) -> Evaluation {
    let mut files: Vec<_> = fs::read_dir(lab(&set.profiles)).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let read = |file: &PathBuf| {
        let name = file.file_name().unwrap().to_str().unwrap();
        Candidate::from(&crate::profile::parse(name, &fs::read(file).unwrap()).profile.unwrap())
    };
    let router = Router::new(&files.iter().map(read).collect::<Vec<_>>());
    let mut judged = Vec::new();
    for file in REAL {
        for line in fs::read_to_string(lab(&format!("real/{file}.jsonl"))).unwrap().lines() {
            let issue: Issue = serde_json::from_str(line).unwrap();
            let topic = issue.topic.as_deref().unwrap_or_default();
            if topic == "?" || set.unclear.iter().any(|unclear| unclear == topic) || !is_held_out(&issue) {
                continue;
            }
            let expected = set.topics.get(topic).map(|name| name.parse().unwrap());
            let text = RoutedText { title: &issue.title, body: &issue.body, labels: &issue.labels };
            judged.push(Judged { expected, present: None, routing: router.route(text), micros: 0 });
        }
    }
    evaluate(&judged, RoutingRules::default())
}

/// The figures of `docs/design/routing.md`: they may only get better.
#[test]
fn real_issues_that_nobody_tuned_on_are_routed_as_well_as_before() {
    let sets = fs::read_to_string(lab("sets.json")).unwrap();
    let sets: BTreeMap<String, Set> = serde_json::from_str(&sets).unwrap();
    for (name, accuracy, calibration, precision) in FLOORS {
        let found = measured(&sets[name]);
        assert!(found.issues > 400, "{name}: {}", found.issues);
        let (is, gate) = (found.accuracy, found.gate);
        assert!(is >= accuracy && found.calibration_error <= calibration, "{name}: {is} {}", found.calibration_error);
        assert!(gate.precision >= precision, "{name}: {gate:?}");
    }
}

/// For each set: accuracy, calibration error, and how much of what is loaded is right.
const FLOORS: [(&str, f64, f64, f64); 3] =
    [("lab", 0.84, 0.047, 0.93), ("subagents", 0.735, 0.068, 0.84), ("copilot", 0.815, 0.065, 0.89)];
