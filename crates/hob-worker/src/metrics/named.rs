//! How a metric gets its name, and a series its labels.

use prometheus_client::{
    metrics::{counter::Counter, family::Family},
    registry::{Metric, Registry, Unit},
};

/// Labels of a series, by name. Each metric has its own, always in the same order.
pub(super) type Labels = Vec<(&'static str, String)>;

/// A registry in which each metric gets a name and a sentence about it.
pub(super) struct Named<'a>(pub(super) &'a mut Registry);

impl Named<'_> {
    /// A metric without a unit.
    pub(super) fn count(&mut self, name: &str, what: &str, metric: &(impl Metric + Clone)) {
        self.0.register(name, what, metric.clone());
    }

    /// A metric of seconds, which its name says.
    pub(super) fn time(&mut self, name: &str, what: &str, metric: &(impl Metric + Clone)) {
        self.0.register_with_unit(name, what, Unit::Seconds, metric.clone());
    }
}

/// Adds one to the series with these labels.
pub(super) fn count(of: &Family<Labels, Counter>, labels: &Labels) {
    of.get_or_create(labels).inc();
}
