//! Metrics of profiles, routing and hand-offs, and of what was done in less than the full way.

use std::{sync::Arc, time::Duration};

use hob_domain::{ChosenBy, RouteChoice};
use prometheus_client::metrics::{counter::Counter, family::Family, histogram::Histogram};

use crate::metrics::{
    named::{Labels, Named, count},
    room::{Names, Room},
};

/// Upper ends of the buckets of hand-offs, in seconds: they are to take less than 100 ms.
const HAND_OVER_BUCKETS: [f64; 5] = [0.05, 0.1, 0.5, 2.0, 10.0];
/// Upper ends of the buckets of loads, in seconds: they are to take less than 1 s.
const LOAD_BUCKETS: [f64; 5] = [0.1, 0.5, 1.0, 2.0, 10.0];
/// The agent of a load that failed before anybody knew whose it was.
const UNKNOWN: &str = "unknown";
/// Who works where nobody is named.
const BASE: &str = "base";

pub(crate) struct Profiles {
    loaded: Names<1>,
    failed: Names<1>,
    switched: Names<2>,
    handed: Names<2>,
    reads: Family<Labels, Counter>,
    loads: Family<Labels, Counter>,
    load_errors: Family<Labels, Counter>,
    load_seconds: Histogram,
    decisions: Family<Labels, Counter>,
    overrides: Counter,
    switches: Family<Labels, Counter>,
    hand_offs: Family<Labels, Counter>,
    chain_ends: Counter,
    hand_off_seconds: Histogram,
    degradations: Family<Labels, Counter>,
}

impl Profiles {
    pub(super) fn new(room: &Arc<Room>) -> Self {
        Self {
            loaded: Names::new(room, 1),
            failed: Names::new(room, 1),
            switched: Names::new(room, 1),
            handed: Names::new(room, 1),
            reads: Family::default(),
            loads: Family::default(),
            load_errors: Family::default(),
            load_seconds: Histogram::new(LOAD_BUCKETS),
            decisions: Family::default(),
            overrides: Counter::default(),
            switches: Family::default(),
            hand_offs: Family::default(),
            chain_ends: Counter::default(),
            hand_off_seconds: Histogram::new(HAND_OVER_BUCKETS),
            degradations: Family::default(),
        }
    }

    pub(super) fn register(&self, of: &mut Named<'_>) {
        of.count(
            "profile_reads",
            "Times that all profiles were read, by whether each place could be read",
            &self.reads,
        );
        of.count("profile_loads", "Loads of an agent or a profile, by name and result", &self.loads);
        of.count("profile_load_errors", "Loads that failed, by name and reason", &self.load_errors);
        of.time(
            "profile_load",
            "How long the agent or profile that works took to load: reading all profiles, and making the agent",
            &self.load_seconds,
        );
        of.count("routing_decisions", "Choices of who works, by who decided", &self.decisions);
        of.count("routing_overrides", "Choices of people in the place of the router's", &self.overrides);
        of.count(
            "profile_switches",
            "Switches from the agent or profile that was chosen before, by both",
            &self.switches,
        );
        of.count("hand_offs", "Hand-offs that were taken, by profile from and to", &self.hand_offs);
        of.count("chain_ends", "Chains that ended where an agent wanted to hand off", &self.chain_ends);
        of.time(
            "hand_off",
            "How long a hand-off took, from the end of one run to the start of the next",
            &self.hand_off_seconds,
        );
        of.count("degradations", "Times that Hob did less than it was asked to, by reason", &self.degradations);
    }

    /// All profiles were read.
    pub(crate) fn read(&self, unread_places: usize) {
        let result = if unread_places == 0 { "ok" } else { "failed" };
        count(&self.reads, &vec![("result", result.to_owned())]);
        for _ in 0..unread_places {
            self.load_failed(None, LoadFault::Place);
            self.degraded(Degraded::Place);
        }
    }

    /// An agent or a profile was loaded.
    pub(crate) fn loaded(&self, agent: &str, took: Duration) {
        self.count_load(agent, "ok");
        self.load_seconds.observe(took.as_secs_f64());
    }

    /// An agent or a profile could not be loaded; `None` if its name is not known.
    pub(crate) fn load_failed(&self, agent: Option<&str>, fault: LoadFault) {
        let (agent, reason) = (agent.unwrap_or(UNKNOWN), fault.reason());
        let [counted] = self.failed.of([agent], reason);
        count(&self.load_errors, &vec![("agent", counted), ("reason", reason.to_owned())]);
        self.count_load(agent, "failed");
    }

    fn count_load(&self, agent: &str, result: &'static str) {
        let [agent] = self.loaded.of([agent], result);
        count(&self.loads, &vec![("agent", agent), ("result", result.to_owned())]);
    }

    /// Somebody was chosen to work.
    pub(crate) fn decided(&self, choice: &RouteChoice, before: Option<&RouteChoice>) {
        let by = match choice.by {
            ChosenBy::Command => "command",
            ChosenBy::Label => "label",
            ChosenBy::Repository => "repository",
            ChosenBy::Router => "router",
            ChosenBy::Base => "base",
        };
        count(&self.decisions, &vec![("by", by.to_owned())]);
        let is_new = before.is_none_or(|before| before.profile != choice.profile);
        if is_new && choice.by.is_person() && choice.overridden.is_some() {
            self.overrides.inc();
        }
        if let Some(before) = before.filter(|_| is_new) {
            let name =
                |choice: &RouteChoice| choice.profile.as_ref().map_or_else(|| BASE.to_owned(), ToString::to_string);
            count(&self.switches, &pair(&self.switched, &name(before), &name(choice)));
        }
    }

    /// A hand-off was taken.
    pub(crate) fn handed_over(&self, from: &str, to: &str, took: Duration) {
        count(&self.hand_offs, &pair(&self.handed, from, to));
        self.hand_off_seconds.observe(took.as_secs_f64());
    }

    /// A chain ended before its agent wanted it to.
    pub(crate) fn chain_ended(&self) {
        self.chain_ends.inc();
        self.degraded(Degraded::HandOff);
    }

    /// Less is done than was wanted.
    pub(crate) fn degraded(&self, why: Degraded) {
        count(&self.degradations, &vec![("reason", why.reason().to_owned())]);
    }
}

fn pair(names: &Names<2>, from: &str, to: &str) -> Labels {
    let [from, to] = names.of([from, to], "");
    vec![("from", from), ("to", to)]
}

/// Why less is done than was wanted: the base agent works, a chain ends, nobody reviews.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Degraded {
    /// A place of profiles cannot be read.
    Place,
    /// A profile is gone, damaged, or cannot be made into an agent.
    Profile,
    /// The circuit breaker has turned routing off.
    RoutingOff,
    /// The model that was asked for a choice gave no answer.
    RoutingModel,
    /// A model did not answer, and another one did.
    Model,
    /// A hand-off was not taken.
    HandOff,
    /// There was no review.
    Review,
}

impl Degraded {
    fn reason(self) -> &'static str {
        match self {
            Self::Place => "place",
            Self::Profile => "profile",
            Self::RoutingOff => "routing_off",
            Self::RoutingModel => "routing_model",
            Self::Model => "model",
            Self::HandOff => "hand_off",
            Self::Review => "review",
        }
    }
}

/// Why an agent or a profile could not be loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoadFault {
    /// Its file is damaged.
    Damaged,
    /// There is none of that name.
    Missing,
    /// It brings no change, and a change is wanted.
    Deliverable,
    /// Its agent cannot be made.
    Agent,
    /// A place of profiles cannot be read.
    Place,
}

impl LoadFault {
    fn reason(self) -> &'static str {
        match self {
            Self::Damaged => "damaged",
            Self::Missing => "missing",
            Self::Deliverable => "deliverable",
            Self::Agent => "agent",
            Self::Place => "place",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{MetricsFormat, all::Metrics, text::text_of};

    /// The lines of the metrics that have `part`, sorted, without buckets.
    fn lines_with(metrics: &Metrics, part: &str) -> Vec<String> {
        let text = text_of(metrics, MetricsFormat::OpenMetrics);
        let lines = text.lines().filter(|line| line.contains(part) && !line.contains("_bucket{"));
        let mut lines: Vec<_> = lines.map(str::to_owned).collect();
        lines.sort();
        lines
    }

    /// Requirement M9: loads by agent, result and reason with their time, switches and hand-offs from one to another.
    #[test]
    fn what_happens_is_counted_by_name_and_reason() {
        let metrics = Metrics::new();
        let profiles = &metrics.profiles;
        profiles.loaded("counted-agent", Duration::from_millis(20));
        profiles.load_failed(Some("counted-agent"), LoadFault::Missing);
        profiles.handed_over("counted-agent", "counted-other", Duration::from_millis(70));
        let choice = |by, profile: Option<&str>| RouteChoice {
            profile: profile.map(|name| name.parse().unwrap()),
            overridden: Some("counted-router".parse().unwrap()),
            ..RouteChoice::of_agent(by)
        };
        let (base, named) = (choice(ChosenBy::Base, None), choice(ChosenBy::Label, Some("counted-named")));
        profiles.decided(&named, Some(&base));
        profiles.decided(&named, Some(&named));
        assert_eq!(
            lines_with(&metrics, "counted-"),
            [
                r#"hob_hand_offs_total{from="counted-agent",to="counted-other"} 1"#,
                r#"hob_profile_load_errors_total{agent="counted-agent",reason="missing"} 1"#,
                r#"hob_profile_loads_total{agent="counted-agent",result="failed"} 1"#,
                r#"hob_profile_loads_total{agent="counted-agent",result="ok"} 1"#,
                r#"hob_profile_switches_total{from="base",to="counted-named"} 1"#,
            ]
        );
        assert_eq!(lines_with(&metrics, "hob_profile_load_seconds_count"), ["hob_profile_load_seconds_count 1"]);
        assert_eq!(lines_with(&metrics, "hob_hand_off_seconds_sum"), ["hob_hand_off_seconds_sum 0.07"]);
        assert_eq!(lines_with(&metrics, "hob_routing_overrides_total"), ["hob_routing_overrides_total 1"]);
        assert_eq!(lines_with(&metrics, "by=\"label\""), [r#"hob_routing_decisions_total{by="label"} 2"#]);
    }

    #[test]
    fn what_is_less_than_was_wanted_is_counted_by_its_reason() {
        let metrics = Metrics::new();
        metrics.profiles.read(0);
        metrics.profiles.read(2);
        metrics.profiles.chain_ended();
        metrics.profiles.degraded(Degraded::Review);
        for line in [
            r#"hob_profile_reads_total{result="ok"} 1"#,
            r#"hob_profile_reads_total{result="failed"} 1"#,
            r#"hob_profile_load_errors_total{agent="unknown",reason="place"} 2"#,
            r#"hob_degradations_total{reason="place"} 2"#,
            r#"hob_degradations_total{reason="hand_off"} 1"#,
            r#"hob_degradations_total{reason="review"} 1"#,
            "hob_chain_ends_total 1",
        ] {
            assert_eq!(lines_with(&metrics, line), [line]);
        }
    }
}
