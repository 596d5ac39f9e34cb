//! Metrics of what the workers tell as events.

use hob_domain::State;
use prometheus_client::metrics::{counter::Counter, family::Family};

use crate::metrics::named::{Labels, Named, count};

#[derive(Default)]
pub(crate) struct Events {
    moves: Family<Labels, Counter>,
    refusals: Counter,
    failures: Counter,
}

impl Events {
    pub(super) fn register(&self, of: &mut Named<'_>) {
        of.count("issue_moves", "New states of issues", &self.moves);
        of.count("refusals", "Triggers that were refused", &self.refusals);
        of.count("failures", "Polls and attempts that failed", &self.failures);
    }

    pub(super) fn moved(&self, state: State) {
        count(&self.moves, &vec![("state", state.to_string())]);
    }

    pub(super) fn refused(&self) {
        self.refusals.inc();
    }

    pub(super) fn failed(&self) {
        self.failures.inc();
    }
}
