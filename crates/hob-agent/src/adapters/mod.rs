//! Other agents' command lines, ready by name.
//!
//! - Flow: the program is found and its version looked at; it gets an empty home of its own, the brief, and arguments for
//!   a run that asks nobody; its events are read while it works; its end is classified.
//! - Guarantees: no setting, login or history of the user reaches the program, and nothing it leaves at home outlives the
//!   run; of Hob's environment it gets the allow-list and the variables that its file here names; no process of it lives
//!   on, in whatever session.
//! - Assumptions: programs keep their flags and events from one version to the next. What was run for real, and in which
//!   version, is in `docs/agents.md`.
//! - Caveats: an empty home also has no toolchains: name `CARGO_HOME` and the like in `env` where the checks need them.
//!
//! One file an agent: data, and a reader of its events. All else is common.

mod adapter;
mod aider;
mod backend;
mod catalog;
mod claude;
mod codex;
mod controls;
mod copilot;
mod end;
mod gemini;
mod goose;
mod installation;
mod limit;
mod mini_swe_agent;
mod opencode;
mod parsed_output;
mod pi;
mod version;

pub(super) use backend::{AdapterAgent, Made};
pub use catalog::{adapter_program, adapter_variables, find_adapter};
