//! Metrics of the forge's answers: requests by kind and code, and the rest of quotas.

use std::{
    fmt,
    sync::{Arc, Weak},
};

use hob_forge::{Connection, RequestCount};
use parking_lot::Mutex;
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, NoLabelSet},
    metrics::MetricType,
};

/// The quotas that are shown; a forge may name others.
const RESOURCES: [&str; 4] = ["core", "graphql", "search", "code_search"];

/// The connection of this process, as long as there is one.
#[derive(Debug, Default)]
pub(crate) struct ForgeMetrics(Mutex<Weak<Connection>>);

impl ForgeMetrics {
    /// Shows what this connection counts.
    pub(crate) fn watch(&self, connection: &Arc<Connection>) {
        *self.0.lock() = Arc::downgrade(connection);
    }
}

impl Collector for ForgeMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let connection = self.0.lock().upgrade();
        let (counts, rates) = connection.map(|known| (known.request_counts(), known.rates())).unwrap_or_default();
        let what = "Requests to the forge, by kind and by the status of the answer";
        let mut requests = encoder.encode_descriptor("forge_requests", what, None, MetricType::Counter)?;
        for RequestCount { kind, code, requests: number } in &counts {
            let labels = [("kind", *kind), ("code", *code)];
            requests.encode_family(&labels)?.encode_counter::<NoLabelSet, _, u64>(number, None)?;
        }
        let what = "Calls that the forge still allows in the current window, by resource";
        let mut quotas = encoder.encode_descriptor("forge_quota_remaining", what, None, MetricType::Gauge)?;
        for rate in rates.iter().filter(|rate| RESOURCES.contains(&rate.resource.as_str())) {
            let labels = [("resource", rate.resource.as_str())];
            quotas.encode_family(&labels)?.encode_gauge(&rate.remaining)?;
        }
        Ok(())
    }
}
