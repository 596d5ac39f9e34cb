//! Metrics of what the workers tell as events.

use std::sync::LazyLock;

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family},
};

use crate::{
    WorkEvent,
    metrics::named::{Named, count},
};

static EVENTS: LazyLock<Events> = LazyLock::new(Events::default);

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByState {
    state: String,
}

#[derive(Default)]
struct Events {
    moves: Family<ByState, Counter>,
    refusals: Counter,
    failures: Counter,
}

/// Names the metrics of events.
pub(super) fn register(of: &mut Named<'_>) {
    of.count("issue_moves", "New states of issues", &EVENTS.moves);
    of.count("refusals", "Triggers that were refused", &EVENTS.refusals);
    of.count("failures", "Polls and attempts that failed", &EVENTS.failures);
}

/// Something happened.
pub(crate) fn record_event(event: &WorkEvent) {
    match event {
        WorkEvent::Moved { state, .. } => count(&EVENTS.moves, &ByState { state: state.to_string() }),
        WorkEvent::Refused { .. } => {
            EVENTS.refusals.inc();
        }
        WorkEvent::Failed { .. } => {
            EVENTS.failures.inc();
        }
        WorkEvent::Polled { .. }
        | WorkEvent::CreatesLabels { .. }
        | WorkEvent::Progress { .. }
        | WorkEvent::Activity { .. }
        | WorkEvent::AgentStarted { .. }
        | WorkEvent::Checked { .. }
        | WorkEvent::Published { .. } => {}
    }
}

#[cfg(test)]
mod tests {
    use hob_domain::{IssueNumber, State};

    use super::*;
    use crate::metrics::{MetricsFormat, metrics};

    #[test]
    fn moves_refusals_and_failures_are_counted() {
        record_event(&WorkEvent::Failed { issue: None, reason: String::new() });
        record_event(&WorkEvent::Refused { issue: IssueNumber(1), reason: String::new() });
        record_event(&WorkEvent::Moved { issue: IssueNumber(1), state: State::InReview, why: String::new() });
        let text = metrics(MetricsFormat::Prometheus);
        for line in ["hob_failures_total 1", "hob_refusals_total 1", r#"hob_issue_moves_total{state="in-review"} 1"#] {
            assert!(text.lines().any(|written| written == line), "{line}\n{text}");
        }
    }
}
