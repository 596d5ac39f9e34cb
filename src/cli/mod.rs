//! The command line: one file per command, and the only place that writes to the terminal.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the terminal is this module's business")]

mod actions;
mod agent_run;
mod agents;
mod alone;
mod approve;
mod args;
mod ask;
mod control;
mod counters;
mod doctor;
mod entry;
mod eval;
mod eval_review;
mod exit;
mod explain;
mod forge_serve;
mod global_flags;
mod history;
mod init;
mod investigate;
mod investigated;
mod investigator;
mod json;
mod layout;
mod list;
mod live;
mod log;
mod output;
mod progress;
mod rehearsal;
mod rehearse;
mod remote;
mod replay;
mod routing;
mod run;
mod screen;
mod sessions;
mod settings;
mod setup;
mod sign_in;
mod status;
mod summary;
mod unblock;
mod work;

pub use entry::main;
