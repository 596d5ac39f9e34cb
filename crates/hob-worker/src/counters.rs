//! What is counted for whoever watches many runs, over all workers of the process.
//!
//! Names follow Prometheus. No label holds a text from outside, so that their number is small.

use std::{fmt::Write, sync::LazyLock, time::Duration};

use hob_domain::{ChosenBy, RouteChoice};
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, histogram::Histogram},
    registry::{Registry, Unit},
};

use crate::WorkEvent;

/// Upper ends of the buckets of times, in seconds.
const BUCKETS: [f64; 8] = [0.001, 0.005, 0.02, 0.1, 0.5, 2.0, 10.0, 60.0];

static COUNTERS: LazyLock<Counters> = LazyLock::new(Counters::new);

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
struct ByState {
    state: String,
}

struct Counters {
    registry: Registry,
    loads: Family<ByResult, Counter>,
    load_seconds: Histogram,
    decisions: Family<ByPerson, Counter>,
    overrides: Counter,
    switches: Counter,
    hand_overs: Family<ByResult, Counter>,
    hand_over_seconds: Histogram,
    degradations: Family<ByReason, Counter>,
    moves: Family<ByState, Counter>,
    refusals: Counter,
    failures: Counter,
}

impl Counters {
    fn new() -> Self {
        let mut counters = Self {
            registry: Registry::with_prefix("hob"),
            loads: Family::default(),
            load_seconds: Histogram::new(BUCKETS),
            decisions: Family::default(),
            overrides: Counter::default(),
            switches: Counter::default(),
            hand_overs: Family::default(),
            hand_over_seconds: Histogram::new(BUCKETS),
            degradations: Family::default(),
            moves: Family::default(),
            refusals: Counter::default(),
            failures: Counter::default(),
        };
        let of = &mut counters.registry;
        of.register(
            "profile_loads",
            "Times that all profiles were read for an attempt, by whether each place could be read",
            counters.loads.clone(),
        );
        let what = "How long reading all profiles took";
        of.register_with_unit("profile_load", what, Unit::Seconds, counters.load_seconds.clone());
        of.register("routing_decisions", "Choices of who works, by who decided", counters.decisions.clone());
        let what = "Choices of people in the place of the router's";
        of.register("routing_overrides", what, counters.overrides.clone());
        of.register(
            "profile_switches",
            "Times that another one took over from whoever worked before",
            counters.switches.clone(),
        );
        let what = "Hand-overs that an agent asked for, by what came of them";
        of.register("hand_overs", what, counters.hand_overs.clone());
        let what = "How long a hand-over took, from the end of one run to the start of the next";
        of.register_with_unit("hand_over", what, Unit::Seconds, counters.hand_over_seconds.clone());
        let what = "Times that less was done than was wanted, by the reason";
        of.register("degradations", what, counters.degradations.clone());
        of.register("issue_moves", "New states of issues", counters.moves.clone());
        of.register("refusals", "Triggers that were refused", counters.refusals.clone());
        of.register("failures", "Polls and attempts that failed", counters.failures.clone());
        counters
    }
}

/// All counters of this process, in OpenMetrics' text format.
pub fn counters() -> String {
    let mut text = String::new();
    if let Err(error) = encode(&mut text, &COUNTERS.registry) {
        // Writing to a string cannot fail; whoever reads it is told anyway.
        writeln!(text, "# {error}").ok();
    }
    text
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
    /// A hand-over was not taken.
    HandOver,
    /// The second pair of eyes saw nothing.
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
            Self::HandOver => "hand_over",
            Self::Review => "review",
        }
    }
}

/// All profiles were read.
pub(crate) fn loaded(took: Duration, unread_places: usize) {
    let result = if unread_places == 0 { "ok" } else { "failed" };
    COUNTERS.loads.get_or_create(&ByResult { result }).inc();
    COUNTERS.load_seconds.observe(took.as_secs_f64());
    (0..unread_places).for_each(|_| degraded(Degraded::Place));
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
    COUNTERS.decisions.get_or_create(&ByPerson { by }).inc();
    let is_new = before.is_none_or(|before| before.profile != choice.profile);
    if is_new && choice.by.is_person() && choice.overridden.is_some() {
        COUNTERS.overrides.inc();
    }
    if is_new && before.is_some() {
        COUNTERS.switches.inc();
    }
}

/// A hand-over was taken.
pub(crate) fn handed_over(took: Duration) {
    COUNTERS.hand_overs.get_or_create(&ByResult { result: "taken" }).inc();
    COUNTERS.hand_over_seconds.observe(took.as_secs_f64());
}

/// A chain ended before its agent wanted it to.
pub(crate) fn chain_ended() {
    COUNTERS.hand_overs.get_or_create(&ByResult { result: "ended" }).inc();
    degraded(Degraded::HandOver);
}

/// Less is done than was wanted.
pub(crate) fn degraded(why: Degraded) {
    COUNTERS.degradations.get_or_create(&ByReason { reason: why.reason() }).inc();
}

/// Something happened.
pub(crate) fn happened(event: &WorkEvent) {
    let counter = match event {
        WorkEvent::Moved { state, .. } => {
            COUNTERS.moves.get_or_create(&ByState { state: state.to_string() }).inc();
            return;
        }
        WorkEvent::Refused { .. } => &COUNTERS.refusals,
        WorkEvent::Failed { .. } => &COUNTERS.failures,
        WorkEvent::Polled { .. }
        | WorkEvent::CreatesLabels { .. }
        | WorkEvent::Progress { .. }
        | WorkEvent::Activity { .. }
        | WorkEvent::Checked { .. }
        | WorkEvent::Published { .. } => return,
    };
    counter.inc();
}
