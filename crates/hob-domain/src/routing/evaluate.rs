//! How good the router is, on issues whose profile is known.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    ProfileName,
    routing::{
        decide::{ChosenBy, RouteChoice, RoutingRules, decide_agent},
        score::Routing,
    },
};

/// The name of issues without a profile in the confusion table; no profile can have this name.
const NONE: &str = "(none)";
/// The parts into which confidences are divided for the calibration error.
const BINS: usize = 10;

/// An issue whose profile is known, and what the router said.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// Its profile; `None` for the base agent.
    pub expected: Option<ProfileName>,
    /// Who already works, for a message about an issue; `expected` is who should continue.
    pub present: Option<ProfileName>,
    /// What the router said.
    pub routing: Routing,
    /// How long that took, in microseconds.
    pub micros: u64,
}

/// What the gate, confidence and complexity together, lets through.
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize)]
pub struct GateResult {
    /// Issues for which a profile was loaded,
    pub loaded: usize,
    /// of them with the right one,
    pub right: usize,
    /// and with a wrong one.
    pub wrong: usize,
    /// Issues that have a profile, and were left to the base agent.
    pub left: usize,
    /// The part of all issues with the right profile loaded, or rightly none.
    pub accuracy: f64,
    /// The part of what was loaded that is right.
    pub precision: f64,
    /// The part of the issues that have a profile for which one was loaded.
    pub engagement: f64,
}

/// What messages about issues lead to.
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize)]
pub struct Switches {
    /// Messages.
    pub messages: usize,
    /// Messages after which the right profile works: another one, or the same.
    pub right: usize,
    /// Messages about another field after which the same profile continued.
    pub missed: usize,
    /// Messages after which another profile took over and should not have, or another one should have.
    pub wrong: usize,
    /// The part of the messages after which the right profile works.
    pub accuracy: f64,
}

/// How long it took, in milliseconds.
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize)]
pub struct Latency {
    /// Half of all took less.
    pub p50_ms: f64,
    /// 95 of 100 took less.
    pub p95_ms: f64,
    /// The longest.
    pub max_ms: f64,
}

/// How good the router is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    /// Issues.
    pub issues: usize,
    /// The part of them whose first choice is right: the likeliest profile, or none if that is likelier.
    pub accuracy: f64,
    /// What the gate lets through.
    pub gate: GateResult,
    /// What messages led to; `None` if there are no messages.
    pub switches: Option<Switches>,
    /// How far confidence and truth are apart on average, of the likeliest profile, in ten parts of equal width.
    pub calibration_error: f64,
    /// By the profile that is right, how often each was the first choice.
    pub confusion: BTreeMap<String, BTreeMap<String, usize>>,
    /// How long it took.
    #[serde(flatten)]
    pub latency: Latency,
}

impl Judged {
    /// The first choice, and whether it is right.
    pub fn first_choice(&self) -> (Option<&ProfileName>, bool) {
        let first = self.routing.ranked.first().filter(|first| first.likeness.is_choice());
        let first = first.map(|first| &first.profile);
        (first, first == self.expected.as_ref())
    }
}

/// Summarizes the results.
pub fn evaluate(judged: &[Judged], rules: RoutingRules) -> Evaluation {
    let (messages, judged): (Vec<_>, Vec<_>) = judged.iter().partition(|judged| judged.present.is_some());
    Evaluation { switches: switches(&messages, rules), ..evaluate_issues(&judged, rules) }
}

/// Who continues after each message, as the worker decides it.
fn switches(messages: &[&Judged], rules: RoutingRules) -> Option<Switches> {
    let mut found = Switches { messages: messages.len(), ..Switches::default() };
    for message in messages {
        let present = RouteChoice {
            by: ChosenBy::Router,
            profile: message.present.clone(),
            percent: 100,
            complexity: 10,
            reasons: Vec::new(),
            overridden: None,
            warning: None,
        };
        let next = decide_agent(None, &message.routing, Some(&present), rules).profile;
        match next == message.expected {
            true => found.right += 1,
            false if next == message.present => found.missed += 1,
            false => found.wrong += 1,
        }
    }
    found.accuracy = part(found.right, found.messages);
    (!messages.is_empty()).then_some(found)
}

fn evaluate_issues(judged: &[&Judged], rules: RoutingRules) -> Evaluation {
    let mut confusion: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
    let (mut right, mut gate) = (0, GateResult::default());
    for issue in judged {
        let (first, is_right) = issue.first_choice();
        right += usize::from(is_right);
        let named = |profile: Option<&ProfileName>| profile.map_or(NONE, ProfileName::as_str).to_owned();
        let row = confusion.entry(named(issue.expected.as_ref())).or_default();
        *row.entry(named(first)).or_default() += 1;
        let loaded = decide_agent(None, &issue.routing, None, rules).profile;
        match (&loaded, &issue.expected) {
            (Some(loaded), expected) => {
                gate.loaded += 1;
                let fits = Some(loaded) == expected.as_ref();
                gate.right += usize::from(fits);
                gate.wrong += usize::from(!fits);
            }
            (None, Some(_)) => gate.left += 1,
            (None, None) => {}
        }
    }
    gate.accuracy = part(judged.len() - gate.wrong - gate.left, judged.len());
    gate.precision = part(gate.right, gate.loaded);
    let with_one = judged.iter().filter(|issue| issue.expected.is_some()).count();
    gate.engagement = part(with_one - gate.left, with_one);
    Evaluation {
        issues: judged.len(),
        accuracy: part(right, judged.len()),
        gate,
        switches: None,
        calibration_error: calibration_error(judged),
        confusion,
        latency: latency(judged),
    }
}

/// The part that `of` is of `all`; of nothing, all is right.
#[expect(clippy::cast_precision_loss, reason = "they are counts of issues")]
fn part(of: usize, all: usize) -> f64 {
    if all == 0 { 1.0 } else { of as f64 / all as f64 }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a confidence is in [0, 1]")]
#[expect(clippy::cast_precision_loss, reason = "they are counts of issues")]
fn calibration_error(judged: &[&Judged]) -> f64 {
    let mut bins = [(0.0_f64, 0_usize); BINS];
    for issue in judged {
        let Some(first) = issue.routing.ranked.first() else { continue };
        let bin = &mut bins[((first.confidence * BINS as f32) as usize).min(BINS - 1)];
        let right = issue.expected.as_ref() == Some(&first.profile);
        bin.0 += f64::from(first.confidence) - if right { 1.0 } else { 0.0 };
        bin.1 += 1;
    }
    let apart: f64 = bins.iter().map(|(apart, _)| apart.abs()).sum();
    let issues: usize = bins.iter().map(|(_, issues)| issues).sum();
    if issues == 0 { 0.0 } else { apart / issues as f64 }
}

#[expect(clippy::cast_precision_loss, reason = "no route takes years")]
fn latency(judged: &[&Judged]) -> Latency {
    let mut micros: Vec<u64> = judged.iter().map(|issue| issue.micros).collect();
    micros.sort_unstable();
    let at = |percent: usize| {
        let place = (micros.len() * percent).div_ceil(100).saturating_sub(1);
        micros.get(place).map_or(0.0, |micros| *micros as f64 / 1000.0)
    };
    Latency { p50_ms: at(50), p95_ms: at(95), max_ms: at(100) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::{Candidate, RoutedText, Router};

    fn judged(router: &Router, title: &str, body: &str, expected: Option<&str>) -> Judged {
        let routing = router.route(RoutedText { title, body, labels: &[] });
        Judged { expected: expected.map(|name| name.parse().unwrap()), present: None, routing, micros: 1_000 }
    }

    #[test]
    fn figures_are_counted() {
        let file = |name: &str, what: &str| format!("---\nname: {name}\ndescription: {what}\n---\nBe careful.\n");
        let files = [file("dora", "Databases and SQL."), file("wally", "Security.")];
        let read = |file: &String| crate::profile::parse("x.md", file.as_bytes()).profile.unwrap();
        let router = Router::new(&files.each_ref().map(|file| Candidate::from(&read(file))));
        let deadlock = "Two transactions on the table `orders` end in a deadlock. It happens whenever a migration runs, and \
                        the query plan shows a sequential scan of all the rows. Please add an index.";
        let judged = [
            judged(&router, "Deadlock in Postgres", deadlock, Some("dora")),
            judged(&router, "Deadlock in Postgres", deadlock, Some("wally")),
            judged(&router, "What's the weather?", "", None),
            judged(&router, "What's the weather?", "", Some("dora")),
        ];
        let found = evaluate(&judged, RoutingRules::default());
        assert_eq!((found.issues, found.accuracy), (4, 0.5));
        let gate =
            GateResult { loaded: 2, right: 1, wrong: 1, left: 1, accuracy: 0.5, precision: 0.5, engagement: 2.0 / 3.0 };
        assert_eq!(found.gate, gate);
        assert_eq!(found.confusion["wally"]["dora"], 1);
        assert_eq!(found.confusion["(none)"]["(none)"], 1);
        // It was sure of two, of which one is right, and certain that the other two have no profile.
        assert!((found.calibration_error - 0.37).abs() < 0.13, "{}", found.calibration_error);
        assert_eq!((found.latency.p50_ms, found.latency.p95_ms), (1.0, 1.0));
    }

    /// Requirement M2: each message is classified anew.
    #[test]
    fn messages_are_counted_by_who_goes_on() {
        let file = |name: &str, what: &str| format!("---\nname: {name}\ndescription: {what}\n---\nBe careful.\n");
        let files = [file("dora", "Databases and SQL."), file("wally", "Security.")];
        let read = |file: &String| crate::profile::parse("x.md", file.as_bytes()).profile.unwrap();
        let router = Router::new(&files.each_ref().map(|file| Candidate::from(&read(file))));
        let said = |body: &str, expected: &str| Judged {
            present: Some("wally".parse().unwrap()),
            ..judged(&router, "", body, Some(expected))
        };
        let sql = "The deadlock is in Postgres: the query needs an index, and the migration locks the table.";
        let judged = [said(sql, "dora"), said(sql, "wally"), said("Thank you.", "wally"), said("Thank you.", "dora")];
        let found = evaluate(&judged, RoutingRules::default());
        let switches = Switches { messages: 4, right: 2, missed: 1, wrong: 1, accuracy: 0.5 };
        assert_eq!((found.issues, found.switches), (0, Some(switches)));
    }

    #[test]
    fn nothing_is_measured_on_nothing() {
        let found = evaluate(&[], RoutingRules::default());
        assert_eq!((found.issues, found.accuracy, found.calibration_error, found.latency.p95_ms), (0, 1.0, 0.0, 0.0));
    }
}
