//! `hob bench`: what agents cost on this machine, with a model that plays a script.

mod command;
mod model_server;

pub(super) use command::{BenchCommand, bench};
