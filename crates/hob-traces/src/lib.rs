//! Traces: spans of the work, as OpenTelemetry's protocol has them, to an endpoint over HTTP or into a file.
//!
//! The spans are made where the work is done, with `tracing` alone; they have the target [`TRACED`](hob_domain::TRACED). This crate takes these and
//! nothing else, so no text of a log event is in a trace. Which spans there are, and what they say, is in
//! `docs/design/logging.md`.
//!
//! # Guarantees
//! - Nothing waits for an endpoint or a disk: spans go through a bounded queue to a thread of their own. What does not fit is
//!   lost. [`Traces::end`] is the one wait, with the caller's limit.
//! - No secret that the process knows, and none of a known form, is in what is sent or written.
//! - An endpoint that fails is a warning, once until it works again.
//!
//! # Caveats
//! OpenTelemetry's libraries read its standard variables by themselves: endpoint, headers, time limits, resource, sampler.

mod client;
mod gate;
mod lines;
mod tracer;
mod traces;

pub use traces::{TraceLayer, Traces, TracesError, TracesTo};
