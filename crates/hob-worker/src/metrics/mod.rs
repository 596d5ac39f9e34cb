//! Metrics for operators who watch many runs, over all workers of the process.
//!
//! Names follow Prometheus. A label is one of a few words, the repository, or the name of an agent, a model or a profile, for which
//! there is only so much [room]. No other text from outside is in a label.

mod all;
mod events;
mod forge;
mod named;
mod polls;
mod process;
mod profiles;
mod room;
mod runs;
mod steps;
mod text;

pub(crate) use all::METRICS;
pub(crate) use profiles::{Degraded, LoadFault};
pub use text::{MetricsFormat, metrics, metrics_for_file, sum_metrics};
