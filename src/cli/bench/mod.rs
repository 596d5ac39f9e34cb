//! `hob bench`: what agents cost on this machine, measured with a scripted model.

mod agent;
mod bare_loop;
mod command;
mod measure;
mod model_server;
mod run_agent;
mod subject;
mod tree;

pub(super) use command::{BenchCommand, bench};
