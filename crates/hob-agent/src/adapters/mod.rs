//! Other agents' command lines, ready by name.
//!
//! - Flow: the program is found and its version checked; it gets its own empty home, the brief, and arguments for a
//!   non-interactive run; its events are parsed while it works; its end is classified.
//! - Guarantees: no setting, login or history of the user reaches the program, and nothing that it leaves at home
//!   outlives the run; of Hob's environment it gets the allow-list and the variables that its file here names; none of
//!   its processes survives, in any session.
//! - Assumptions: programs keep their flags and events from one version to the next. The versions that were really run
//!   are in `docs/design/agents.md`.
//! - Caveats: an empty home also has no toolchains: name `CARGO_HOME` and the like in `env` if the checks need them.
//!
//! One file an agent in `catalog`. Everything else is shared.

mod adapter;
mod backend;
mod catalog;
mod controls;
mod end;
mod installation;
mod limit;
mod parsed_output;
mod version;

pub(super) use backend::{AdapterAgent, Made, closing, installed_with};
pub use catalog::{adapter_program, adapter_variables, find_adapter};
pub(super) use end::{ended_badly, ended_well};
