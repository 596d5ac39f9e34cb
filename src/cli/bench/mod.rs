//! `hob bench`: what agents cost on this machine, with a model that plays a script.

mod agent;
mod bare_loop;
mod command;
mod measure;
mod model_server;
mod run_agent;
mod subject;
mod tree;

pub(super) use command::{BenchCommand, bench};
