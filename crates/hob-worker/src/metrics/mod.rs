//! Metrics for operators who watch many runs, over all workers of the process.
//!
//! Names follow Prometheus. A label is one of a few words, or the name of an agent, a model or a profile; of these only so many are
//! counted by themselves. No other text from outside is in a label.

mod bounded_names;
mod events;
mod named;
mod profiles;
mod text;

pub(crate) use events::record_event;
pub(crate) use profiles::{
    Degraded, LoadFault, chain_ended, decided, degraded, handed_over, load_failed, loaded, read,
};
pub use text::{MetricsFormat, metrics};
