//! Metrics of profiles, routing and hand-offs, and of what was done in less than the full way.

use std::{sync::LazyLock, time::Duration};

use hob_domain::{ChosenBy, RouteChoice};
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, histogram::Histogram},
};

use crate::metrics::{
    bounded_names::BoundedNames,
    named::{Named, count},
};

/// Upper ends of the buckets of hand-offs, in seconds: they are to take less than 100 ms.
const HAND_OVER_BUCKETS: [f64; 10] = [0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 10.0, 60.0];
/// Upper ends of the buckets of loads, in seconds: they are to take less than 1 s.
const LOAD_BUCKETS: [f64; 10] = [0.005, 0.02, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 10.0];
/// Agents and profiles that are counted by themselves.
const NAMES_MAX: usize = 200;
/// Pairs of them.
const PAIRS_MAX: usize = 200;
/// The agent of a load that failed before anybody knew whose it was.
const UNKNOWN: &str = "unknown";
/// Who works where nobody is named.
const BASE: &str = "base";

static PROFILES: LazyLock<Profiles> = LazyLock::new(Profiles::default);

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByResult {
    result: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByReason {
    reason: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByPerson {
    by: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Load {
    agent: String,
    result: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LoadError {
    agent: String,
    reason: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Pair {
    from: String,
    to: String,
}

struct Profiles {
    names: BoundedNames<1>,
    pairs: BoundedNames<2>,
    reads: Family<ByResult, Counter>,
    loads: Family<Load, Counter>,
    load_errors: Family<LoadError, Counter>,
    load_seconds: Histogram,
    decisions: Family<ByPerson, Counter>,
    overrides: Counter,
    switches: Family<Pair, Counter>,
    hand_offs: Family<Pair, Counter>,
    chain_ends: Counter,
    hand_off_seconds: Family<Pair, Histogram>,
    degradations: Family<ByReason, Counter>,
}

impl Default for Profiles {
    fn default() -> Self {
        Self {
            names: BoundedNames::new(NAMES_MAX),
            pairs: BoundedNames::new(PAIRS_MAX),
            reads: Family::default(),
            loads: Family::default(),
            load_errors: Family::default(),
            load_seconds: Histogram::new(LOAD_BUCKETS),
            decisions: Family::default(),
            overrides: Counter::default(),
            switches: Family::default(),
            hand_offs: Family::default(),
            chain_ends: Counter::default(),
            hand_off_seconds: Family::new_with_constructor(|| Histogram::new(HAND_OVER_BUCKETS)),
            degradations: Family::default(),
        }
    }
}

impl Profiles {
    fn register(&self, of: &mut Named<'_>) {
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

    fn pair(&self, from: &str, to: &str) -> Pair {
        let [from, to] = self.pairs.of([from, to]);
        Pair { from, to }
    }

    fn name(&self, name: &str) -> String {
        let [name] = self.names.of([name]);
        name
    }
}

/// Names the metrics of profiles and routing.
pub(super) fn register(of: &mut Named<'_>) {
    PROFILES.register(of);
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

/// All profiles were read.
pub(crate) fn read(unread_places: usize) {
    let result = if unread_places == 0 { "ok" } else { "failed" };
    count(&PROFILES.reads, &ByResult { result });
    for _ in 0..unread_places {
        load_failed(None, LoadFault::Place);
        degraded(Degraded::Place);
    }
}

/// An agent or a profile was loaded.
pub(crate) fn loaded(agent: &str, took: Duration) {
    count(&PROFILES.loads, &Load { agent: PROFILES.name(agent), result: "ok" });
    PROFILES.load_seconds.observe(took.as_secs_f64());
}

/// An agent or a profile could not be loaded; `None` if its name is not known.
pub(crate) fn load_failed(agent: Option<&str>, fault: LoadFault) {
    let agent = PROFILES.name(agent.unwrap_or(UNKNOWN));
    count(&PROFILES.load_errors, &LoadError { agent: agent.clone(), reason: fault.reason() });
    count(&PROFILES.loads, &Load { agent, result: "failed" });
}

/// Somebody was chosen to work.
pub(crate) fn decided(choice: &RouteChoice, before: Option<&RouteChoice>) {
    let by = match choice.by {
        ChosenBy::Command => "command",
        ChosenBy::Label => "label",
        ChosenBy::Repository => "repository",
        ChosenBy::Router => "router",
        ChosenBy::Base => "base",
    };
    count(&PROFILES.decisions, &ByPerson { by });
    let is_new = before.is_none_or(|before| before.profile != choice.profile);
    if is_new && choice.by.is_person() && choice.overridden.is_some() {
        PROFILES.overrides.inc();
    }
    if let Some(before) = before.filter(|_| is_new) {
        let name = |choice: &RouteChoice| choice.profile.as_ref().map_or_else(|| BASE.to_owned(), ToString::to_string);
        count(&PROFILES.switches, &PROFILES.pair(&name(before), &name(choice)));
    }
}

/// A hand-off was taken.
pub(crate) fn handed_over(from: &str, to: &str, took: Duration) {
    let pair = PROFILES.pair(from, to);
    count(&PROFILES.hand_offs, &pair);
    PROFILES.hand_off_seconds.get_or_create(&pair).observe(took.as_secs_f64());
}

/// A chain ended before its agent wanted it to.
pub(crate) fn chain_ended() {
    PROFILES.chain_ends.inc();
    degraded(Degraded::HandOff);
}

/// Less is done than was wanted.
pub(crate) fn degraded(why: Degraded) {
    count(&PROFILES.degradations, &ByReason { reason: why.reason() });
}

#[cfg(test)]
mod tests {
    use prometheus_client::{encoding::text::encode, registry::Registry};

    use super::*;
    use crate::metrics::{MetricsFormat, metrics};

    const METRICS: &str = r#"# TYPE hob_profile_reads counter
hob_profile_reads_total{result="ok"} 1
# TYPE hob_profile_loads counter
hob_profile_loads_total{agent="dns",result="failed"} 1
# TYPE hob_profile_load_errors counter
hob_profile_load_errors_total{agent="dns",reason="damaged"} 1
# TYPE hob_profile_load_seconds histogram
# UNIT hob_profile_load_seconds seconds
hob_profile_load_seconds_sum 0.8
hob_profile_load_seconds_count 1
hob_profile_load_seconds_bucket{le="0.005"} 0
hob_profile_load_seconds_bucket{le="0.02"} 0
hob_profile_load_seconds_bucket{le="0.1"} 0
hob_profile_load_seconds_bucket{le="0.25"} 0
hob_profile_load_seconds_bucket{le="0.5"} 0
hob_profile_load_seconds_bucket{le="0.75"} 0
hob_profile_load_seconds_bucket{le="1.0"} 1
hob_profile_load_seconds_bucket{le="1.5"} 1
hob_profile_load_seconds_bucket{le="2.0"} 1
hob_profile_load_seconds_bucket{le="10.0"} 1
hob_profile_load_seconds_bucket{le="+Inf"} 1
# TYPE hob_profile_switches counter
hob_profile_switches_total{from="dns",to="cloud"} 1
# TYPE hob_hand_offs counter
hob_hand_offs_total{from="dns",to="cloud"} 1
# TYPE hob_chain_ends counter
hob_chain_ends_total 0
# TYPE hob_hand_off_seconds histogram
# UNIT hob_hand_off_seconds seconds
hob_hand_off_seconds_sum{from="dns",to="cloud"} 0.07
hob_hand_off_seconds_count{from="dns",to="cloud"} 1
hob_hand_off_seconds_bucket{le="0.01",from="dns",to="cloud"} 0
hob_hand_off_seconds_bucket{le="0.025",from="dns",to="cloud"} 0
hob_hand_off_seconds_bucket{le="0.05",from="dns",to="cloud"} 0
hob_hand_off_seconds_bucket{le="0.1",from="dns",to="cloud"} 1
hob_hand_off_seconds_bucket{le="0.2",from="dns",to="cloud"} 1
hob_hand_off_seconds_bucket{le="0.5",from="dns",to="cloud"} 1
hob_hand_off_seconds_bucket{le="1.0",from="dns",to="cloud"} 1
hob_hand_off_seconds_bucket{le="2.0",from="dns",to="cloud"} 1
hob_hand_off_seconds_bucket{le="10.0",from="dns",to="cloud"} 1
hob_hand_off_seconds_bucket{le="60.0",from="dns",to="cloud"} 1
hob_hand_off_seconds_bucket{le="+Inf",from="dns",to="cloud"} 1"#;

    /// Requirement M9: loads by agent, result and reason with their time, switches and hand-offs from one to another.
    #[test]
    fn loads_and_hand_offs_are_counted_by_names_and_timed() {
        let counters = Profiles::default();
        let agent = || counters.name("dns");
        counters.reads.get_or_create(&ByResult { result: "ok" }).inc();
        counters.loads.get_or_create(&Load { agent: agent(), result: "failed" }).inc();
        counters.load_errors.get_or_create(&LoadError { agent: agent(), reason: LoadFault::Damaged.reason() }).inc();
        counters.load_seconds.observe(0.8);
        let pair = counters.pair("dns", "cloud");
        counters.switches.get_or_create(&pair).inc();
        counters.hand_offs.get_or_create(&pair).inc();
        counters.hand_off_seconds.get_or_create(&pair).observe(0.07);
        let (mut registry, mut text) = (Registry::with_prefix("hob"), String::new());
        counters.register(&mut Named(&mut registry));
        encode(&mut text, &registry).unwrap();
        let of_profiles = ["hob_profile_", "hob_hand_off", "hob_chain_"];
        let lines = text.lines().filter(|line| of_profiles.iter().any(|name| line.contains(name)));
        let lines: Vec<&str> = lines.filter(|line| !line.starts_with("# HELP")).collect();
        assert_eq!(lines.join("\n"), METRICS);
    }

    /// The lines of the process's counters that name `label`, sorted.
    fn lines_with(label: &str) -> Vec<String> {
        let text = metrics(MetricsFormat::OpenMetrics);
        let lines = text.lines().filter(|line| line.contains(label) && !line.contains("_bucket{"));
        let mut lines: Vec<_> = lines.map(str::to_owned).collect();
        lines.sort();
        lines
    }

    #[test]
    fn what_happens_is_counted_by_name_and_reason() {
        loaded("counted-agent", Duration::from_millis(20));
        load_failed(Some("counted-agent"), LoadFault::Missing);
        handed_over("counted-agent", "counted-other", Duration::from_millis(20));
        let choice = |by, profile: Option<&str>| RouteChoice {
            profile: profile.map(|name| name.parse().unwrap()),
            overridden: Some("counted-router".parse().unwrap()),
            ..RouteChoice::of_agent(by)
        };
        let (base, named) = (choice(ChosenBy::Base, None), choice(ChosenBy::Label, Some("counted-named")));
        decided(&named, Some(&base));
        decided(&named, Some(&named));
        assert_eq!(
            lines_with("counted-"),
            [
                r#"hob_hand_off_seconds_count{from="counted-agent",to="counted-other"} 1"#,
                r#"hob_hand_off_seconds_sum{from="counted-agent",to="counted-other"} 0.02"#,
                r#"hob_hand_offs_total{from="counted-agent",to="counted-other"} 1"#,
                r#"hob_profile_load_errors_total{agent="counted-agent",reason="missing"} 1"#,
                r#"hob_profile_loads_total{agent="counted-agent",result="failed"} 1"#,
                r#"hob_profile_loads_total{agent="counted-agent",result="ok"} 1"#,
                r#"hob_profile_switches_total{from="base",to="counted-named"} 1"#,
            ]
        );
        assert_eq!(lines_with("hob_profile_load_seconds_count"), ["hob_profile_load_seconds_count 1"]);
        assert_eq!(lines_with("hob_routing_overrides_total"), ["hob_routing_overrides_total 1"]);
        assert_eq!(lines_with("by=\"label\""), [r#"hob_routing_decisions_total{by="label"} 2"#]);
    }

    #[test]
    fn what_is_less_than_was_wanted_is_counted_by_its_reason() {
        read(0);
        read(2);
        chain_ended();
        degraded(Degraded::Review);
        let total = |name: &str| {
            let line = lines_with(name).into_iter().find(|line| line.starts_with(name)).unwrap_or_default();
            line.rsplit(' ').next().and_then(|count| count.parse::<u64>().ok())
        };
        for (name, count) in [
            (r#"hob_profile_reads_total{result="ok"}"#, 1),
            (r#"hob_profile_reads_total{result="failed"}"#, 1),
            (r#"hob_profile_load_errors_total{agent="unknown",reason="place"}"#, 2),
            (r#"hob_degradations_total{reason="place"}"#, 2),
            (r#"hob_degradations_total{reason="hand_off"}"#, 1),
            (r#"hob_degradations_total{reason="review"}"#, 1),
            ("hob_chain_ends_total", 1),
        ] {
            assert_eq!(total(name), Some(count), "{name}");
        }
    }
}
